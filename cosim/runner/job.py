"""The messages between the runner and the testbench in the simulator: the job, its results, and a heartbeat, which shows a
simulation that hangs."""

import json
import mmap
import os
import struct
import time
from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from cosim.bench.mismatch import Minimised
from cosim.bench.scoreboard import Outcome
from cosim.build.power_up import PowerUp
from cosim.runner.request import Request

if TYPE_CHECKING:
    from cosim.rtl_coverage.file_coverage import FileCoverage

_LAYOUT = struct.Struct("<4Q")

STANDSTILL = 60.0
"""Time without a heartbeat after which a simulation counts as hanging (s). The slowest designs take tenths of a second for
a vector."""

STARTING = 180.0
"""Time without the first heartbeat after which a simulation counts as hanging (s): Python must start first, also on a busy
machine."""


@dataclass(frozen=True)
class Beat:
    """The progress of a simulation.

    Attributes:
        beats: 0 before the testbench has started, 1 then, and one more with every vector and every result.
        sent, received, mismatches: counts of the scoreboard.
    """

    beats: int = 0
    sent: int = 0
    received: int = 0
    mismatches: int = 0


class Heartbeat:
    """The writer of the heartbeat file, in the simulation."""

    def __init__(self, path: Path) -> None:
        with path.open("r+b") as stream:
            self._shared = mmap.mmap(stream.fileno(), _LAYOUT.size)
        self._beats = 0

    def beat(self, sent: int, received: int, mismatches: int) -> None:
        """Write one more heartbeat."""
        self._beats += 1
        _LAYOUT.pack_into(self._shared, 0, self._beats, sent, received, mismatches)


class Watch:
    """The reader of the heartbeat file, outside the simulation. A call returns whether the time-out has passed.

    Attributes:
        gave_up: the result of the last call.
    """

    def __init__(self, path: Path) -> None:
        path.write_bytes(_LAYOUT.pack(*astuple(Beat())))
        self._path = path
        self._last, self._since = 0, time.monotonic()
        self.gave_up = False

    def read(self) -> Beat:
        """The progress of the simulation."""
        return Beat(*_LAYOUT.unpack(self._path.read_bytes()))

    @property
    def limit(self) -> float:
        """The time-out that applies now (s)."""
        return STANDSTILL if self.read().beats else STARTING

    def __call__(self) -> bool:
        beats, now = self.read().beats, time.monotonic()
        if beats != self._last:
            self._last, self._since = beats, now
        self.gave_up = now - self._since > self.limit
        return self.gave_up


JOB_VARIABLE = "MMAU_COSIM_JOB"
"""Environment variable that names the job file."""

ENDED = "the design ended the simulation"
"""The reason for a stop where the simulation ended before all vectors were sent and answered."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """The work of the testbench in one simulation.

    Attributes:
        design: the generated design, or the reference of a user design, as `Design.as_table` writes it.
        request: the request of the run, without `progress`. part: the vectors of this simulation.
        given: vectors in place of the stimulus of the seed: `rows`, each as a program of a volume run wrote it, and
            `classes`, the names of their classes by number; None for the stimulus of the seed.
        folder: folder of the job, the heartbeat and the results. No design knows its name: a simulated design can write
            files too.
        parent: number of the process that runs the simulator; the simulation ends with it.
    """

    design: dict[str, Any]
    request: Request
    part: PowerUp
    given: dict[str, Any] | None
    folder: Path
    parent: int = field(default_factory=os.getpid)

    @property
    def heartbeat(self) -> Path:
        """The file of the heartbeat."""
        return self.folder / "heartbeat"

    @property
    def simulated(self) -> Path:
        """The file into which the testbench writes the results of the simulation."""
        return self.folder / "simulated.json"

    def write(self) -> Path:
        """Write the job file, and return its path."""
        path = self.folder / "job.json"
        path.write_text(json.dumps(asdict(self), default=str), encoding="utf-8")
        return path

    @classmethod
    def from_environment(cls) -> "Job":
        """The job that the runner wrote for this simulation."""
        found: Job = read(cls, json.loads(Path(os.environ[JOB_VARIABLE]).read_text(encoding="utf-8")))
        return found


@dataclass(frozen=True, kw_only=True)
class Simulated:
    """The results of the simulations of a design.

    Attributes:
        outcome: the scoreboard's outcome. seconds: duration, without build and golden model (s).
        minimised: the first mismatch, minimised in its simulation; None without mismatches.
        rtl_coverage: coverage of each source file; None where it was not requested, or the simulation broke off before.
        sources: the SHA-256 of each file of a user design, by path, as it was simulated.
    """

    outcome: Outcome
    seconds: float
    minimised: Minimised | None = None
    rtl_coverage: "tuple[FileCoverage, ...] | None" = None
    sources: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> str:
        """The results as text, for `from_json`."""
        counts = [each.as_dict() for each in self.outcome.coverage]
        outcome = asdict(replace(self.outcome, coverage=())) | {"coverage": counts}
        minimised = None if self.minimised is None else self.minimised.as_dict()
        return json.dumps({"outcome": outcome, "seconds": self.seconds, "minimised": minimised})

    @classmethod
    def from_json(cls, text: str) -> "Simulated":
        """Read results that `to_json` wrote."""
        table = json.loads(text)
        outcome, minimised = read(Outcome, table["outcome"]), read(Minimised | None, table["minimised"])
        return cls(outcome=outcome, seconds=table["seconds"], minimised=minimised)


def read(kind: Any, value: Any) -> Any:
    """A value of a type, from the JSON of its `asdict`, or its `as_dict` where the type has a `from_dict`.

    Its checks are not made again: this process may stand in another folder than the one that relative paths start at.
    """
    if hasattr(kind, "from_dict"):
        return kind.from_dict(value)
    type_of: Any = kind
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        made: Any = object.__new__(type_of)
        for each in fields(kind):
            object.__setattr__(made, each.name, read(hints[each.name], value[each.name]))
        return made
    of = get_args(kind)
    if get_origin(kind) is tuple:
        return tuple(read(of[0], each) for each in value)
    if get_origin(kind) in (dict, Mapping):
        return {key: read(of[1], each) for key, each in value.items()}
    if value is not None and len(of) == 2 and of[1] is type(None):
        return read(of[0], value)
    return Path(value) if kind is Path else value
