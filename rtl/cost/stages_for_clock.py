"""The number of pipeline stages that a unit needs for a clock, found by building and timing it."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from golden.unit import MAX_STAGES


@dataclass(frozen=True)
class StagesSearch:
    """The result of a search.

    Attributes:
        fewest: the fewest stages that meet the clock; None where none of those that can be built does.
        delays: the shortest clock period (ns) of every number of stages that was tried.
    """

    fewest: int | None
    delays: Mapping[int, float]


def search_stages(
    clock_ns: float,
    delay_of: Callable[[int], float],
    known: Mapping[int, float],
    first: int | None = None,
    most: int = MAX_STAGES,
) -> StagesSearch:
    """Look for the fewest stages that meet a clock.

    The search goes on from the first try, down while the clock is met and up until it is. So the number found meets the
    clock, and one stage less does not. Where none up to the largest number does, it goes down from the first try while that
    makes the period shorter: a register more delays its stage by itself, which can be more than it takes away.

    Args:
        clock_ns: wanted clock period (ns).
        delay_of: measures the shortest clock period of a number of stages.
        known: those that are known already; one at least, where `first` is None.
        first: what is tried first; by default the whole depth, as the known ones have it, divided by the clock's period.
        most: the largest number of stages.
    """
    delays = dict(known)

    def measured(stages: int) -> float:
        if stages not in delays:
            delays[stages] = delay_of(stages)
        return delays[stages]

    def fewest(stages: int) -> StagesSearch:
        while stages > 0 and measured(stages - 1) <= clock_ns:
            stages -= 1
        # One register, behind all logic, is slower than none: that one does not meet the clock says nothing of none.
        return StagesSearch(0 if stages == 2 and measured(0) <= clock_ns else stages, delays)

    start = _first_try(clock_ns, known, most) if first is None else first
    for stages in range(start, most + 1):
        if measured(stages) <= clock_ns:
            return fewest(stages) if stages == start else StagesSearch(stages, delays)
    for stages in range(start, 1, -1):
        if measured(stages - 1) <= clock_ns:
            return fewest(stages - 1)
        if delays[stages - 1] >= delays[stages]:
            break
    return StagesSearch(None, delays)


def _first_try(clock_ns: float, known: Mapping[int, float], most: int) -> int:
    depth = max(max(stages, 1) * delay for stages, delay in known.items())
    return 0 if depth <= clock_ns else min(math.ceil(depth / clock_ns), most)
