"""The heartbeat that a simulation writes to a file: it distinguishes a simulation that hangs from a slow one."""

import mmap
import struct
import time
from dataclasses import astuple, dataclass
from pathlib import Path

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
