"""Pipeline registers for a clock: the fewest stages that meet it, placed by measured delays and timed as they were placed.

1. The delays between all boundaries of the datapath are measured once (rtl/cost/segment_delays.py).
2. For each number of stages they give the placement whose longest stage is the shortest.
3. Placements are built, mapped, computed on the stimulus and timed, from the number that step 2 says is enough, until one
   meets the clock and one stage less does not.
"""

from collections.abc import Callable
from dataclasses import dataclass

from golden import Unit
from rtl.cost.cost_error import one_message
from rtl.cost.cost_request import CostRequest
from rtl.cost.cost_results import PipelineTiming
from rtl.cost.liberty import DEFAULT
from rtl.cost.placer import Placer
from rtl.cost.stages_for_clock import search_stages

Progress = Callable[[str], None]


@dataclass(frozen=True)
class MetClock:
    """The result of `meet_clock`.

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
        cells: the library, a name or a path as for `rtl.cost.liberty.check_library`.

    Raises:
        ValueError: no such library; the unit has no such key or no datapath, or no number of stages up to `MAX_STAGES` meets
            the clock.
        MissingTool: Yosys, OpenSTA or the cell library is not installed.
        CostError: a tool failed, or its output cannot be trusted.
    """
    clock = unit.implementation.clock_ns
    if clock is None:
        raise ValueError(f"{unit.name} must have the key clock_ns in [implementation], and has none")
    with one_message(unit.name):
        placer = Placer(unit.step, progress, CostRequest(library=cells))
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
