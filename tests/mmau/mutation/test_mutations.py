"""The mutations of a line by kind."""

import pytest

from mmau.mutation.mutations import changes
from mmau.mutation.sample import connection_changes
from mmau.prove.netlist.verilog_text import read_netlist

TEXT = """module top(x, y, rst, out_ready, z, sticky, out_valid);
  input [3:0] x;
  input [3:0] y;
  input rst;
  input out_ready;
  output [3:0] z;
  output sticky;
  output out_valid;
  wire more;
  wire [3:0] other;
  assign z = EXPRESSION;
  assign sticky = | x[1:0];
  assign more = x[0] & y[0];
  assign out_valid = rst ? 1'h0 : more;
  part first (
    .a(x),
    .b(y),
    .z(other)
  );
  part second (
    .a(other),
    .b(x)
  );
endmodule
module part(a, b, z);
  input [3:0] a;
  input [3:0] b;
  output [3:0] z;
  assign z = a ^ b;
endmodule
"""


def found(expression: str, line: int = 0, step: str = "align") -> dict[str, list[str]]:
    """The texts of every mutation of one of the lines, by kind; bit 2 where one is drawn."""
    module = read_netlist(TEXT.replace("EXPRESSION", expression))["top"]
    kinds: dict[str, list[str]] = {}
    for change in changes(module, step, module.assignments[line], lambda below: min(2, below - 1)):
        kinds.setdefault(change.kind, []).append(" ".join(change.after.split()))
    return kinds


@pytest.mark.parametrize(
    ("expression", "kind", "texts"),
    [
        ("x + y", "operator", ["x - y"]),
        ("x & y", "operator", ["x | y", "x ^ y"]),
        ("x > y", "operator", ["x >= y", "x < y"]),
        ("~ x", "operator", ["x"]),
        ("| x", "reduction", ["^ x", "& x"]),
        ("x + 4'h3", "constant", ["x + 4'h4", "x + 4'h2"]),
        ("{ x[1:0], 2'h0 } & y", "constant", ["{ x[1:0], 2'h1 } & y", "{ x[1:0], 2'h3 } & y"]),
        ("x + y", "stuck bit", ["$value & 4'hb", "$value | 4'h4"]),
        ("x + y", "shifted bits", ["$value << 1", "$value >> 1"]),
        ("$signed(x) + $signed(y)", "signedness", ["x + y"]),
        ("x[0] ? x : y", "branches", ["x[0] ? y : x"]),
        ("x[0] ? x : y", "operand", ["x", "y"]),
        ("x ^ y", "operand", ["x", "y"]),
        ("| { x[0], x[1], y }", "operand", ["| { x[1], y }", "| { x[0], x[1] }"]),
    ],
)
def test_kinds(expression: str, kind: str, texts: list[str]) -> None:
    assert found(expression)[kind] == texts


def test_a_slice_moves_both_ways_as_far_as_the_wire_goes() -> None:
    assert found("x[2:1] + y")["shifted bits"][:2] == ["x[3:2] + y", "x[1:0] + y"]
    assert found("x[3:1] + y")["shifted bits"][0] == "x[2:0] + y"


def test_a_sticky_bit_is_dropped() -> None:
    assert found("x + y", line=1)["sticky"] == ["1'h0"]
    assert "sticky" not in found("x + y")


def test_reset_is_lost_and_not_its_value() -> None:
    kinds = found("x + y", line=3)
    assert (kinds["reset"], "operand" in kinds) == (["more"], False)
    assert kinds["handshake"] == ["1'h0", "1'h1", "! $value"]


def test_rounding_is_mutated_in_its_step_alone() -> None:
    assert found("x + y", line=2, step="round")["rounding"] == ["1'h0", "1'h1", "! $value", "x[0]", "y[0]"]
    assert "rounding" not in found("x + y", line=2)


def test_connections_come_from_the_neighbour_unless_that_closes_a_loop() -> None:
    """`other` depends on the first instance, so that its inputs cannot be that; the second one's can be the first one's."""
    modules = read_netlist(TEXT.replace("EXPRESSION", "x + y"))
    first, second = (
        {
            (connection.port, change.after)
            for connection, change in connection_changes(modules["top"], modules, instance, lambda below: 0)
            if change.kind == "connection"
        }
        for instance in modules["top"].instances
    )
    assert first == {("a", "y"), ("b", "x")}
    assert second == {("a", "x"), ("b", "y"), ("b", "other")}
