"""Places a unit's pipeline registers by measured delays, and times the result.

Measurements are kept in the user's cache, under the digest of the mapped Verilog, the library and the tools.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from golden import Unit
from golden.cache import cached_text
from golden.units.unit import MAX_STAGES
from rtl.cost import timing
from rtl.cost.cost_request import CostRequest
from rtl.cost.cost_results import PipelineTiming, StageDelay
from rtl.cost.flow import tool_version as yosys_version
from rtl.cost.liberty import Library, library
from rtl.cost.mapped_netlist import CONSTANTS, Netlist, NetlistError, Placed, cell_of, check_netlist, samples
from rtl.cost.synthesis import TOP, Mapped, map_whole
from rtl.cost.timing import Timing, TimingError
from rtl.datapath.base import Datapath, boundaries, free_running
from rtl.datapath.pipeline import shallowest, stage_delays
from rtl.datapath.step import cut_inside
from rtl.designs.product_design import unit_operands
from rtl.designs.unit_design import as_design
from rtl.verilog.emit import modules, to_verilog

Arcs = Mapping[tuple[str, str, str], float]
"""The delay (ns) through a cell: by its name, an input pin and an output pin."""

_CELL = re.compile(r'\(CELLTYPE "\w+"\)\n\s*\(INSTANCE (\w+)\)\n(.*?)\n \)', re.DOTALL)
_SCALE = re.compile(r"\(TIMESCALE ([\d.]+) ?(ns|ps|us)\)")
NANOSECONDS = {"us": 1e3, "ns": 1.0, "ps": 1e-3}
"""The units of time that a file of delays may state."""

_ARC = re.compile(r"\(IOPATH (\w+) (\w+) \(([-\d.:]+)\) \(([-\d.:]+)\)\)")


@dataclass(frozen=True)
class Segments:
    """The measured delays of a datapath.

    Attributes:
        points: the names of the boundaries, in order.
        delays: `delays[i][j]`, the delay from boundary i − 1 to boundary j (ns). Row 0 begins at the operand ports; entries
            for a boundary that does not lie behind the start are 0.
        flip_flops: number of flip-flops that cross each boundary.
    """

    points: tuple[str, ...]
    delays: tuple[tuple[float, ...], ...]
    flip_flops: tuple[int, ...]


def measure_segments(datapath: Datapath, library: Library, limit: float | None = None) -> Segments:
    """Map and time a datapath with registers at all boundaries.

    Args:
        datapath: the datapath to measure; it is not built itself.
        library: the library of the cells.
        limit: time after which a tool is ended (seconds).

    Raises:
        MissingTool: Yosys or OpenSTA is not installed.
        YosysError, TimingError, NetlistError: a tool failed, or its output cannot be trusted.
    """
    mapped = map_whole(modules(free_running(datapath), TOP), library, limit)
    arcs = read_arcs(timing.cell_delays(mapped.verilog, TOP, library, limit))
    points = tuple(boundaries(cut_inside(datapath.steps())))
    return segments_of(mapped.netlist, library, arcs, points)


def read_arcs(sdf: str) -> dict[tuple[str, str, str], float]:
    """Read cell delays (ns) from a file in Standard Delay Format; of rise and fall the longer one counts.

    Raises:
        TimingError: the file has no delays, or no unit of time.
    """
    arcs: dict[tuple[str, str, str], float] = {}
    scale = _SCALE.search(sdf)
    if scale is None:
        raise TimingError("OpenSTA's file of delays must state its unit of time, it states none", sdf)
    unit = float(scale[1]) * NANOSECONDS[scale[2]]  # the cell library's
    for cell, body in _CELL.findall(sdf):
        for start, end, *delays in _ARC.findall(body):
            longest = max(unit * float(part) for delay in delays for part in delay.split(":") if part)
            arcs[cell, start, end] = max(longest, arcs.get((cell, start, end), 0.0))
    if not arcs:
        raise TimingError("OpenSTA's file of delays must have a path through a cell, it has none", sdf)
    return arcs


def segments_of(netlist: Netlist, library: Library, arcs: Arcs, points: tuple[str, ...]) -> Segments:
    """The delays between the boundaries of a netlist with a register at each.

    Raises:
        NetlistError: another number of boundaries, or a register that takes values across one.
    """
    stages = netlist.stages(library)
    if len(stages) != len(points):
        raise NetlistError(f"a register at each of {len(points)} boundaries must give as many stages, got {len(stages)}")
    paths = _Paths(netlist, library, arcs, stages)
    rows = [paths.from_boundary(start) for start in range(len(points) + 1)]
    return Segments(points, tuple(rows), tuple(map(len, stages)))


class _Paths:
    """Longest paths through a netlist, of which registers let their values through.

    Args:
        stages: the netlist's registers by boundary.
    """

    def __init__(self, netlist: Netlist, library: Library, arcs: Arcs, stages: tuple[tuple[Placed, ...], ...]) -> None:
        self._stages, self._arcs, self._library = stages, arcs, library
        self._driver: dict[int | str, tuple[Placed, str]] = {}
        for cell in netlist.cells:
            for pin in cell_of(library, cell.kind).functions:
                if pin in cell.nets:
                    self._driver[cell.nets[pin]] = (cell, pin)
        self._boundary = {cell.name: number for number, stage in enumerate(stages, 1) for cell in stage}

    def from_boundary(self, start: int) -> tuple[float, ...]:
        """The delay from a boundary, counted from 1, or from the operand ports, 0, to each boundary."""
        arrivals: dict[int | str, float | None] = dict.fromkeys(CONSTANTS)
        delays = []
        for number, stage in enumerate(self._stages, 1):
            found = [
                self._arrival(net, start, number, arrivals)
                for cell in stage
                for net in samples(cell, self._library).values()
            ]
            reached = [arrival for arrival in found if arrival is not None]
            if number > start and not reached:
                raise NetlistError(f"boundary {number} must be reached from boundary {start}, and no path leads there")
            delays.append(max(reached) if number > start else 0.0)
        return tuple(delays)

    def _arrival(self, net: int | str, start: int, into: int, arrivals: dict[int | str, float | None]) -> float | None:
        """The longest path from the start to a net in front of a boundary; None where none leads there."""
        waiting = [net]
        while waiting:
            current = waiting[-1]
            if current in arrivals:
                waiting.pop()
                continue
            sources = self._sources(current, start, into)
            missing = [source for source, _ in sources if source not in arrivals]
            if missing:
                waiting += missing
                continue
            known = [(arrivals[source], delay) for source, delay in sources]
            found = [before + delay for before, delay in known if before is not None]
            arrivals[current] = max(found, default=self._begins(current, start))
            waiting.pop()
        return arrivals[net]

    def _begins(self, net: int | str, start: int) -> float | None:
        """The delay 0 if paths from the start begin at the net, else None."""
        if net not in self._driver:
            return 0.0 if start == 0 else None
        return 0.0 if self._boundary.get(self._driver[net][0].name) == start else None

    def _sources(self, net: int | str, start: int, into: int) -> list[tuple[int | str, float]]:
        """The nets in front of a net's driver, each with its delay; a register lets its value through, unless paths begin or
        end before it."""
        if net not in self._driver:
            return []
        cell, pin = self._driver[net]
        boundary = self._boundary.get(cell.name)
        if boundary is None:
            functions = cell_of(self._library, cell.kind).functions
            pins = [(each, net) for each, net in cell.nets.items() if each not in functions and net not in CONSTANTS]
            return [(net, self._delay(cell.name, each, pin)) for each, net in pins]
        if boundary >= into:
            raise NetlistError(f"no register must take values across a boundary, one of boundary {into} reads {cell.name}")
        return [] if boundary <= start else [(each, 0.0) for each in samples(cell, self._library).values()]

    def _delay(self, cell: str, start: str, end: str) -> float:
        if (cell, start, end) not in self._arcs:
            raise NetlistError(f"every path through a cell must have a delay, that of {cell} from {start} to {end} has none")
        return self._arcs[cell, start, end]


class Placer:
    """Places the registers of one unit by measured delays, and times the result.

    Args:
        unit: the unit; the places of its own registers and its array do not matter.
        progress: called with a line before every measurement.
        wanted: the cells, and the clock and activity at which power is stated.

    Raises:
        ValueError: the unit has no datapath.
        MissingTool: Yosys, OpenSTA or the cell library is not installed.
        YosysError, TimingError, NetlistError: a tool failed, or its output cannot be trusted.
    """

    def __init__(self, unit: Unit, progress: Callable[[str], None] | None = None, wanted: CostRequest | None = None) -> None:
        self._unit = replace(unit, implementation=unit.implementation.combinational, array=None)
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

        asked = {key: str(getattr(self._wanted, key)) for key in ("period_ns", "activity", "vectors")}
        found = json.loads(cached_text("pipeline-timing", {"verilog": _digest(text), **asked, **self._tools}, measured))
        delays = tuple(map(StageDelay, unit.implementation.registers, found.pop("stages")))
        return PipelineTiming(stages=delays, products=unit_operands(unit)["a"].count, **found)

    def _measured(self, unit: Unit, text: str) -> dict[str, Any]:
        mapped = map_whole(text, self._cells, self._wanted.limit)
        check_netlist(mapped.netlist, self._cells, unit, as_design(unit).latency, self._wanted.vectors)
        timed = timed_netlist(mapped, unit, self._cells, self._wanted)
        energy = 1e3 * timed.power * self._wanted.period_ns
        return {"stages": timed.stages, "delay_ns": timed.delay, "area_um2": mapped.area, "energy_pj": round(energy, 6)}

    def _datapath(self) -> Datapath:
        component = as_design(self._unit).component()
        assert isinstance(component, Datapath)  # arrays are left out
        return component

    def _measured_segments(self) -> Segments:
        text = modules(free_running(self._datapath()), TOP)

        def measured() -> str:
            self._say(f"{self._unit.name}: mapping and timing the datapath with registers at all boundaries")
            found = measure_segments(self._datapath(), self._cells, self._wanted.limit)
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
    wish = (wanted.period_ns, wanted.activity, wanted.limit)
    return timing.analyse(mapped.verilog, TOP, cells, clocked, *wish, constants, ends)


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _code() -> str:
    """The digest of the code that measures."""
    return _digest("".join(path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.glob("*.py"))))
