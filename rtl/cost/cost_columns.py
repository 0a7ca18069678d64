"""The cost of a unit as plain columns: what could not be measured is null, and `missing` says why."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from golden import Unit
from rtl.cost import fpga, timing
from rtl.cost.cost_error import kept_log, one_message
from rtl.cost.cost_request import CostRequest
from rtl.cost.flow import tool_version as yosys_version
from rtl.cost.fpga import PARTS, FPGAError
from rtl.cost.liberty import LIBRARIES, cells_digest, library
from rtl.cost.mapped_netlist import check_netlist
from rtl.cost.meet_clock import search_stages
from rtl.cost.placer import Placer, timed_netlist
from rtl.cost.synthesis import TOP, synthesise
from rtl.designs.unit_design import UnitDesign
from rtl.tools import MissingTool
from rtl.verilog.emit import to_verilog
from rtl.yosys import YosysError

GATES = ("cells", "depth", "transistors", "registers")
AREA = ("area_um2", "area_by_component", "netlist_vectors")
TIMING = ("delay_ns", "power_mw", "energy_pj")

STAGES = ("stages_for_clock", "delay_by_stages")

COLUMNS = (*GATES, *AREA, *TIMING, *STAGES)
"""The columns of `measure`, except `fpga`, `missing`, `tools` and `wanted`."""


def measure(unit: Unit, wanted: Mapping[str, Any] | CostRequest | None = None, logs: Path | None = None) -> dict[str, Any]:
    """Measure the cost of a unit.

    Args:
        unit: its datapath is measured as it is built, with its pipeline stages.
        wanted: a table of `CostRequest`'s keys.
        logs: a folder that takes the log of a tool that fails; where None, the log is lost.

    Returns:
        Plain JSON. cells (two-input NAND and NOR gates, inverters, flip-flops), depth (of these), transistors, registers;
        area_um2 (µm²) and area_by_component (µm² of all components of a kind, each mapped by itself: their sum is more);
        netlist_vectors, how many the mapped netlist computed as the golden model does; delay_ns, the shortest clock period;
        power_mw at the wanted clock and activity; energy_pj of one step, which is that power times the clock's period;
        stages_for_clock, the fewest pipeline stages that meet the clock, and delay_by_stages, the delays of those that were
        tried, where wanted; fpga, for each wanted part lookup tables (luts), multipliers and clock (fmax_mhz).
        `missing` holds a reason for every column that is null, `tools` the versions.

    Raises:
        ValueError: what is wanted cannot be. CostError: a tool failed, or did not end in time.
    """
    asked = wanted if isinstance(wanted, CostRequest) else CostRequest.from_table(wanted or {})
    found = _Findings(asked)
    with one_message(unit.name, logs):
        _measure(unit, asked, logs, found)
    return found.columns()


def check_wanted(wanted: Mapping[str, Any]) -> None:
    """Raise ValueError if `measure` cannot be asked for the wanted figures."""
    CostRequest.from_table(wanted)


def tool_versions() -> dict[str, str]:
    """Version of every tool and library that a cost depends on; `missing` for one that is not installed."""
    found = {}
    for name, version in (("yosys", yosys_version), ("sta", timing.tool_version)):
        try:
            found[name] = version()
        except MissingTool:
            found[name] = "missing"
    for name in LIBRARIES:
        try:
            found[name] = cells_digest(name)
        except MissingTool:
            found[name] = "missing"
    return found


class _Findings:
    """The columns of a measurement while it runs."""

    def __init__(self, wanted: CostRequest) -> None:
        self.values: dict[str, Any] = {}
        self.missing: dict[str, str] = {}
        self.tools: dict[str, str] = {}
        self.fpga: dict[str, Any] = dict.fromkeys(wanted.fpga)
        self._wanted = wanted

    def columns(self) -> dict[str, Any]:
        """All columns in their order."""
        values = {column: self.values.get(column) for column in COLUMNS}
        clock = {key: getattr(self._wanted, key) for key in ("clock_ns", "activity", "library")}
        return {**values, "fpga": self.fpga, "missing": self.missing, "tools": self.tools, "wanted": clock}

    def there(self, columns: tuple[str, ...], tool: Callable[[], Any]) -> Any:
        """Return what a check of a tool returns. If the tool is missing, return None and state the reason for every column
        that needs it."""
        try:
            return tool()
        except MissingTool as error:
            self.missing |= {column: str(error) for column in columns if column not in self.missing}
            return None


def _measure(unit: Unit, wanted: CostRequest, logs: Path | None, found: _Findings) -> None:
    try:
        text = to_verilog(unit, TOP)
    except ValueError as error:
        found.missing |= dict.fromkeys(COLUMNS, f"there is no datapath of this unit: {error}")
        return
    if not wanted.stages:
        found.missing |= dict.fromkeys(STAGES, "not asked for: set stages = true")
    yosys = found.there(COLUMNS, yosys_version)
    cells = found.there((*AREA, *TIMING, *STAGES), lambda: library(wanted.library))
    sta = found.there((*TIMING, *STAGES), timing.tool_version)
    found.tools |= {name: version for name, version in (("yosys", yosys), ("sta", sta)) if version is not None}
    if yosys is None:
        return
    _fpga(unit, text, wanted, logs, found)
    whole = synthesise(text, cells, wanted.limit)
    gates = whole.gates
    found.values |= dict(zip(GATES, (gates.cells, gates.depth, gates.transistors, gates.registers), strict=True))
    if cells is None or whole.mapped is None or whole.components is None:
        return
    check_netlist(whole.mapped.netlist, cells, unit, UnitDesign(unit).latency, wanted.vectors)
    found.values |= dict(zip(AREA, (whole.mapped.area, dict(whole.components), wanted.vectors), strict=True))
    if sta is None:
        return
    timed = timed_netlist(whole.mapped, unit, cells, wanted)
    mw = 1e3 * timed.power
    found.values |= dict(zip(TIMING, (timed.delay, round(mw, 6), round(mw * wanted.clock_ns, 6)), strict=True))
    if wanted.stages:
        _stages(unit, wanted, timed.delay, found)


def _fpga(unit: Unit, text: str, wanted: CostRequest, logs: Path | None, found: _Findings) -> None:
    """Place and route the unit for every wanted part; a part that the unit does not fit on is missing, and the other columns
    stay."""
    for key in wanted.fpga:
        column = f"fpga.{key}"
        tool = found.there((column,), lambda key=key: fpga.tool_version(key))  # type: ignore[misc]
        if tool is None:
            continue
        found.tools[PARTS[key].package] = tool
        try:
            found.fpga[key] = fpga.place_and_route(text, TOP, UnitDesign(unit).ports, key, wanted.limit)
        except (YosysError, FPGAError) as error:
            found.missing[column] = f"{error}{kept_log(error.log, f'{unit.name}.{key}', logs)}"


def _stages(unit: Unit, wanted: CostRequest, delay: float, found: _Findings) -> None:
    """Find the fewest stages, placed by measured delays, each tried by synthesis and timing analysis."""
    placer, clock = Placer(unit, wanted=wanted), wanted.clock_ns
    known = {} if unit.implementation.stages else {0: delay}
    search = search_stages(clock, placer.delay_of, known, placer.likely(clock), placer.most)
    found.values["delay_by_stages"] = {str(stages): tried for stages, tried in sorted(search.delays.items())}
    found.values["stages_for_clock"] = search.fewest
    if search.fewest is None:
        found.missing["stages_for_clock"] = (
            f"no number of stages up to {placer.most} reaches {wanted.clock_ns:g} ns: the shortest clock period is "
            f"{min(search.delays.values()):g} ns, with {min(search.delays, key=search.delays.__getitem__)} stages"
        )
