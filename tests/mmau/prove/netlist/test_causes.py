"""Circuits that differ in one kind of sub-module: a difference is attributed to that sub-module, and never lost."""

import re

import pytest

from mmau.prove.netlist.equivalence import DIFFERENT, EQUAL, Comparison, Side, compare
from mmau.prove.netlist.expressions import NoTerm
from mmau.prove.netlist.verilog_text import read_netlist

PORTS = "  input [3:0] x;\n  input s;\n  output [3:0] z;\n"


def module(name: str, body: str) -> str:
    return f"module {name}(x, s, z);\n{PORTS}{body}\nendmodule\n"


def instance(name: str, of: str, x: str, s: str, z: str) -> str:
    return f"  {of} {name} (\n    .x({x}),\n    .s({s}),\n    .z({z})\n  );\n"


def wires(*names: str) -> str:
    return "".join(f"  wire [3:0] {name};\n" for name in names)


def compared(top: str, sound: str, mutated: str, others: str = "") -> Comparison:
    """A circuit with the one and with the other body of its module `part`."""
    first, second = (
        Side(read_netlist(module("top", top) + module("part", body) + others), "top") for body in (sound, mutated)
    )
    return compare(first, second, 10.0, within="part")


SOUND, MUTATED = (f"  wire [3:0] w;\n  assign w = x + 4'h{by};\n  assign z = s ? w : x;" for by in (1, 2))
"""With s, x and a little more: where s is 0 they are the same."""

ONE_OR_THE_OTHER = (
    f"{wires('p', 'q')}  wire t;\n{instance('first', 'part', 'x', 's', 'p')}  assign q = s ? x : p;\n  assign t = ~ s;\n"
    f"{instance('second', 'part', 'q', 't', 'z')}"
)
"""Two instances, of which one at a time differs; the second does not get the wrong output of the first."""


def test_a_second_instance_may_differ_where_the_first_does_not() -> None:
    found = compared(ONE_OR_THE_OTHER, SOUND, MUTATED)
    x, s = found.inputs["x"], found.inputs["s"]
    assert (found.verdict, s) == (DIFFERENT, 0)
    assert found.outputs["z"] == (x + 1 & 15, x + 2 & 15)


def test_so_may_what_is_inside_the_second_instance() -> None:
    """A module within the mutated one differs by its inputs."""
    sound, mutated = (
        "  wire [3:0] w;\n  wire [3:0] v;\n"
        f"  assign w = x + 4'h{by};\n  assign v = s ? w : x;\n{instance('inner', 'low', 'v', 's', 'z')}"
        for by in (1, 2)
    )
    found = compared(ONE_OR_THE_OTHER, sound, mutated, module("low", "  assign z = { s, x[2:0] };"))
    assert (found.verdict, found.inputs["s"]) == (DIFFERENT, 0)


def test_a_constant_that_is_another_is_a_cause_too() -> None:
    """The first instance always differs, and only the second can be hidden."""
    top = (
        f"{wires('p', 'q', 'r')}{instance('always', 'part', 'x', 's', 'p')}{instance('behind', 'mix', 'p', 's', 'q')}"
        "  assign r = q & 4'h1;\n  assign z = r;"
    )
    found = compared(top, "  assign z = 4'h8;", "  assign z = 4'h9;", module("mix", "  assign z = x + { 3'h0, s };"))
    assert found.verdict == DIFFERENT
    assert found.outputs["z"] == ((8 + found.inputs["s"]) & 1, (9 + found.inputs["s"]) & 1)


MASKED_EACH = (
    f"{wires('p', 'q', 'r')}{instance('first', 'part', 'x', 's', 'p')}{instance('mask', 'low', 'p', 's', 'q')}"
    f"{instance('second', 'part', 'q', 's', 'r')}{instance('again', 'low', 'r', 's', 'z')}"
)
MASKED_AT_THE_END = (
    f"{wires('p', 'q')}{instance('first', 'part', 'x', 's', 'p')}{instance('second', 'part', 'p', 's', 'q')}"
    f"{instance('mask', 'low', 'q', 's', 'z')}"
)


@pytest.mark.parametrize("top", [MASKED_EACH, MASKED_AT_THE_END])
@pytest.mark.parametrize(("mutated", "verdict"), [("x | 4'h8", EQUAL), ("x | 4'h4", DIFFERENT)])
def test_what_instances_give_wrongly_may_be_hidden_or_not(top: str, mutated: str, verdict: str) -> None:
    """A mask lets three bits through."""
    low = module("low", "  assign z = x & 4'h7;")
    assert compared(top, "  assign z = x;", f"  assign z = {mutated};", low).verdict == verdict


def test_outputs_of_other_widths_are_refused() -> None:
    """Such an output cannot be compared, so no difference could be attributed to it."""
    top, part = module("top", instance("only", "part", "x", "s", "z")), module("part", "  assign z = x;")
    whole = top + part
    sides = [Side(read_netlist(each), "top") for each in (whole, re.sub(r"(output|wire) \[3:0\] z", r"\1 [2:0] z", whole))]
    with pytest.raises(NoTerm, match=r"^only\.z has 4 bits and 3$"):
        compare(sides[0], sides[1], 1.0, within="part")
