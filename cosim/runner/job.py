"""What the runner and the testbench in the simulator exchange: the job, and a heartbeat, which shows what hangs."""

import json
import mmap
import os
import struct
import time
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any

_LAYOUT = struct.Struct("<4Q")

STANDSTILL = 60.0
"""Time without a heartbeat after which a simulation counts as hanging (s). The slowest designs take tenths of a second for
a vector."""

STARTING = 180.0
"""The same time-out until the first heartbeat (s): Python must start first, also on a busy machine."""


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
    """The parameters of one simulation.

    Attributes:
        design: the generated design, or the reference of a user design, as `Design.as_table` writes it.
        vectors, seed: number of vectors and seed of the stimulus. first: number of the first vector in the run.
        selection: the vectors that are sent, as `Selection.as_table` writes it; None for all.
        fail_fast: whether the first mismatch ends the simulation.
        simulator: name of the simulator, for the report.
        timing: timing of the Verilog, as `Timing.as_table` writes it.
        compare: the permitted differences, the fields of `Compare`.
        results: dot products in a vector. widths: of c and d, as `OperandWidths.as_table` writes them.
        parent: number of the process that runs the simulator; the simulation ends with it.
        given: vectors in place of the stimulus of the seed: `rows`, each as a program of a volume run wrote it, and
            `classes`, the names of their classes by number; None for the stimulus of the seed.
        report_file, heartbeat_file: files of the testbench's report and heartbeat.
    """

    design: dict[str, Any]
    vectors: int
    seed: int
    first: int
    selection: dict[str, Any] | None
    fail_fast: bool
    simulator: str
    timing: dict[str, Any]
    compare: dict[str, Any]
    results: int
    widths: dict[str, Any]
    parent: int
    report_file: str
    heartbeat_file: str
    given: dict[str, Any] | None = None

    @classmethod
    def from_environment(cls) -> "Job":
        """The job that the runner wrote for this simulation."""
        return cls(**json.loads(Path(os.environ[JOB_VARIABLE]).read_text(encoding="utf-8")))


def write_job(job: Job) -> Path:
    """Write the job file beside that of the heartbeat, and return its path."""
    job_file = Path(job.heartbeat_file).with_name("job.json")
    job_file.write_text(json.dumps(asdict(job)), encoding="utf-8")
    return job_file
