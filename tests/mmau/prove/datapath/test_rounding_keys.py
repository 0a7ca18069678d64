"""Narrowing normalisers, compound roundings and long accumulators: proved, and refuted where they are faulty."""

import pytest

from golden import Operation
from mmau.prove.counterexample import vector
from tests.mmau.prove.datapath.test_unit_questions import faulty
from tests.mmau.prove.provable_units import OPERATIONS, SMALL, SMALL_FMA, not_proved, unit_of, verilog_of
from tests.volume import one_in

SECONDS = 30.0

LATER = {"normaliser": "narrowing", "rounder": "compound", "accumulator": "long"}

EXACT = next(operation for operation in OPERATIONS if operation.name == "E-FDPA")


@pytest.mark.slow
@pytest.mark.parametrize("anticipated", one_in(2, [{}, {"leading_zeros": "anticipate"}]), ids=["counted", "anticipated"])
@pytest.mark.parametrize("operation", [SMALL, EXACT], ids=lambda operation: operation.name)
def test_a_small_unit_is_proved(operation: Operation, anticipated: dict[str, str]) -> None:
    assert not_proved(unit_of(operation, **LATER, **anticipated)) == []


@pytest.mark.long
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: f"{operation.name} {operation.a} {operation.b}")
def test_units_are_proved(operation: Operation) -> None:
    assert not_proved(unit_of(operation, **LATER)) == []


FAULTS = {
    "what a narrowing normaliser drops": (SMALL, "normaliser", r"(assign sticky = .*) \| ", r"\1 & ", "normalise"),
    "a distance of a narrowing normaliser": (SMALL_FMA, "normaliser", r"(assign left_1 = left\[)1", r"\g<1>0", "normalise"),
    "the choice of a compound rounding": (SMALL, "rounder", r"(assign .* = norm\[\d+\]) & ", r"\1 | ", "round"),
    "a place in a long accumulator": (EXACT, "accumulator", r" >> ", " << ", "align"),
}
"""An operation, the key that is not the default, a pattern of the Verilog, what it becomes where it first stands, and the
module."""


@pytest.mark.slow
@pytest.mark.parametrize("fault", one_in(2, FAULTS))
@pytest.mark.attack("faults of a netlist or a specification, in prove")
def test_a_fault_is_refuted_and_replayed(fault: str) -> None:
    operation, key, pattern, becomes, module = FAULTS[fault]
    unit = unit_of(operation, **{key: LATER[key]})
    verilog = faulty(verilog_of(operation, **{key: LATER[key]}), pattern, becomes, module)
    names = not_proved(unit, verilog)
    found = next(filter(None, (vector(unit, verilog, name, SECONDS) for name in dict.fromkeys(names))), None)
    assert found is not None, names
    assert found.got != found.expected
