"""Verilog of a design: plain Verilog-2005 under a header that says what it is and how to connect it."""

import re

from amaranth.back import rtlil  # type: ignore[attr-defined]  # the stubs lack it

from golden import Unit
from rtl.designs.design import Design
from rtl.designs.unit_design import as_design
from rtl.steps.component import AnyComponent, SharedModules, module_ports, name_ports
from rtl.verilog.headers import header
from rtl.verilog.one_text import in_order_of_names, with_signs_in_top_bits
from rtl.yosys import run_yosys

WAIVERS = {
    "DECLFILENAME": "one file holds all the modules of the unit",
    "UNUSEDSIGNAL": "a component computes every field of its ports; a unit need not read them all (tf32's pad, for one)",
    "WIDTHEXPAND": "operands of one operator may differ in width; Verilog extends the narrower by its sign, as is meant",
}
"""Verilator warnings that are disabled inside the file, each with the reason."""

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
"""Reserved words of Verilog (IEEE 1364-2005, annex B)."""


def to_verilog(design: Unit | Design, top: str = "unit") -> str:
    """Return the Verilog-2005 text of a design; equal designs have equal texts.

    Args:
        design: the design to write; a unit is written as its datapath.
        top: name of the top module, a Verilog identifier.

    Raises:
        ValueError: parameters that no component can hold, or a bad name.
        MissingTool: Yosys is not installed.
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
    text = _written(_for_yosys("\n".join(designs)))
    off = "".join(f"/* verilator lint_off {name} */ // {why}\n" for name, why in WAIVERS.items())
    on = "".join(f"/* verilator lint_on {name} */\n" for name in WAIVERS)
    return f"{off}\n{text}\n{on}"


def _for_yosys(design: str) -> str:
    """Amaranth's RTLIL with ports numbered from 1, as Yosys puts a port of number 0 last, and with wires that have no sign:
    each operator says by itself which of its operands are signed numbers."""
    ports_from_one = re.sub(
        r"^(\s*wire .*\b(?:input|output|inout)) (\d+)", lambda wire: f"{wire[1]} {int(wire[2]) + 1}", design, flags=re.M
    )
    return re.sub(r"^(\s*wire .*) signed (\S+)$", r"\1 \2", ports_from_one, flags=re.M)


def _written(design: str) -> str:
    """The Verilog of a design in RTLIL, without Yosys' own first line."""
    # Registers get their values from reset, not from an initial block.
    passes = "read_rtlil design.il; proc; opt_clean -purge; attrmap -remove init; write_rtlil plain.il"
    plain = with_signs_in_top_bits(run_yosys(passes, ["plain.il"], {"design.il": design})["plain.il"])
    text = run_yosys("read_rtlil plain.il; write_verilog -norename -noattr design.v", ["design.v"], {"plain.il": plain})[
        "design.v"
    ]
    return in_order_of_names(text.split("\n", 1)[1].strip() + "\n")
