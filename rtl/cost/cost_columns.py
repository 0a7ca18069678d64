"""The cost of a unit as plain columns: what could not be measured is null, and `missing` says why."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from golden import Unit
from golden.files import write_atomically
from golden.stimulus import Operands
from rtl.cost import fpga, timing
from rtl.cost.activity import changes, power
from rtl.cost.array_cost import array_cost
from rtl.cost.cost_request import LEAST_ACTIVITY, CostRequest, kept_log, one_message
from rtl.cost.flow import AREA as AREA_GOAL
from rtl.cost.flow import DELAY
from rtl.cost.flow import tool_version as yosys_version
from rtl.cost.fpga import PARTS, FPGAError
from rtl.cost.liberty import OUTLINED, cells_digest, cells_of, library, nand2_area
from rtl.cost.mapped_netlist import check_netlist
from rtl.cost.meet_clock import search_stages
from rtl.cost.placer import Placer, timed_netlist
from rtl.cost.saif import saif
from rtl.cost.synthesis import TOP, map_whole, synthesise
from rtl.designs.unit_design import as_design
from rtl.tools import MissingTool
from rtl.verilog.emit import to_verilog
from rtl.yosys import YosysError

GATES = ("cells", "depth", "transistors", "registers")
AREA = ("area_um2", "area_by_component", "netlist_vectors")
NORMALISED = ("nand2_equivalents", "delay_fo4")

TIMING = ("delay_ns", "power_mw", "energy_pj", "meets_clock", "mapped_for", *NORMALISED)

NETLIST, SAIF = "netlist.v", "netlist.saif"
"""The files of the key `saif`."""

SAIF_RULE = "saif takes rows of operands and a folder: name a workload as the activity"

OF_ROWS = ("energy_unit_delay_pj", "changes_per_net")
"""What only operands that follow each other have."""

STAGES = ("stages_for_clock", "delay_by_stages")

COLUMNS = (*GATES, *AREA, *TIMING, *OF_ROWS, *STAGES)
"""The columns of `measure`, except `fpga`, `missing`, `tools` and `wanted`."""


def measure(
    unit: Unit,
    wanted: Mapping[str, Any] | CostRequest | None = None,
    logs: Path | None = None,
    operands: Operands | None = None,
) -> dict[str, Any]:
    """Measure the cost of a unit.

    Args:
        unit: its datapath is measured as it is built, with its pipeline stages; and its array, if it has one.
        wanted: a table of `CostRequest`'s keys.
        logs: a folder that takes the log of a tool that fails; where None, the log is lost. With `saif` it also takes
            `NETLIST`, whose module is `TOP`, and `SAIF`.
        operands: rows of the unit's step that follow each other, one a clock cycle: power is that of the changes they make
            in each net's settled value; the nets of an array change as often as those of the datapath in the mean. None for
            the wanted activity of every net.

    Returns:
        Plain JSON. cells (two-input NAND and NOR gates, inverters, flip-flops), depth (of these), transistors, registers;
        area_um2 (µm²) and area_by_component (µm² of all components of a kind, each mapped by itself: their sum is more);
        netlist_vectors, how many the mapped netlist computed as the golden model does; delay_ns, the shortest clock period;
        power_mw at the wanted clock and activity; energy_pj of one step, which is that power times the clock's period;
        meets_clock, whether the delay is within the wanted clock, null if none is; mapped_for, "area" or "delay";
        nand2_equivalents, the area in two-input NAND gates of the library; delay_fo4, the delay in those of an inverter
        that drives four;
        stages_for_clock, the fewest pipeline stages that meet the clock, and delay_by_stages, the delays of those that were
        tried, where wanted; fpga, for each wanted part lookup tables (luts), multipliers and clock (fmax_mhz). Of a unit
        with an array also the columns of `rtl.cost.array_cost.array_cost`.
        `missing` holds a reason for every column that is null, `tools` the versions.

    Raises:
        ValueError: what is wanted cannot be, or `saif` without rows or folder. CostError: a tool failed, or did not end in
            time.
    """
    asked = wanted if isinstance(wanted, CostRequest) else CostRequest.from_table(wanted or {})
    asked = replace(asked, library=cells_of(unit, asked.library))
    if asked.saif and (operands is None or logs is None):
        raise ValueError(SAIF_RULE)
    found = _Findings(asked)
    with one_message(unit.name, logs):
        _measure(replace(unit, array=None), asked, logs, found, operands)
        if unit.array is not None and found.values.get("delay_ns") is not None:
            changes_per_net = found.values.get("changes_per_net")
            of_array = asked if changes_per_net is None else replace(asked, activity=max(LEAST_ACTIVITY, changes_per_net))
            found.of_array = array_cost(unit, library(asked.library), of_array, found.values["delay_ns"])
            if asked.clock_ns is not None:
                found.values["meets_clock"] &= found.of_array["array_clock_ns"] <= asked.clock_ns
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
    for name in OUTLINED:
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
        self.of_array: dict[str, Any] = {}
        self._wanted = wanted

    def columns(self) -> dict[str, Any]:
        """All columns in their order."""
        values = {column: self.values.get(column) for column in COLUMNS}
        clock = {key: getattr(self._wanted, key) for key in ("activity", "library")}
        wanted = {"clock_ns": self._wanted.period_ns, **clock}
        return {**values, **self.of_array, "fpga": self.fpga, "missing": self.missing, "tools": self.tools, "wanted": wanted}

    def there(self, columns: tuple[str, ...], tool: Callable[[], Any]) -> Any:
        """Return what a check of a tool returns. If the tool is missing, return None and state the reason for every column
        that needs it."""
        try:
            return tool()
        except MissingTool as error:
            self.missing |= {column: str(error) for column in columns if column not in self.missing}
            return None


def _measure(unit: Unit, wanted: CostRequest, logs: Path | None, found: _Findings, operands: Operands | None = None) -> None:
    try:
        text = to_verilog(unit, TOP)
    except ValueError as error:
        found.missing |= dict.fromkeys(COLUMNS, f"there is no datapath of this unit: {error}")
        return
    if not wanted.stages:
        found.missing |= dict.fromkeys(STAGES, "not asked for: set stages = true")
    if operands is None:
        found.missing |= dict.fromkeys(OF_ROWS, "not asked for: name a workload as the activity")
    if wanted.clock_ns is None:
        found.missing |= {"meets_clock": "not asked for: set clock_ns"}
    yosys = found.there(COLUMNS, yosys_version)
    cells = found.there((*AREA, *TIMING, *OF_ROWS, *STAGES), lambda: library(wanted.library))
    sta = found.there((*TIMING, *OF_ROWS, *STAGES), timing.tool_version)
    found.tools |= {name: version for name, version in (("yosys", yosys), ("sta", sta)) if version is not None}
    if yosys is None:
        return
    _fpga(unit, text, wanted, logs, found)
    whole = synthesise(text, cells, wanted.limit)
    gates = whole.gates
    found.values |= dict(zip(GATES, (gates.cells, gates.depth, gates.transistors, gates.registers), strict=True))
    if cells is None or whole.mapped is None or whole.components is None:
        return
    mapped, goal, timed = whole.mapped, DELAY, None
    check_netlist(mapped.netlist, cells, unit, as_design(unit).latency, wanted.vectors)
    if sta is not None:
        timed = timed_netlist(mapped, unit, cells, wanted)
        if wanted.clock_ns is not None and timed.delay <= wanted.clock_ns:
            small = map_whole(text, cells, wanted.limit, AREA_GOAL)
            check_netlist(small.netlist, cells, unit, as_design(unit).latency, wanted.vectors)
            slower = timed_netlist(small, unit, cells, wanted)
            if small.area < mapped.area and slower.delay <= wanted.clock_ns:
                mapped, goal, timed = small, AREA_GOAL, slower
    found.values |= dict(zip(AREA, (mapped.area, dict(whole.components), wanted.vectors), strict=True))
    if timed is None:
        return
    if operands is not None:
        made = changes(mapped.netlist, cells, unit, as_design(unit).latency, operands)
        if wanted.saif and logs is not None:
            for file, text in ((NETLIST, mapped.verilog), (SAIF, saif(mapped.netlist, made, TOP, wanted.period_ns))):
                write_atomically(logs / file, text.encode())
        clocked = unit.implementation.stages > 0
        powers = timing.cell_powers(mapped.verilog, TOP, cells, clocked, wanted.period_ns, wanted.limit)
        settled, watt = (power(powers, mapped.netlist, cells, each) for each in (made.settled, made.all))
        timed, mean = replace(timed, power=settled), sum(made.settled.values()) / len(made.settled)
        found.values |= dict(zip(OF_ROWS, (round(1e3 * watt * wanted.period_ns, 9), round(mean, 6)), strict=True))
    mw, meets = 1e3 * timed.power, None if wanted.clock_ns is None else timed.delay <= wanted.clock_ns
    gate, inverter = nand2_area(cells), timing.fo4_ns(cells, wanted.limit)
    figures = (timed.delay, mw, mw * wanted.period_ns, meets, goal, mapped.area / gate, timed.delay / inverter)
    found.values |= dict(zip(TIMING, (round(x, 9) if isinstance(x, float) else x for x in figures), strict=True))
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
            found.fpga[key] = fpga.place_and_route(text, TOP, as_design(unit).ports, key, wanted.limit)
        except (YosysError, FPGAError) as error:
            found.missing[column] = f"{error}{kept_log(error.log, f'{unit.name}.{key}', logs)}"


def _stages(unit: Unit, wanted: CostRequest, delay: float, found: _Findings) -> None:
    """Find the fewest stages, placed by measured delays, each tried by synthesis and timing analysis."""
    placer, clock = Placer(unit, wanted=wanted), wanted.period_ns
    known = {} if unit.implementation.stages else {0: delay}
    search = search_stages(clock, placer.delay_of, known, placer.likely(clock), placer.most)
    found.values["delay_by_stages"] = {str(stages): tried for stages, tried in sorted(search.delays.items())}
    found.values["stages_for_clock"] = search.fewest
    if search.fewest is None:
        found.missing["stages_for_clock"] = (
            f"no number of stages up to {placer.most} reaches {clock:g} ns: the shortest clock period is "
            f"{min(search.delays.values()):g} ns, with {min(search.delays, key=search.delays.__getitem__)} stages"
        )
