"""Delay and power of a mapped netlist by static timing analysis with OpenSTA, whose report is read strictly.

OpenSTA goes on after an error and ends with status 0, and to a net without a constraint it gives no path at all. So every
line that warns is an error here, every figure must be there once, and every endpoint must have a constraint.
"""

import re
import subprocess
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from shutil import which

from golden.cache import cached_text
from golden.files import temporary_folder
from golden.processes import run_tool, supervised
from rtl.cost.liberty import Library, smallest_gate
from rtl.tools import MissingTool

INPUT_TRANSITION = 0.1
"""Transition time of every input (ns)."""

LONG = 1000.0
"""A clock period that every datapath meets (ns)."""

ANSWER = 30.0
"""Time limit of the call that asks OpenSTA for its version (seconds)."""

_SCRIPT = """\
read_liberty {library}
read_verilog netlist.v
link_design {top}
set_cmd_units -time ns -capacitance pF -voltage V -power W
create_clock -name clk -period {period}{port}
foreach input [all_inputs] {{
  if {{[get_property $input full_name] ne "clk"}} {{set_input_delay 0 -clock clk $input}}
}}
set_output_delay 0 -clock clk [all_outputs]
set_input_transition {transition} [all_inputs]
set_load {load} [all_outputs]
puts "constrained [check_setup -verbose -no_clock -no_input_delay -no_output_delay -multiple_clock -loops -generated_clocks]"
puts "ended [check_setup -verbose -unconstrained_endpoints]"
puts "slack [worst_slack]"
{stages}set_power_activity -global -activity {activity}
report_power {cells}-digits 9
puts "end of report"
"""

_STAGE = """\
puts "stage {number} slack [get_property [lindex [find_timing_paths -path_delay max -to [get_pins {{{pins}}}]] 0] slack]"
"""

_WARNING = re.compile(r"^.*\b(?:error|warning|black box)\b.*$", re.IGNORECASE | re.MULTILINE)

_UNENDED = re.compile(r"^Warning: There (?:is|are) \d+ unconstrained endpoints?\.\n((?: +\S+\n)+)ended 0$", re.MULTILINE)

_NUMBER = r"([-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)"


class TimingError(Exception):
    """Static timing analysis failed, did not end in time, or reported what cannot be trusted.

    Attributes:
        log: what OpenSTA wrote.
    """

    def __init__(self, message: str, log: str) -> None:
        super().__init__(message)
        self.log = log


@dataclass(frozen=True)
class Timing:
    """The results of static timing analysis.

    Attributes:
        delay: the shortest clock period (ns, to 1 ps) that every path meets: from input to output, or to, from and between
            registers, with their set-up time.
        power: power at the given clock and activity, leakage included (W).
        stages: for each stage, the shortest clock period that the paths into its registers meet (ns).
    """

    delay: float
    power: float
    stages: tuple[float, ...] = ()


def tool_version() -> str:
    """Name and version of the OpenSTA that computes the figures.

    Raises:
        MissingTool: OpenSTA is not installed, or does not state its version.
    """
    command = [program(), "-version"]
    try:
        result = run_tool(command, stderr=subprocess.STDOUT, timeout=ANSWER)
        what = f"exits with status {result.returncode}" if result.returncode else ""
    except subprocess.TimeoutExpired:
        what = f"does not end within {ANSWER:g} s"
    if what:
        raise MissingTool(f"delay and power need OpenSTA, and {' '.join(command)} {what}; install Debian's package opensta")
    return f"OpenSTA {result.stdout.strip()}"


def program() -> str:
    """Path of the program `sta`.

    Raises:
        MissingTool: OpenSTA is not installed.
    """
    found = which("sta")
    if found is None:
        raise MissingTool("delay and power need OpenSTA's program sta, which is not there; install Debian's package opensta")
    return found


def analyse(
    verilog: str,
    top: str,
    library: Library,
    clocked: bool,
    clock_ns: float,
    activity: float,
    limit: float | None = None,
    constants: Collection[str] = (),
    stages: Sequence[Sequence[str]] = (),
) -> Timing:
    """Analyse delay and power of a netlist.

    Args:
        verilog: the netlist.
        top: name of its module.
        clocked: whether it has registers, clocked by its port clk.
        clock_ns: clock period at which the power is stated (ns).
        activity: changes of every net in one clock cycle; glitches are not counted.
        limit: time after which OpenSTA is ended (seconds).
        constants: outputs that never change, to which no path leads.
        stages: for each stage of a pipeline, the pins at which its paths end.

    Raises:
        MissingTool: OpenSTA is not installed.
        TimingError: OpenSTA failed, or its report is not complete.
    """
    text = run_script(verilog, library, script(top, library, clocked, clock_ns, activity, stages), limit)
    return read_report(text, clock_ns, constants, len(stages))


FO4_STAGES = (4, 12)
"""Lengths of the two chains of inverters whose delays differ by that of eight stages."""


def fo4_ns(cells: Library, limit: float | None = None) -> float:
    """The delay of the smallest inverter that drives four like it (ns), the mean of rising and falling in a chain.

    Raises:
        As `analyse`, and ValueError: the library has no inverter.
    """

    def measured() -> str:
        short, long = (analyse(_chain(cells, n), "chain", cells, False, LONG, 0.1, limit).delay for n in FO4_STAGES)
        return str((long - short) / (FO4_STAGES[1] - FO4_STAGES[0]))

    determined = {"cells": sha256(cells.text.encode()).hexdigest(), "sta": tool_version(), "code": _chain(cells, 1)}
    return float(cached_text("fo4", determined, measured))


def _chain(cells: Library, stages: int) -> str:
    """Verilog of inverters one behind the other, each with three more behind it."""
    name, inverter = smallest_gate(cells, 1, 0b01)
    (pin,), (out,) = inverter.inputs, inverter.functions
    lines = []
    for stage in range(stages):
        target = "y" if stage == stages - 1 else f"n{stage + 1}"
        lines += [f"  {name} s{stage} (.{pin}(n{stage}), .{out}({target}));"]
        lines += [f"  {name} l{stage}_{k} (.{pin}({target}), .{out}(x{stage}_{k}));" for k in range(3)]
    nets = [
        f"  wire {net};"
        for net in (*(f"n{k}" for k in range(stages)), *(f"x{s}_{k}" for s in range(stages) for k in range(3)))
    ]
    return "\n".join(["module chain (input a, output y);", *nets, "  assign n0 = a;", *lines, "endmodule", ""])


def script(
    top: str,
    library: Library,
    clocked: bool,
    clock_ns: float,
    activity: float,
    stages: Sequence[Sequence[str]] = (),
    each_cell: bool = False,
) -> str:
    """The commands of `analyse`. A netlist without registers gets the clock of the registers around it."""
    return _SCRIPT.format(
        library=library.name,
        top=top,
        period=clock_ns,
        port=" [get_ports clk]" if clocked else "",
        transition=INPUT_TRANSITION,
        load=library.output_load,
        activity=activity,
        cells="-instances [get_cells *] " if each_cell else "",
        stages="".join(_STAGE.format(number=number, pins=" ".join(pins)) for number, pins in enumerate(stages, 1)),
    )


def cell_powers(
    verilog: str, top: str, library: Library, clocked: bool, clock_ns: float, limit: float | None = None
) -> dict[str, tuple[float, float]]:
    """The power of every cell: if nothing but the clock changes, and what one change a clock cycle of every net adds (W).

    (`set_power_activity -pins`, which would say it of each net, does nothing in OpenSTA 2.0.)

    Raises:
        As `analyse`.
    """
    idle, busy = (
        _cell_powers(run_script(verilog, library, script(top, library, clocked, clock_ns, often, each_cell=True), limit))
        for often in (0.0, 1.0)
    )
    if idle.keys() != busy.keys():
        raise TimingError("OpenSTA must report the same cells twice, and does not", "")
    return {cell: (power, busy[cell] - power) for cell, power in idle.items()}


def _cell_powers(text: str) -> dict[str, float]:
    warning = _WARNING.search(text)
    if warning is not None or not text.rstrip().endswith("end of report"):
        raise TimingError("OpenSTA must report the power of every cell, and does not", text)
    numbers = rf"^\s*{_NUMBER}\s+{_NUMBER}\s+{_NUMBER}\s+{_NUMBER}\s+(\w+)$"
    return {found[5]: float(found[4]) for found in re.finditer(numbers, text, re.MULTILINE)}


def run_script(verilog: str, library: Library, commands: str, limit: float | None = None) -> str:
    """Run OpenSTA and return its output.

    Raises:
        MissingTool: OpenSTA is not installed.
        TimingError: OpenSTA failed, or did not end in time.
    """
    command = [program(), "-no_init", "-no_splash", "-exit", "commands.tcl"]

    def run() -> str:
        with temporary_folder("mmau-sta-") as name:
            folder = Path(name)
            for file, content in (("netlist.v", verilog), ("commands.tcl", commands), (library.name, library.text)):
                (folder / file).write_text(content, encoding="utf-8")
            try:
                result = run_tool(command, cwd=folder, stderr=subprocess.STDOUT, timeout=limit)
            except subprocess.TimeoutExpired as error:
                raise TimingError(f"OpenSTA did not end within {limit:g} s", error.output) from error
        if result.returncode:
            raise TimingError(f"OpenSTA exited with status {result.returncode}", result.stdout)
        return result.stdout

    return supervised(run)


def read_report(text: str, clock_ns: float, constants: Collection[str] = (), stages: int = 0) -> Timing:
    """Read delay and power from the output of the script.

    Args:
        constants: the only outputs that may have no path.
        stages: number of stages, each with a slack of its own.

    Raises:
        TimingError: a warning, a figure that does not appear exactly once, a path without constraint, or an impossible
            figure.
    """
    unended = _UNENDED.search(text) if constants else None
    if unended is not None and set(unended[1].split()) == set(constants):
        text = text.replace(unended[0], "ended 1")
    warning = _WARNING.search(text)
    if warning is not None:
        raise TimingError(f"OpenSTA must have nothing to warn of, it says: {warning[0].strip()}", text)
    checks = [_one(rf"^{name} (\d+)$", text, "check of the constraints") for name in ("constrained", "ended")]
    if not text.rstrip().endswith("end of report") or checks != [1, 1]:
        raise TimingError("OpenSTA must come to the end of its report and find every path constrained", text)
    slack = _one(rf"^slack {_NUMBER}$", text, "worst slack")
    power = _one(rf"^Total(?:\s+{_NUMBER.replace('(', '(?:', 1)}){{3}}\s+{_NUMBER}\s+100\.0%$", text, "total power")
    if not slack < clock_ns or not power > 0:
        raise TimingError(f"delay and power must be above 0, got a slack of {slack} of {clock_ns} ns and {power} W", text)
    slacks = [
        _one(rf"^stage {number} slack {_NUMBER}$", text, f"slack of stage {number}") for number in range(1, stages + 1)
    ]
    if any(not round(slack, 3) <= round(stage, 3) < clock_ns for stage in slacks):
        raise TimingError(f"no stage must be slower than the whole, {slack} of {clock_ns} ns, got slacks of {slacks}", text)
    return Timing(round(clock_ns - slack, 3), power, tuple(round(clock_ns - stage, 3) for stage in slacks))


def _one(pattern: str, text: str, what: str) -> float:
    """The number of the only match of a pattern."""
    found = re.findall(pattern, text, flags=re.MULTILINE)
    if len(found) != 1:
        raise TimingError(f"OpenSTA's report must state the {what} once, it does {len(found)} times", text)
    return float(found[0])


def cell_delays(verilog: str, top: str, library: Library, limit: float | None = None) -> str:
    """The delay of every cell of a clocked netlist, under its load, in Standard Delay Format.

    Raises:
        As `analyse`.
    """
    constraints = script(top, library, True, LONG, 0.1).split('puts "constrained')[0]
    written = "write_sdf delays.sdf\nputs [read [open delays.sdf]]\n"
    text = run_script(verilog, library, f'{constraints}{written}puts "end of report"\n', limit)
    warning = _WARNING.search(text)
    if warning is not None or not text.rstrip().endswith("end of report"):
        raise TimingError(f"OpenSTA must write the delays of all cells and warn of nothing: {(warning or text)[0]}", text)
    return text
