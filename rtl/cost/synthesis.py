"""One run of Yosys for a unit: gates and their depth, area as a whole and by component, and the mapped netlist."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rtl.cost.cost_results import Cost
from rtl.cost.flow import (
    CELLS,
    COMPONENTS,
    DELAY,
    GATES,
    JOIN,
    check_tool,
    cost_of_stat,
    depths_of_ltp,
    for_goal,
    modules_of_stat,
    run_mapper,
)
from rtl.cost.liberty import Library
from rtl.cost.mapped_netlist import Netlist, NetlistError, cell_of, read_netlist

TOP = "unit"
"""The name of the unit's top module."""

GLUE = "glue"
"""Name for the top module's own cells among the components: pipeline registers, handshake and connections."""

_GATES_FILES, _MAPPED_FILES = ("gates.json", "depth.txt"), ("whole.json", "netlist.v", "netlist.json")

_SYNTH = f"{COMPONENTS.format(top=TOP)}; design -save components"
"""Yosys commands that synthesise every component by itself to Yosys' own cells, from which gates and cells are then
mapped."""

_GATES = f"{GATES}; {JOIN}; tee -q -o gates.json stat -json -tech cmos; tee -q -o depth.txt ltp -noff"
"""Yosys commands that map and join gates as `rtl.cost.flow.JOINED` does, so that cells and depth are those of
docs/evidence/area.md."""

_PARTS = f"design -load components; {CELLS}; tee -q -o parts.json stat -json -liberty {{0}}"
"""Yosys commands that report the area of each component, mapped by itself."""

_WHOLE = f"design -load components; {JOIN}; {CELLS}; tee -q -o whole.json stat -json -liberty {{0}}"
"""Yosys commands that report the area of all components as one circuit, in which they share cells and unused cells
are gone."""

_NETLIST = (
    "opt_clean -purge; splitnets; opt_clean -purge; rename -hide w:*; rename -enumerate -pattern cell% t:*;"
    " write_verilog -noattr -noexpr -nohex -simple-lhs netlist.v; write_json netlist.json"
)
"""Yosys commands that write the netlist for static timing analysis, which reads no vectors and no expressions, and for the
check by vectors; cells have the same names in both."""


@dataclass(frozen=True)
class Mapped:
    """A unit as one circuit in the cells of a library.

    Attributes:
        area: area (µm²).
        netlist: the netlist for the check by vectors.
        verilog: the same netlist as Verilog.
    """

    area: float
    netlist: Netlist
    verilog: str


@dataclass(frozen=True)
class Synthesis:
    """A unit's gates, and with a library its cells.

    Attributes:
        gates: cost in two-input NAND and NOR gates, inverters and flip-flops.
        components: area of the components of every kind (µm²), each mapped by itself; their sum is more than the whole's
            area. None without a library.
        mapped: the unit as one circuit; None without a library.
    """

    gates: Cost
    components: Mapping[str, float] | None
    mapped: Mapped | None


def synthesise(text: str, library: Library | None, limit: float | None = None) -> Synthesis:
    """Map a unit's Verilog to gates and to cells.

    Args:
        text: Verilog of the unit, with the top module `TOP`.
        library: the cell library; None maps to gates alone.
        limit: time after which Yosys is ended (seconds).

    Raises:
        MissingTool: Yosys is not installed.
        YosysError: Yosys failed, or did not end in time.
        NetlistError: the netlist that it wrote is not valid.
    """
    check_tool()
    if library is None:
        return Synthesis(_gates(run_mapper(text, f"{_SYNTH}; {_GATES}", _GATES_FILES, limit=limit)), None, None)
    script = "; ".join([_SYNTH, _GATES, *(step.format(library.name) for step in (_PARTS, _WHOLE, _NETLIST))])
    found = run_mapper(
        text, script, (*_GATES_FILES, "parts.json", *_MAPPED_FILES), {library.name: library.text}, limit=limit
    )
    components = component_areas(modules_of_stat(found["parts.json"]), library)
    return Synthesis(_gates(found), components, _mapped(found, library))


def map_whole(text: str, library: Library, limit: float | None = None, goal: str = DELAY) -> Mapped:
    """Map a unit's Verilog to cells as one circuit, as `synthesise` does for the goal `DELAY`; raises what it raises."""
    check_tool()
    script = "; ".join([_SYNTH, for_goal(_WHOLE.format(library.name), goal), _NETLIST])
    return _mapped(run_mapper(text, script, _MAPPED_FILES, {library.name: library.text}, limit=limit), library)


def _gates(found: Mapping[str, str]) -> Cost:
    return cost_of_stat(modules_of_stat(found["gates.json"])[TOP], depths_of_ltp(found["depth.txt"])[TOP])


def _mapped(found: Mapping[str, str], library: Library) -> Mapped:
    netlist = read_netlist(found["netlist.json"], TOP)
    area = netlist.area(library)
    check_area(float(modules_of_stat(found["whole.json"])[TOP]["area"]), area)
    return Mapped(area, netlist, found["netlist.v"])


def check_area(stated: float, area: float) -> None:
    """Raise NetlistError unless two sums of the same cells' areas (µm²), added in other orders, are the same.

    Yosys writes six decimals; a wrong count differs by 0.04 µm² or more, the area of the least cell of asap7.
    """
    if not math.isclose(stated, area, rel_tol=1e-10, abs_tol=1e-6):
        raise NetlistError(f"the areas of the netlist's cells must sum to what Yosys counts, {stated} µm², got {area} µm²")


def component_areas(modules: Mapping[str, Any], library: Library) -> dict[str, float]:
    """µm² of the components of every kind, without those in them; of the top module's own cells as `GLUE`.

    Args:
        modules: of Yosys' `stat`, every module's cells by type, modules in it among them.
    """
    counts: dict[str, int] = {}

    def count(name: str, times: int) -> None:
        counts[name] = counts.get(name, 0) + times
        for kind, number in modules[name]["num_cells_by_type"].items():
            if kind in modules:
                count(kind, times * number)

    count(TOP, 1)
    areas: dict[str, float] = {}
    for module, times in counts.items():
        cells = {kind: number for kind, number in modules[module]["num_cells_by_type"].items() if kind not in modules}
        area = times * sum(number * cell_of(library, kind).area for kind, number in cells.items())
        name = component_name(module)
        areas[name] = areas.get(name, 0.0) + area
    return dict(sorted(areas.items(), key=lambda item: (-item[1], item[0])))


def component_name(module: str) -> str:
    """The kind of component that a module is: `decode` of `unit_decode_2`."""
    return GLUE if module == TOP else re.sub(r"_\d+$", "", module.removeprefix(f"{TOP}_"))
