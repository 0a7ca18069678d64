"""The reader of the Verilog that Yosys writes."""

import re

import pytest

from golden import Implementation, Unit
from golden.units.unit_file import operation_from_table
from mmau.prove.netlist.equivalence import Side, compare
from mmau.prove.netlist.expressions import NoTerm
from mmau.prove.netlist.syntax import Binary, Choice, Constant, Slice
from mmau.prove.netlist.verilog_text import UnreadableVerilog, read_netlist
from rtl.verilog.emit import to_verilog

UNITS = [
    Unit(
        name="pipeline",
        operation=operation_from_table(
            {
                "operation": "T-FDPA", "a": "e4m3", "b": "e5m2", "c": "fp16", "L": 2, "F": 10, "rho": "RNE-FP16",
                "e_zero": -21, "sticky": True,
            }
        ),
        implementation=Implementation(stages=2, encoding="twos-complement", max_exp="pairwise", leading_zeros="anticipate"),
    ),
    Unit(
        name="blocks",
        operation=operation_from_table(
            {
                "operation": "GST-FDPA", "a": "e2m1", "b": "e2m1", "c": "fp32", "L": 4, "F": 35, "rho": "RZ-FP32",
                "e_zero": -139, "G": 2, "K_block": 2, "scale": "ue4m3",
            }
        ),
    ),
]  # fmt: skip

FILE = """module top(x, y, z);
  input [3:0] x;
  wire [3:0] x;
  input signed [3:0] y;
  wire signed [3:0] y;
  output [4:0] z;
  wire [4:0] z;
  wire \\$1 ;
  reg [4:0] kept;
  assign \\$1  = x > 4'h3;
  assign z = \\$1  ? y : kept;
endmodule
"""


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS, ids=[unit.name for unit in UNITS])
def test_every_statement_is_read_and_written_back_alike(unit: Unit) -> None:
    text = to_verilog(unit)
    lines = text.splitlines()
    modules = read_netlist(text)
    assert next(iter(modules)) == "unit"
    assert sum(len(module.assignments) for module in modules.values()) == text.count("  assign ")
    assert sum(len(module.registers) for module in modules.values()) == len(
        re.findall(r"^    .* <= .*;$", text, re.MULTILINE)
    )
    assert sum(len(module.instances) for module in modules.values()) == len(
        re.findall(r"^  \w+ \w+ \($", text, re.MULTILINE)
    )
    for module in modules.values():
        for assignment in module.assignments:
            written = f"  assign {assignment.target.text} = {assignment.expression.text};"
            assert lines[assignment.line - 1] == written
        assert lines[module.end - 1] == "endmodule"
        assert lines[module.line - 1].endswith(");")
        assert set(module.ports) == set(module.directions)


def test_operands_have_their_widths() -> None:
    module = read_netlist(FILE)["top"]
    first, second = module.assignments
    assert first.expression == Binary(">", Slice("x", 3, 0, True), Constant("4'h3", 4, 3))
    assert isinstance(second.expression, Choice)
    assert [operand.width for operand in second.expression.operands] == [1, 4, 5]
    assert (second.target.width, module.signed, module.width("kept")) == (5, {"y"}, 5)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x + y + x", "line 10: more than one operator in an expression: assign \\$1  = x + y + x;"),
        ("w", "line 10: w is not declared: assign \\$1  = w;"),
        ("x[y]", "line 10: a bit that is chosen by a signal: assign \\$1  = x[y];"),
        ("x # y", "line 10: # is not of an expression: assign \\$1  = x # y;"),
        ("{ x", "line 10: the end in a concatenation: assign \\$1  = { x;"),
        ("f(x)", "line 10: f is not declared: assign \\$1  = f(x);"),
    ],
)
def test_other_verilog_is_refused(line: str, message: str) -> None:
    with pytest.raises(UnreadableVerilog, match=f"^{re.escape(message)}$"):
        read_netlist(FILE.replace("x > 4'h3", line))


@pytest.mark.parametrize("text", ["", "module top(a);\n  input a;\n"])
def test_a_file_without_a_whole_module_is_refused(text: str) -> None:
    with pytest.raises(UnreadableVerilog, match=r"^there is no whole module in it$"):
        read_netlist(text)


BUFFER = "module buffer(x, y);\n  input x;\n  output y;\n  assign y = x;\nendmodule\n"

TOP = (
    BUFFER + "module top(a, b, d);\n  input a;\n  input b;\n  output [1:0] d;\n"
    "  buffer one (\n    .x(a),\n    .y(d[0])\n  );\n  buffer other (\n    .x(b),\n    .y(d[1])\n  );\nendmodule\n"
)


@pytest.mark.parametrize(
    ("there", "instead", "message"),
    [
        ("  input b;\n", "  input b;\n  output b;\n", "line 9: b is declared with another direction before"),
        ("buffer other", "buffer one", "line 14: a second instance one"),
        ("    .x(b),\n", "    .x(b),\n    .x(a),\n", "line 16: a second connection of x"),
        (
            "  buffer one",
            "  (* x *) assign d[1] = a; (* y *)\n  buffer one",
            "line 10: a statement that Yosys does not write",
        ),
        (
            "  buffer one",
            "  /* x */ assign d[1] = a; /* y */\n  buffer one",
            "line 10: a statement that Yosys does not write",
        ),
    ],
)
def test_no_statement_is_passed_over(there: str, instead: str, message: str) -> None:
    read_netlist(TOP)
    with pytest.raises(UnreadableVerilog, match=f"^{re.escape(message)}"):
        read_netlist(TOP.replace(there, instead))


@pytest.mark.parametrize("line", ["(* a *)", "(* a *) (* b *)", "/* a */ // b", '(* src = "a.py:1" *)', "  // (* a *) b"])
def test_attributes_and_comments_are_no_statements(line: str) -> None:
    assert read_netlist(TOP.replace("  input b;\n", f"  input b;\n  {line}\n")).keys() == {"buffer", "top"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("there", "instead", "message"),
    [
        ("  buffer one", "  assign b = a;\n  buffer one", "b, an input of top, is driven inside of it"),
        ("    .y(d[0])", "    .y(b)", "b, an input of top, is driven inside of it"),
        ("    .x(b),\n", "    .x(b),\n    .z(b),\n", "other is connected at z, which buffer does not have"),
        ("output [1:0] d;\n", "output [1:0] d;\n  assign d[0] = b;\n", "bits of d in top are driven twice"),
    ],
)
def test_what_is_driven_elsewhere_too_has_no_term(there: str, instead: str, message: str) -> None:
    side = Side(read_netlist(TOP), "top")
    assert compare(side, side, 1).verdict == "equal"
    with pytest.raises(NoTerm, match=f"^{re.escape(message)}$"):
        compare(side, Side(read_netlist(TOP.replace(there, instead)), "top"), 1)
