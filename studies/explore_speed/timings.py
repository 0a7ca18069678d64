"""Times a space or a sample of it."""

import resource
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from mmau.explore.design_space import Space
from mmau.explore.explore import explore
from mmau.jobs import Processes
from studies.explore_speed.timed_spaces import CORES, FIRST, MINUTES, POINTS, SECOND, timed_space


@dataclass(frozen=True)
class Timed:
    """The times of some points.

    Attributes:
        points: how many. wall, processor: seconds of wall time, and of all processes together.
    """

    points: int
    wall: float
    processor: float

    @property
    def line(self) -> str:
        """In words."""
        each = f"{self.wall / self.points:.1f} s and {self.processor / self.points:.1f} processor seconds a point"
        return f"{self.points} points: {self.wall:.0f} s, {each}"


@dataclass(frozen=True)
class Result:
    """The time that 200 points take, measured or from samples.

    Attributes:
        length: the most products of a point. minutes: of wall time. how: where the figure is from, in words.
        parts: what was timed.
    """

    length: int
    minutes: float
    how: str
    parts: tuple[Timed, ...]

    @property
    def missed(self) -> bool:
        """Whether the bar is missed."""
        return self.minutes > MINUTES[self.length]

    @property
    def lines(self) -> list[str]:
        """In words."""
        bar = f"the bar, {MINUTES[self.length]:.0f} min on {CORES} cores, is {'missed' if self.missed else 'kept'}"
        total = f"{POINTS} points: {self.minutes:.1f} min ({self.how}); {bar}"
        return [f"L up to {self.length}", *(f"  {part.line}" for part in self.parts), f"  {total}"]


def whole(length: int, workers: int) -> Result:
    """All 200 points, timed."""
    with tempfile.TemporaryDirectory(prefix="mmau-explore-") as folder:
        timed = time_of(timed_space(length), Path(folder) / "out", workers)
    return Result(length, timed.wall / 60, "measured", (timed,))


def sampled(length: int, workers: int) -> Result:
    """Two samples. The second goes on where the first has ended: it costs what points cost, without what they share."""
    with tempfile.TemporaryDirectory(prefix="mmau-explore-") as folder:
        out = Path(folder) / "out"
        first = time_of(timed_space(length, FIRST), out, workers)
        second = time_of(timed_space(length, SECOND), out, workers)
    seconds = first.wall + (POINTS - first.points) * second.wall / second.points
    return Result(length, seconds / 60, f"from these, {POINTS - first.points} points at the second rate", (first, second))


def time_of(space: Space, folder: Path, workers: int) -> Timed:
    """Time the points of a space that the folder does not contain.

    Raises:
        ValueError: one of them is not done, or its circuit differs.
    """
    began, processor = time.monotonic(), _processor_seconds()
    found = explore(space, folder, Processes(workers), workers)
    bad = [*(record["name"] for record in found.not_done), *found.differing]
    if bad or found.count("done") != space.size:
        raise ValueError(f"every point must be done and agree, and {len(bad)} of {space.size} are not: {bad[:3]}")
    return Timed(space.size, time.monotonic() - began, _processor_seconds() - processor)


def _processor_seconds() -> float:
    """Of this process and all that it has started and waited for."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)
