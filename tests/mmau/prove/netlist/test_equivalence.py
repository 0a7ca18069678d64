"""The solver's answers, on circuits whose answer is known, and against simulation of every input."""

import re
from dataclasses import replace

import pytest

from golden import Implementation, Unit
from golden.units.unit_file import operation_from_table
from mmau.prove.netlist.equivalence import DIFFERENT, EQUAL, UNDECIDED, Side, compare, either_nan, reset_registers
from mmau.prove.netlist.expressions import NoTerm
from mmau.prove.netlist.verilog_text import read_netlist
from rtl.verilog.emit import to_verilog


def side(body: str, width: int = 7, **settings: int) -> Side:
    """A module of two inputs of three bits and an output."""
    text = f"module top(x, y, z);\n  input [2:0] x;\n  input [2:0] y;\n  output [{width - 1}:0] z;\n{body}\nendmodule\n"
    return Side(read_netlist(text), "top", settings)


def test_a_difference_comes_with_inputs_that_show_it() -> None:
    found = compare(side("  assign z = x + y;"), side("  assign z = x | y;"), 10.0)
    assert found.verdict == DIFFERENT
    x, y = found.inputs["x"], found.inputs["y"]
    assert found.outputs["z"] == (x + y, x | y)
    assert x + y != x | y


@pytest.mark.slow
def test_a_long_chain_of_wires_is_followed_to_its_end() -> None:
    wires = [f"  wire [2:0] w{n};\n  assign w{n} = {f'w{n - 1}' if n else 'x'} ^ y;" for n in range(2000)]
    chain = side("\n".join([*wires, "  assign z = w1999;"]))
    assert compare(chain, side("  assign z = x;"), 10.0).verdict == EQUAL
    assert compare(chain, side("  assign z = y;"), 10.0).verdict == DIFFERENT


MULTIPLIERS = (
    "  assign z = x * y;",
    "  wire [63:0] h;\n  wire [63:0] l;\n  assign h = { x[31:1], 1'h0 } * y;\n  assign l = x[0] ? y : 32'h0;\n"
    "  assign z = h + l;",
)
"""A product of 64 bits, and the same of all but one bit, to which that one's is added."""


@pytest.mark.slow
def test_without_time_nothing_is_decided() -> None:
    header = "module top(x, y, z);\n  input [31:0] x;\n  input [31:0] y;\n  output [63:0] z;\n"
    first, second = (Side(read_netlist(f"{header}{body}\nendmodule\n"), "top") for body in MULTIPLIERS)
    assert compare(first, second, 0.0).verdict == UNDECIDED


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("  assign z = z + x;", "a loop in top"),
        ("  wire w;\n  assign z = w;", "bit 0 of w in top is not driven"),
        ("  assign z = x / y;", "the operator / has no term"),
        ("  assign z = 3'hx;", "3'hx is no number"),
        ("  part part (\n    .z(z)\n  );", "part is not in the file"),
    ],
)
def test_a_statement_without_a_term_is_named(body: str, message: str) -> None:
    with pytest.raises(NoTerm, match=f"^{re.escape(message)}$"):
        compare(side("  assign z = x;"), side(body), 1.0)


@pytest.mark.slow
def test_any_nan_is_as_good_as_another() -> None:
    """Of a format of two exponent and four mantissa bits."""
    same = {"z": either_nan(0b0_11_0000, 0b0_11_1111)}
    nan, other, infinity = (side(f"  assign z = 7'd{code};") for code in (0b1_11_0001, 0b0_11_1000, 0b0_11_0000))
    assert compare(nan, other, 1.0).verdict == DIFFERENT
    assert compare(nan, other, 1.0, same=same).verdict == EQUAL
    assert compare(nan, infinity, 1.0, same=same).verdict == DIFFERENT


UNIT = Unit(
    name="unit",
    operation=operation_from_table(
        {"operation": "T-FDPA", "a": "e2m1", "b": "e2m1", "c": "fp16", "L": 2, "F": 8, "rho": "RNE-FP16", "e_zero": -21}
    ),
)


def unit_side(unit: Unit, before: str = "", after: str = "") -> Side:
    text = to_verilog(unit)
    assert before in text
    return Side(read_netlist(text.replace(before, after, 1)), "unit")


@pytest.mark.slow
@pytest.mark.parametrize("F", [4, pytest.param(8, marks=pytest.mark.long)])
def test_two_builds_of_a_unit_are_equal(F: int) -> None:
    unit = replace(UNIT, operation=UNIT.operation.changed(F=F))
    other = replace(unit, implementation=Implementation(encoding="sign-magnitude", max_exp="pairwise"))
    assert compare(unit_side(unit), unit_side(other), 60.0).verdict == EQUAL


@pytest.mark.slow
def test_two_units_that_differ_are_different() -> None:
    other = replace(UNIT, operation=UNIT.operation.changed(F=9))
    found = compare(unit_side(UNIT), unit_side(other), 60.0)
    assert found.verdict == DIFFERENT
    code, changed = found.outputs["d"]
    a, b = ([found.inputs[name] >> 4 * k & 15 for k in range(2)] for name in "ab")
    assert UNIT.operation.step(a, b, found.inputs["c"]) == code
    assert other.operation.step(a, b, found.inputs["c"]) == changed


@pytest.mark.slow
def test_registers_are_compared_from_every_state() -> None:
    """A register that keeps its value while it waits, and one that does not."""
    staged = replace(UNIT, implementation=Implementation(stages=1))
    assert compare(unit_side(staged), unit_side(staged), 10.0).verdict == EQUAL
    lost = unit_side(staged, "? sum_encode_d : d;", "? sum_encode_d : 16'h0000;")
    assert compare(unit_side(staged), lost, 10.0).verdict == DIFFERENT


@pytest.mark.slow
def test_a_transparent_pipeline_is_compared_stage_after_stage() -> None:
    """A fault behind the first of its registers, and none."""
    staged = replace(UNIT, implementation=Implementation(stages=3))
    flows = replace(unit_side(staged), settings={"out_ready": 1, "rst": 0, "in_valid": 1})
    top = flows.modules["unit"]
    held = reset_registers(top)
    assert (len(held), set(held.values())) == (3, {1})
    wrong = unit_side(staged, "$signed(e_norm) +", "$signed(e_norm) -")
    for other, verdict in ((flows, EQUAL), (replace(wrong, settings=flows.settings), DIFFERENT)):
        assert compare(flows, other, 60.0, transparent=True, held=held, outputs=("d",)).verdict == verdict
    unit = unit_side(UNIT)
    found = compare(unit, flows, 60.0, transparent=True, held=held, outputs=("d",))
    assert found.verdict == EQUAL


def behind_a_module(expression: str) -> Side:
    """Bits that a module of one output makes of x and y, its last one always 0, and an expression of these."""
    text = (
        "module top(x, y, z);\n  input [2:0] x;\n  input [2:0] y;\n  output [6:0] z;\n  wire [6:0] w;\n"
        f"  part made (\n    .x(x),\n    .y(y),\n    .w(w)\n  );\n  assign z = {expression};\nendmodule\n"
        "module part(x, y, w);\n  input [2:0] x;\n  input [2:0] y;\n  output [6:0] w;\n"
        "  wire [5:0] p;\n  assign p = x * y;\n  assign w = { p, 1'h0 };\nendmodule\n"
    )
    return Side(read_netlist(text), "top")


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        ("w + 7'h1", "w | 7'h1", EQUAL),  # because the last bit is 0, which only the module shows
        ("w + w", "w << 1", EQUAL),  # for any output of the module
        ("w + 7'h2", "w | 7'h2", DIFFERENT),
    ],
)
def test_what_both_sides_have_in_common_may_matter(first: str, second: str, verdict: str) -> None:
    """A module before the difference is omitted from the first question, never from the last one."""
    found = compare(behind_a_module(first), behind_a_module(second), 10.0)
    assert found.verdict == verdict
    if verdict == DIFFERENT:
        w = found.inputs["x"] * found.inputs["y"] << 1
        assert found.outputs["z"] == ((w + 2) & 127, w | 2)
