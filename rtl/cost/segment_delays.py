"""Delays between all pairs of boundaries of a datapath, measured: from them it follows where pipeline registers go.

One netlist is mapped and timed: the datapath with a register at every boundary and no handshake. OpenSTA states the delay of
every cell in it, under its load; the delay from one boundary to another is then the longest path with the registers between
them left out. So it follows the paths: two steps that work side by side do not add up. What synthesis would share across
boundaries is not in it, and a cell's rise and fall count as the longer of them: the delays choose a placement, and the
netlist of that placement is timed by itself (rtl/cost/stages_for_clock.py).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rtl.cost import timing
from rtl.cost.liberty import Library
from rtl.cost.mapped_netlist import CONSTANTS, Netlist, NetlistError, Placed, cell_of, samples
from rtl.cost.synthesis import TOP, map_whole
from rtl.cost.timing import TimingError
from rtl.datapath.base import Datapath, boundaries, free_running
from rtl.datapath.step import cut_inside
from rtl.verilog.emit import modules

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
