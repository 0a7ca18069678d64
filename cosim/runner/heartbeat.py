"""Signs of life that a simulation leaves in a file: one that stands still is told from one that is slow."""

import mmap
import struct
import time
from dataclasses import astuple, dataclass
from pathlib import Path

_LAYOUT = struct.Struct("<4Q")

STANDSTILL = 60.0
"""Seconds without a sign of life after which a simulation counts as standing still. The slowest ones take tenths of a second
for a vector."""

STARTING = 180.0
"""As many until the first sign of life: Python has to start, on a busy machine too."""


@dataclass(frozen=True)
class Beat:
    """How far a simulation has come.

    Attributes:
        beats: goes up with every transfer; 1 when the testbench has started, 0 before.
        sent, received, mismatches: as the scoreboard counts them.
    """

    beats: int = 0
    sent: int = 0
    received: int = 0
    mismatches: int = 0


class Heartbeat:
    """The file, in the simulation."""

    def __init__(self, path: Path) -> None:
        with path.open("r+b") as stream:
            self._shared = mmap.mmap(stream.fileno(), _LAYOUT.size)
        self._beats = 0

    def beat(self, sent: int, received: int, mismatches: int) -> None:
        """One more sign of life."""
        self._beats += 1
        _LAYOUT.pack_into(self._shared, 0, self._beats, sent, received, mismatches)


class Watch:
    """The file, outside the simulation. Called now and then, it says whether nothing has moved for too long.

    Attributes:
        gave_up: whether it has said so.
    """

    def __init__(self, path: Path) -> None:
        path.write_bytes(_LAYOUT.pack(*astuple(Beat())))
        self._path = path
        self._last, self._since = 0, time.monotonic()
        self.gave_up = False

    def read(self) -> Beat:
        """How far it has come."""
        return Beat(*_LAYOUT.unpack(self._path.read_bytes()))

    @property
    def limit(self) -> float:
        """Seconds for which nothing may move now."""
        return STANDSTILL if self.read().beats else STARTING

    def __call__(self) -> bool:
        beats, now = self.read().beats, time.monotonic()
        if beats != self._last:
            self._last, self._since = beats, now
        self.gave_up = now - self._since > self.limit
        return self.gave_up
