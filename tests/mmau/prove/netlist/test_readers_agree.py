"""Verilog read as text and by Yosys: both give the same circuit, for all inputs and all states."""

import json
from collections.abc import Mapping
from random import Random
from typing import Any

import bitwuzla
import pytest

from golden import Unit
from mmau.prove.netlist.circuit import Circuit, Setting
from mmau.prove.netlist.flat_netlist import FlatNetlist
from mmau.prove.netlist.syntax import Module
from mmau.prove.netlist.terms import Bits, Terms, deep_stack
from mmau.prove.netlist.verilog_text import read_netlist
from mmau.prove.netlist.yosys_json import read_circuit
from rtl.designs.design import Design
from rtl.designs.sample_units import multi_format_designs
from rtl.designs.unit_design import UnitDesign
from rtl.verilog.emit import to_verilog
from rtl.yosys import run_yosys
from tests.mmau.prove.netlist.test_expressions import expression, module
from tests.mmau.prove.pipeline.designs import piped, small_tile
from tests.mmau.prove.provable_units import OPERATIONS
from tests.volume import one_in

pytestmark = pytest.mark.slow

READ = "read_verilog made.v; proc; flatten; write_json made.json"
"""Yosys changes nothing but that."""

EXPRESSIONS = 400


def by_yosys(verilog: str) -> dict[str, Any]:
    """The modules of a file in JSON, flat."""
    modules: dict[str, Any] = json.loads(run_yosys(READ, ("made.json",), {"made.v": verilog})["made.json"])["modules"]
    return modules


def registers_of(circuit: dict[str, Any], named: Mapping[str, Bits]) -> dict[str, str]:
    """The name of each register in the text, by its name in the JSON: the name of a wire that is the register's output."""
    plain = {name.replace("\\", ""): name for name in named}
    found = {}
    for cell, bits in (
        (name, cell["connections"]["Q"]) for name, cell in circuit["cells"].items() if cell["type"] == "$dff"
    ):
        names = {name for name, net in circuit["netnames"].items() if net["bits"] == bits}
        (found[f"{cell}.Q"],) = (plain[name] for name in names & plain.keys())
    return found


def both(terms: Terms, modules: Mapping[str, Module], top: str, circuit: dict[str, Any]) -> list[tuple[str, Bits, Bits]]:
    """The outputs and next states of the text and of the JSON, with the same variables."""
    states = dict[str, Bits]()
    ports = modules[top].directions.items()
    inputs = {name: terms.free(name, modules[top].width(name)) for name, side in ports if side == "input"}
    text = Circuit.of_top(Setting(terms, modules, states=states), modules[top], inputs)
    outputs, after = text.outputs(), text.next_states()
    registers = registers_of(circuit, after)
    assert sorted(registers.values()) == sorted(after)
    shared = inputs | {mine: states[its] for mine, its in registers.items() if its in states}
    flat = FlatNetlist(terms, {top: read_circuit(top, circuit)}, top, shared)
    assert flat.outputs.keys() == outputs.keys()
    assert flat.after.keys() == registers.keys()
    pairs = [(name, bits, flat.outputs[name]) for name, bits in outputs.items()]
    return pairs + [(f"next {its}", after[its], flat.after[mine]) for mine, its in registers.items()]


def differing(terms: Terms, pairs: list[tuple[str, Bits, Bits]]) -> list[str]:
    """The names of outputs and registers that are not proved to be equal."""
    found = []
    for name, one, other in pairs:
        assert one.width == other.width
        if one.term == other.term:
            continue
        solver = bitwuzla.Bitwuzla(terms.manager, bitwuzla.Options())
        solver.assert_formula(terms.differs(one, other))
        if solver.check_sat() != bitwuzla.Result.UNSAT:
            found.append(name)
    return found


@pytest.mark.parametrize("seed", [11, 12])
def test_every_operator_is_read_alike(seed: int) -> None:
    random = Random(seed)
    verilog = module({f"z{k}": (random.randrange(1, 10), expression(random)) for k in range(EXPRESSIONS)})
    circuit = by_yosys(verilog)["top"]
    with deep_stack() as manager:
        pairs = both(Terms(manager), read_netlist(verilog), "top", circuit)
        assert len(pairs) == EXPRESSIONS
        assert differing(Terms(manager), pairs) == []
        del pairs


DESIGNS: dict[str, Design] = {
    "tile": small_tile(),
    "pipeline": piped(3),
    "formats": multi_format_designs()[1],
    **{f"operation_{k}": UnitDesign(Unit(name="unit", operation=OPERATIONS[k])) for k in (3, 6, 16, 18)},
}


@pytest.mark.parametrize("name", one_in(3, DESIGNS))
def test_a_design_is_read_alike(name: str) -> None:
    verilog = to_verilog(DESIGNS[name], name)
    circuit = by_yosys(verilog)[name]
    with deep_stack() as manager:
        pairs = both(Terms(manager), read_netlist(verilog), name, circuit)
        assert len(pairs) >= 1 + 3 * DESIGNS[name].implementation.stages
        assert differing(Terms(manager), pairs) == []
        del pairs


@pytest.mark.parametrize(
    ("there", "instead"),
    [("$signed(b) + 7'h01", "b[3:0] + 7'h01"), ("a > 4'h7", "a >= 4'h7"), ("c ? a : 4'h3", "c ? a : 4'h2")],
)
def test_a_difference_is_seen(there: str, instead: str) -> None:
    texts = ["$signed(b) + 7'h01", "a > 4'h7", "c ? a : 4'h3"]
    verilog = module({f"z{k}": (8, text) for k, text in enumerate(texts)})
    circuit = by_yosys(verilog)["top"]
    with deep_stack() as manager:
        pairs = both(Terms(manager), read_netlist(verilog.replace(there, instead)), "top", circuit)
        assert differing(Terms(manager), pairs) == [f"z{texts.index(there)}"]
        del pairs
