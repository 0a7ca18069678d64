"""Values of one transfer's operands have a stage; values that mix transfers, or are not held, have none."""

import pytest

from mmau.mutation.sample import Mutant
from mmau.mutation.schemata import with_schemata
from mmau.mutation.surviving_mutants import NoStage, Stages, enables_of_one_transfer
from mmau.mutation.unit_work import TOP
from mmau.prove.netlist.equivalence import reset_registers
from mmau.prove.netlist.syntax import Module
from mmau.prove.netlist.verilog_text import read_netlist

PIPELINE = """
module unit(a, c, in_valid, out_ready, clk, rst, d, in_ready, out_valid);
  input [3:0] a;
  input [3:0] c;
  input in_valid;
  input out_ready;
  input clk;
  input rst;
  output [3:0] d;
  reg [3:0] d;
  output in_ready;
  wire in_ready;
  output out_valid;
  reg out_valid;
  reg valid_first;
  reg [3:0] first_a;
  reg [3:0] first_c;
  reg [3:0] unread;
  wire [3:0] next_a;
  wire [3:0] next_c;
  wire [3:0] next_unread;
  wire [3:0] next_d;
  wire next_first;
  wire next_out;
  wire kept_first;
  wire kept_out;
  wire is_empty;
  wire is_free;
  wire takes;
  wire [3:0] total;
  always @(posedge clk)
    valid_first <= next_first;
  always @(posedge clk)
    out_valid <= next_out;
  always @(posedge clk)
    first_a <= next_a;
  always @(posedge clk)
    first_c <= next_c;
  always @(posedge clk)
    unread <= next_unread;
  always @(posedge clk)
    d <= next_d;
  assign is_empty = ~ out_valid;
  assign takes = is_empty | out_ready;
  assign is_free = ~ valid_first;
  assign in_ready = is_free | takes;
  assign kept_first = in_ready ? in_valid : valid_first;
  assign next_first = rst ? 1'h0 : kept_first;
  assign kept_out = takes ? valid_first : out_valid;
  assign next_out = rst ? 1'h0 : kept_out;
  assign next_a = in_ready ? a : first_a;
  assign next_c = in_ready ? c : first_c;
  assign next_unread = in_ready ? c : unread;
  assign next_d = takes ? total : d;
  adder sum (
    .x(first_a),
    .y(first_c),
    .z(unread),
    .s(total)
  );
endmodule

module adder(x, y, z, s);
  input [3:0] x;
  input [3:0] y;
  input [3:0] z;
  output [3:0] s;
  wire [3:0] s;
  assign s = x + y;
endmodule
"""
"""Two stages, with an adder between them that ignores an input."""

BOTH = ("in_ready", "takes")


def enables(before: str, after: str, pipeline: str = PIPELINE) -> tuple[str, ...] | None:
    """The enables of the result if a text, which occurs in one line, is mutated."""
    plain = read_netlist(pipeline)
    [(line, place)] = places(plain[TOP], before)
    mutant = Mutant(1, "operand", "top", TOP, place, line, before, after)
    modules = read_netlist(with_schemata(pipeline, plain, [mutant]))
    return enables_of_one_transfer(modules, TOP, 1, reset_registers(plain[TOP]))


def places(module: Module, text: str) -> list[tuple[int, str]]:
    """Line and name of each assignment of a text, and of each connection."""
    found = [(each.line, each.target.text) for each in module.assignments if each.expression.text == text]
    connections = [each for instance in module.instances for each in instance.connections]
    return found + [(each.line, each.port) for each in connections if each.operand and each.operand.text == text]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("first_a", "first_c"),
        ("first_a", "4'h5"),
        ("in_ready ? a : first_a", "in_ready ? c : first_a"),
        ("in_ready ? a : first_a", "in_ready ? 4'h5 : first_a"),
        ("in_ready ? a : first_a", "4'h5"),
        ("in_ready ? a : first_a", "$value & 4'h7"),
        ("takes ? total : d", "$value | 4'h1"),
        ("in_ready ? c : unread", "c"),
        ("in_ready ? c : unread", "in_ready ? unread : c"),
    ],
)
def test_a_mutation_within_a_stage_or_of_what_nothing_reads(before: str, after: str) -> None:
    assert enables(before, after) == BOTH


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("takes ? total : d", "total"),
        ("takes ? total : d", "d"),
        ("takes ? total : d", "takes ? d : total"),
        ("takes ? total : d", "in_ready ? total : d"),
        ("takes ? total : d", "takes ? total : 4'h0"),
        ("takes ? total : d", "takes ? first_a : first_a"),
        ("takes ? total : d", "takes ? a : d"),
        ("takes ? total : d", "$value << 1"),
        ("takes ? total : d", "$value ^ 4'h1"),
        ("in_ready ? c : first_c", "c"),
        ("in_ready ? c : first_c", "takes ? c : first_c"),
        ("in_ready ? c : first_c", "takes ? 4'h0 : first_c"),
        ("in_ready ? c : first_c", "in_ready ? first_a : first_c"),
        ("in_ready ? c : first_c", "in_ready ? d : first_c"),
        ("in_ready ? c : first_c", "out_valid ? c : first_c"),
        ("in_ready ? a : first_a", "in_ready ? { 3'h0, in_valid } : first_a"),
        ("first_c", "c"),
        ("first_c", "d"),
        ("first_c", "{ 3'h0, valid_first }"),
        ("first_c", "unread + c"),
    ],
)
def test_a_value_that_is_not_held_and_a_read_across_registers(before: str, after: str) -> None:
    """Among them a register under another enable, and one whose constant comes with it."""
    assert enables(before, after) is None


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ("is_empty | out_ready", "is_empty | a[0]", "in_ready depends on a"),
        ("valid_first : out_valid", "valid_first : d[0]", "next_out depends on d"),
    ],
)
def test_control_signals_depend_on_control_signals(before: str, after: str, why: str) -> None:
    pipeline = PIPELINE.replace(before, after)
    modules = read_netlist(pipeline)
    with pytest.raises(NoStage, match=why):
        Stages(modules, TOP, 0, reset_registers(read_netlist(PIPELINE)[TOP])).check_controls(BOTH)
    assert enables("first_a", "first_c", pipeline) is None


def test_a_module_inside_has_no_registers() -> None:
    wire, register = "  wire [3:0] s;\n  assign s = x + y;", "  reg [3:0] s;\n  always @(posedge clk)\n    s <= x;"
    pipeline = PIPELINE.replace(wire, register)
    assert enables("first_a", "first_c", pipeline) is None


def test_a_register_with_a_constant_is_of_the_stage_of_others_under_its_enable() -> None:
    """Without a mutation too: before the enable it holds something else."""
    constant = PIPELINE.replace("in_ready ? c : first_c", "in_ready ? 4'h0 : first_c")
    assert enables("first_a", "first_c", constant) == BOTH
    alone = constant.replace("in_ready ? a : first_a", "takes ? a : first_a").replace("in_ready ? c : u", "takes ? c : u")
    assert enables("first_a", "first_c", alone) is None
