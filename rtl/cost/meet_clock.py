"""Pipeline registers for a clock: the fewest stages that meet it, placed by measured delays and timed as they were placed.

1. The delays between all boundaries of the datapath are measured once (rtl/cost/placer.py).
2. For each number of stages they give the placement whose longest stage is the shortest.
3. Placements are built, mapped, computed on the stimulus and timed, from the number that step 2 says is enough, until one
   meets the clock and one stage less does not.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from golden import Unit
from golden.units.unit import MAX_STAGES
from rtl.cost.cost_request import CostRequest, one_message
from rtl.cost.cost_results import PipelineTiming
from rtl.cost.liberty import DEFAULT, cells_of
from rtl.cost.placer import Placer


@dataclass(frozen=True)
class StagesSearch:
    """The fewest stages that a search found for a clock.

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


Progress = Callable[[str], None]


@dataclass(frozen=True)
class MetClock:
    """A unit whose registers `meet_clock` placed, and the timing that they reach.

    Attributes:
        unit: the unit, with the key `clock_ns` replaced by the stages and registers that meet the clock.
        clock_ns: the clock period (ns).
        timing: the measured timing of the unit.
        cells: the library of the measurement.
    """

    unit: Unit
    clock_ns: float
    timing: PipelineTiming
    cells: str = DEFAULT

    def text(self) -> str:
        """The stages and registers that meet the clock, with their timing, as text for people."""
        built = self.unit.implementation
        named = f": registers = [{', '.join(built.registers)}]" if built.registers else ""
        head = f"{self.unit.name}: clock_ns = {self.clock_ns:g} is met by {built.stages} stages{named}"
        return "\n".join([head, *self.timing.lines(self.clock_ns)])

    def curve(self, progress: Progress | None = None) -> tuple[PipelineTiming, ...]:
        """Area and energy against delay: the timing with every number of stages from none up to that of the unit. Raises
        what `meet_clock` raises."""
        return stage_curve(self.unit, progress, self.cells)


def meet_clock(unit: Unit, progress: Progress | None = None, cells: str = DEFAULT) -> MetClock:
    """Find the fewest stages, and the registers, with which a unit meets its `clock_ns`.

    Args:
        unit: a unit with the key `clock_ns`.
        progress: called with a line before every measurement.
        cells: the library, as for `rtl.cost.library_files.check_library`; one that the unit names goes before the default.

    Raises:
        ValueError: no such library; the unit has no such key or no datapath, or no number of stages up to `MAX_STAGES` meets
            the clock.
        MissingTool: Yosys, OpenSTA or the cell library is not installed.
        CostError: a tool failed, or its output cannot be trusted.
    """
    clock = unit.implementation.clock_ns
    if clock is None:
        raise ValueError(f"{unit.name} must have the key clock_ns in [implementation], and has none")
    if cells == DEFAULT:
        cells = cells_of(unit, DEFAULT)
    with one_message(unit.name):
        placer = Placer(unit if unit.controls else unit.step, progress, CostRequest(library=cells))
        search = search_stages(clock, placer.delay_of, {}, placer.likely(clock), placer.most)
        if search.fewest is not None:
            return MetClock(placer.placed(search.fewest), clock, placer.timing(search.fewest), cells)
    best = min(search.delays, key=search.delays.__getitem__)
    raise ValueError(
        f"clock_ns must be a period that registers between steps reach, got {clock:g}: the shortest of {unit.name} is "
        f"{search.delays[best]:g} ns, with {best} stages, and its longest step is {placer.longest_step()}; "
        "ask for a longer period, or for another circuit of that step"
    )


def stage_curve(unit: Unit, progress: Progress | None = None, cells: str = DEFAULT) -> tuple[PipelineTiming, ...]:
    """Area and energy against delay: a unit with every number of stages from none to its own, placed by measured delays.
    Raises what `meet_clock` raises."""
    with one_message(unit.name):
        placer = Placer(unit, progress, CostRequest(library=cells))
        return tuple(placer.timing(stages) for stages in range(unit.implementation.stages + 1))
