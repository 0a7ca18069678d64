"""Places a unit's pipeline registers by measured delays, and times the result.

Measurements are kept in the user's cache, under the digest of the mapped Verilog, the library and the tools.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from golden import Unit
from golden.cache import cached_text
from golden.unit import MAX_STAGES
from rtl.cost import timing
from rtl.cost.cost_request import CostRequest
from rtl.cost.cost_results import PipelineTiming, StageDelay
from rtl.cost.flow import tool_version as yosys_version
from rtl.cost.liberty import Library, library
from rtl.cost.mapped_netlist import NetlistError, samples
from rtl.cost.netlist_check import check_netlist
from rtl.cost.segment_delays import Segments, measure_segments
from rtl.cost.synthesis import TOP, Mapped, map_whole
from rtl.cost.timing import Timing
from rtl.datapath.base import free_running
from rtl.datapath.pipeline import shallowest, stage_delays
from rtl.designs.unit import unit_datapath
from rtl.designs.unit_design import UnitDesign
from rtl.verilog.emit import modules, to_verilog


class Placer:
    """Places the registers of one unit by measured delays, and times the result.

    Args:
        unit: the unit; the places of its own registers do not matter.
        progress: called with a line before every measurement.
        wanted: the cells, and the clock and activity at which power is stated.

    Raises:
        ValueError: the unit has no datapath.
        MissingTool: Yosys, OpenSTA or the cell library is not installed.
        YosysError, TimingError, NetlistError: a tool failed, or its output cannot be trusted.
    """

    def __init__(self, unit: Unit, progress: Callable[[str], None] | None = None, wanted: CostRequest | None = None) -> None:
        self._unit = replace(unit, implementation=unit.implementation.combinational)
        self._say, self._wanted = progress or (lambda line: None), wanted or CostRequest()
        self._cells = library(self._wanted.library)
        self._tools = {
            "yosys": yosys_version(),
            "sta": timing.tool_version(),
            "code": _code(),
            "cells": _digest(f"{self._cells.output_load} {self._cells.text}"),
        }
        self._segments = self._measured_segments()
        #: The most stages that have boundaries to stand at.
        self.most = min(MAX_STAGES, len(self._segments.points))

    def placed(self, stages: int) -> Unit:
        """The unit with a number of stages, its registers placed."""
        built = replace(self._unit.implementation, stages=stages, registers=self._registers(stages))
        return replace(self._unit, implementation=built)

    def likely(self, clock_ns: float) -> int:
        """An estimate of the fewest stages that meet a clock, by the delays of the segments alone; the largest possible
        number if none does."""
        whole = self._segments.delays[0][-1]
        if whole <= clock_ns:
            return 0
        longest = (max(stage_delays(self._segments.delays, self._chosen(stages))) for stages in range(1, self.most + 1))
        return next((stages for stages, delay in enumerate(longest, 1) if delay <= clock_ns), self.most)

    def longest_step(self) -> str:
        """Name of the step with the largest delay by itself."""
        between = [self._segments.delays[k][k] for k in range(len(self._segments.points))]
        return self._segments.points[between.index(max(between))]

    def delay_of(self, stages: int) -> float:
        """The shortest clock period with a number of stages (ns)."""
        return self.timing(stages).delay_ns

    def timing(self, stages: int) -> PipelineTiming:
        """The measured timing with a number of stages."""
        unit = self.placed(stages)
        text = to_verilog(unit, TOP)

        def measured() -> str:
            self._say(f"{unit.name}: mapping and timing {stages} stages")
            return json.dumps(self._measured(unit, text))

        asked = {key: str(getattr(self._wanted, key)) for key in ("clock_ns", "activity", "vectors")}
        found = json.loads(cached_text("pipeline-timing", {"verilog": _digest(text), **asked, **self._tools}, measured))
        delays = tuple(map(StageDelay, unit.implementation.registers, found.pop("stages")))
        return PipelineTiming(stages=delays, products=unit.operation.length, **found)

    def _measured(self, unit: Unit, text: str) -> dict[str, Any]:
        mapped = map_whole(text, self._cells, self._wanted.limit)
        check_netlist(mapped.netlist, self._cells, unit, UnitDesign(unit).latency, self._wanted.vectors)
        timed = timed_netlist(mapped, unit, self._cells, self._wanted)
        energy = 1e3 * timed.power * self._wanted.clock_ns
        return {"stages": timed.stages, "delay_ns": timed.delay, "area_um2": mapped.area, "energy_pj": round(energy, 6)}

    def _measured_segments(self) -> Segments:
        text = modules(free_running(unit_datapath(self._unit)), TOP)

        def measured() -> str:
            self._say(f"{self._unit.name}: mapping and timing the datapath with registers at all boundaries")
            found = measure_segments(unit_datapath(self._unit), self._cells, self._wanted.limit)
            return json.dumps([found.points, found.delays, found.flip_flops])

        points, delays, flip_flops = json.loads(cached_text("segments", {"verilog": _digest(text), **self._tools}, measured))
        return Segments(tuple(points), tuple(map(tuple, delays)), tuple(flip_flops))

    def _chosen(self, stages: int) -> tuple[int, ...]:
        return shallowest(self._segments.delays, self._segments.flip_flops, stages)

    def _registers(self, stages: int) -> tuple[str, ...]:
        return tuple(self._segments.points[boundary] for boundary in self._chosen(stages)) if stages else ()


def timed_netlist(mapped: Mapped, unit: Unit, cells: Library, wanted: CostRequest) -> Timing:
    """Delay and power of a unit's netlist as wanted, and the delay of each stage of its pipeline.

    Raises:
        NetlistError: the netlist has another number of stages. MissingTool, TimingError: as `timing.analyse`.
    """
    stages, constants = mapped.netlist.stages(cells), mapped.netlist.constants
    if len(stages) != unit.implementation.stages:
        raise NetlistError(
            f"{unit.name}: a netlist of {unit.implementation.stages} stages must have as many, got {len(stages)}"
        )
    ends = [[f"{cell.name}/{pin}" for cell in stage for pin in samples(cell, cells)] for stage in stages]
    clocked = bool(stages)
    wish = (wanted.clock_ns, wanted.activity, wanted.limit)
    return timing.analyse(mapped.verilog, TOP, cells, clocked, *wish, constants, ends)


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _code() -> str:
    """The digest of the code that measures."""
    return _digest("".join(path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.glob("*.py"))))
