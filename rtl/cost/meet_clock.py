"""Pipeline registers for a clock: the fewest stages that meet it, placed by measured delays and timed as they were placed.

1. The delays between all boundaries of the datapath are measured once (rtl/cost/segment_delays.py).
2. For each number of stages they give the placement whose longest stage is the shortest.
3. Placements are built, mapped, computed on the stimulus and timed, from the number that step 2 says is enough, until one
   meets the clock and one stage less does not.

What was measured is kept in the user's cache, under the digest of the Verilog that was mapped, the library and the tools.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from golden import Unit
from golden.cache import cached_text
from golden.unit import MAX_STAGES
from rtl.cost import timing
from rtl.cost.cost_columns import CostError, timed_netlist
from rtl.cost.flow import YosysFailure
from rtl.cost.flow import tool_version as yosys_version
from rtl.cost.liberty import library
from rtl.cost.mapped_netlist import NetlistError
from rtl.cost.netlist_check import check_netlist
from rtl.cost.report import PipelineTiming, StageDelay
from rtl.cost.segment_delays import Segments, measure_segments
from rtl.cost.stages_for_clock import search_stages
from rtl.cost.synthesis import TOP, map_whole
from rtl.cost.timing import TimingError
from rtl.cost.wanted import Wanted
from rtl.datapath.base import free_running
from rtl.datapath.pipeline import shallowest, stage_delays
from rtl.designs.unit import unit_datapath
from rtl.designs.unit_design import UnitDesign
from rtl.verilog.emit import modules, to_verilog

Progress = Callable[[str], None]


@dataclass(frozen=True)
class MetClock:
    """The result of `meet_clock`.

    Attributes:
        unit: with the key `clock_ns` replaced by the stages and registers that meet it.
        clock_ns: the clock.
        timing: what was measured of it.
    """

    unit: Unit
    clock_ns: float
    timing: PipelineTiming

    def text(self) -> str:
        """The result for people."""
        built = self.unit.implementation
        named = f": registers = [{', '.join(built.registers)}]" if built.registers else ""
        head = f"{self.unit.name}: clock_ns = {self.clock_ns:g} is met by {built.stages} stages{named}"
        return "\n".join([head, *self.timing.lines(self.clock_ns)])

    def curve(self, progress: Progress | None = None) -> tuple[PipelineTiming, ...]:
        """Area and energy against delay: the same with every smaller number of stages, from none on, and itself.

        Raises:
            As `meet_clock`.
        """
        placer = Placer(self.unit, progress)
        return tuple(placer.timing(stages) for stages in range(self.unit.implementation.stages + 1))


def meet_clock(unit: Unit, progress: Progress | None = None) -> MetClock:
    """Find the fewest stages, and the registers, with which a unit meets its `clock_ns`.

    Args:
        unit: with the key. progress: called with a line before every measurement.

    Raises:
        ValueError: the unit has no such key, no datapath, or no number of stages up to `MAX_STAGES` meets the clock.
        MissingTool: no Yosys, OpenSTA or cell library. CostError: one failed, or what it wrote cannot be trusted.
    """
    clock = unit.implementation.clock_ns
    if clock is None:
        raise ValueError(f"{unit.name} must have the key clock_ns in [implementation], and has none")
    placer = Placer(unit.step, progress)
    search = search_stages(clock, placer.delay_of, {}, placer.likely(clock), placer.most)
    if search.fewest is None:
        best = min(search.delays, key=search.delays.__getitem__)
        raise ValueError(
            f"clock_ns must be a period that registers between steps reach, got {clock:g}: the shortest of {unit.name} is "
            f"{search.delays[best]:g} ns, with {best} stages, and its longest step is {placer.longest_step()}; "
            "ask for a longer period, or for another circuit of that step"
        )
    return MetClock(placer.placed(search.fewest), clock, placer.timing(search.fewest))


class Placer:
    """Places the registers of one unit by measured delays, and times what it placed.

    Args:
        unit: where its own registers stand does not matter. progress: called with a line before every measurement.

    Raises:
        As `meet_clock`.
    """

    def __init__(self, unit: Unit, progress: Progress | None = None) -> None:
        self._unit = replace(unit, implementation=unit.implementation.combinational)
        self._say, self._wanted = progress or (lambda line: None), Wanted()
        self._cells = library(self._wanted.library)
        self._tools = {
            "yosys": yosys_version(),
            "sta": timing.tool_version(),
            "code": _code(),
            "cells": _digest(self._cells.text),
        }
        self._segments = self._measured_segments()
        #: The most stages that have boundaries to stand at.
        self.most = min(MAX_STAGES, len(self._segments.points))

    def placed(self, stages: int) -> Unit:
        """The unit with so many stages."""
        built = replace(self._unit.implementation, stages=stages, registers=self._registers(stages))
        return replace(self._unit, implementation=built)

    def likely(self, clock_ns: float) -> int:
        """The fewest stages that the segments alone would let meet a clock, or the most that there can be."""
        whole = self._segments.delays[0][-1]
        if whole <= clock_ns:
            return 0
        longest = (max(stage_delays(self._segments.delays, self._chosen(stages))) for stages in range(1, self.most + 1))
        return next((stages for stages, delay in enumerate(longest, 1) if delay <= clock_ns), self.most)

    def longest_step(self) -> str:
        """The step that takes longest by itself."""
        between = [self._segments.delays[k][k] for k in range(len(self._segments.points))]
        return self._segments.points[between.index(max(between))]

    def delay_of(self, stages: int) -> float:
        """The shortest clock period with so many stages (ns)."""
        return self.timing(stages).delay_ns

    def timing(self, stages: int) -> PipelineTiming:
        """The measured delays of so many stages."""
        unit = self.placed(stages)
        text = to_verilog(unit, TOP)

        def measured() -> str:
            self._say(f"{unit.name}: mapping and timing {stages} stages")
            return json.dumps(self._measured(unit, text))

        found = json.loads(cached_text("pipeline-timing", {"verilog": _digest(text), **self._tools}, measured))
        delays = tuple(map(StageDelay, unit.implementation.registers, found.pop("stages")))
        return PipelineTiming(stages=delays, products=unit.operation.length, **found)

    def _measured(self, unit: Unit, text: str) -> dict[str, Any]:
        with _one_message(unit.name):
            mapped = map_whole(text, self._cells, self._wanted.limit)
            check_netlist(mapped.netlist, self._cells, unit, UnitDesign(unit).latency, self._wanted.vectors)
            timed = timed_netlist(mapped, unit, self._cells, self._wanted)
        energy = 1e3 * timed.power * self._wanted.clock_ns
        return {"stages": timed.stages, "delay_ns": timed.delay, "area_um2": mapped.area, "energy_pj": round(energy, 6)}

    def _measured_segments(self) -> Segments:
        text = modules(free_running(unit_datapath(self._unit)), TOP)

        def measured() -> str:
            self._say(f"{self._unit.name}: mapping and timing the datapath with registers at all boundaries")
            with _one_message(self._unit.name):
                found = measure_segments(unit_datapath(self._unit), self._cells, self._wanted.limit)
            return json.dumps([found.points, found.delays, found.flip_flops])

        points, delays, flip_flops = json.loads(cached_text("segments", {"verilog": _digest(text), **self._tools}, measured))
        return Segments(tuple(points), tuple(map(tuple, delays)), tuple(flip_flops))

    def _chosen(self, stages: int) -> tuple[int, ...]:
        return shallowest(self._segments.delays, self._segments.flip_flops, stages)

    def _registers(self, stages: int) -> tuple[str, ...]:
        return tuple(self._segments.points[boundary] for boundary in self._chosen(stages)) if stages else ()


@contextmanager
def _one_message(name: str) -> Iterator[None]:
    """Turn what a tool or its reader raises into the one error of a cost."""
    try:
        yield
    except (YosysFailure, TimingError, NetlistError) as error:
        raise CostError(f"{name}: {error}") from error


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _code() -> str:
    """The digest of the programs that measure."""
    return _digest("".join(path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.glob("*.py"))))
