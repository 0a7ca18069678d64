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


def search_stages(clock_ns: float, delay_of: Callable[[int], float], known: Mapping[int, float]) -> StagesSearch:
    """Look for the fewest stages that meet a clock.

    The first try is the whole depth divided by the clock's period; the search goes on from there, down while the clock is
    met and up until it is. So the number found meets the clock, and one stage less does not.

    Args:
        clock_ns: wanted clock period (ns).
        delay_of: measures the shortest clock period of a number of stages.
        known: those that are known already; one at least.
    """
    delays = dict(known)

    def meets(stages: int) -> bool:
        if stages not in delays:
            delays[stages] = delay_of(stages)
        return delays[stages] <= clock_ns

    depth = max(max(stages, 1) * delay for stages, delay in known.items())
    stages = min(math.ceil(depth / clock_ns), MAX_STAGES)
    if depth <= clock_ns:
        stages = 0
    if meets(stages):
        while stages > 0 and meets(stages - 1):
            stages -= 1
        return StagesSearch(stages, delays)
    while stages < MAX_STAGES:
        stages += 1
        if meets(stages):
            return StagesSearch(stages, delays)
    return StagesSearch(None, delays)
