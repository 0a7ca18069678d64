"""The number of pipeline stages that a unit needs for a clock, found by building and timing it."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from golden.unit import MAX_STAGES


@dataclass(frozen=True)
class StagesSearch:
    """The result of a search.

    Attributes:
        fewest: the fewest stages that meet the clock; None if no number that can be built does.
        delays: the shortest clock period (ns) for every number of stages that was tried.
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

    From the first try the search goes down while the clock is met, and up until it is met. So the number found meets the
    clock, and one stage less does not. If no number up to the largest meets it, the search goes down from the first try
    while that makes the period shorter: one more register adds its own delay to its stage, which can be more than it saves.

    Args:
        clock_ns: wanted clock period (ns).
        delay_of: function that measures the shortest clock period with a number of stages.
        known: shortest clock periods that are already known; at least one if `first` is None.
        first: the number that is tried first; by default the whole depth, by the known periods, divided by the wanted
            period.
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
