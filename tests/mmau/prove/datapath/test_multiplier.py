"""Multipliers of rows: proved alone and in the sum of an FMA; a faulty row, compressor or adder is refuted."""

from collections.abc import Callable
from typing import Any

import pytest

from golden import Operation, Unit
from golden.units.unit import MULTIPLIERS
from mmau.prove.counterexample import vector
from mmau.prove.datapath.multiplier import MultiplierProof
from mmau.prove.datapath.unit_questions import unit_questions
from tests.mmau.prove.datapath.test_unit_questions import faulty
from tests.mmau.prove.provable_units import OPERATIONS, SMALL_FMA, SMALL_TR, not_proved, unit_of, verilog_of
from tests.volume import one_in

SECONDS = 30.0

IN_ROWS = MULTIPLIERS[1:]

NARROW = next(o for o in OPERATIONS if str(o.a) == "e4m3" and str(o.b) == "e5m2").changed(L=1)
"""Significands of four and three bits, so that there are digits."""

SHORTER_FIRST = NARROW.changed(a=NARROW.b, b=NARROW.a)


def with_rows(operation: Operation, multiplier: str, **keys: str) -> Unit:
    return unit_of(operation, multiplier=multiplier, **keys)


@pytest.mark.slow
@pytest.mark.parametrize(
    "operation", one_in(2, [NARROW, SHORTER_FIRST]), ids=lambda operation: f"{operation.a} {operation.b}"
)
@pytest.mark.parametrize("multiplier", IN_ROWS)
def test_a_small_unit_is_proved(operation: Operation, multiplier: str) -> None:
    unit = with_rows(operation, multiplier)
    names = {each.name for each in unit_questions(unit) if each.name.startswith("multiply_0")}
    assert {f"multiply_0 {part}" for part in ("bits", "distributed", "partial products", "last adder")} <= names
    assert not_proved(unit) == []


@pytest.mark.long
@pytest.mark.parametrize("multiplier", IN_ROWS)
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: f"{operation.name} {operation.a} {operation.b}")
def test_units_are_proved(operation: Operation, multiplier: str) -> None:
    assert not_proved(with_rows(operation, multiplier, adder="sklansky")) == []


@pytest.mark.long
@pytest.mark.parametrize("multiplier", IN_ROWS)
def test_rows_in_the_sum_of_an_fma_are_exact(multiplier: str) -> None:
    names = {each.name for each in unit_questions(with_rows(SMALL_FMA, multiplier))}
    assert {"multiply_0 fits", "multiply_0 last rows", "sum_align_0 exact", "sum_accumulate rows"} <= names
    assert not_proved(with_rows(SMALL_FMA, multiplier)) == []


FAULTS = {
    "a partial product": ("carry-save", r"(assign partial_0_1\S* = )y__sig\[1\]", r"\1y__sig[0]", NARROW),
    "a compressor": ("carry-save", r"(assign partial_1_0\S* = .*) \^ ", r"\1 | ", NARROW),
    "a digit": ("booth", r"(assign one_1 = .*) \^ ", r"\1 & ", NARROW),
    "the last adder": ("booth", r"(assign carry_up_1_3 = .*) \| ", r"\1 & ", NARROW),
    "a row of an overflowing product": ("carry-save", r"(assign partial_0_1\S* = .__sig)\[1\]", r"\1[0]", SMALL_TR),
}
"""A multiplier, a pattern of its Verilog, what it becomes in the first place where it stands, and the operation."""


@pytest.mark.slow
@pytest.mark.parametrize("fault", one_in(2, FAULTS))
@pytest.mark.attack("faults of a netlist or a specification, in prove")
def test_a_fault_is_refuted_and_replayed(fault: str) -> None:
    multiplier, pattern, becomes, operation = FAULTS[fault]
    unit = with_rows(operation, multiplier)
    verilog = faulty(verilog_of(operation, multiplier=multiplier), pattern, becomes, "multiply")
    names = not_proved(unit, verilog)
    found = next(filter(None, (vector(unit, verilog, name, SECONDS) for name in dict.fromkeys(names))), None)
    assert found is not None, names
    assert found.got != found.expected


@pytest.mark.long
@pytest.mark.attack("faults of a netlist or a specification, in prove")
def test_rows_that_are_not_their_product_are_refuted() -> None:
    """The highest place of the rows: a one that the sum of an FMA takes away again."""
    fault = (r"(assign prod__carry\[22\] = \S+) \| ", r"\1 & ", "multiply")
    wrong = faulty(verilog_of(SMALL_FMA, multiplier="booth"), *fault)
    assert "multiply_0 last rows" in not_proved(with_rows(SMALL_FMA, "booth"), wrong)


def _without(name: str) -> Callable[..., Any]:
    sound = MultiplierProof._fact

    def fact(self: MultiplierProof, called: str, *rest: Any) -> Any:
        made = sound(self, called, *rest)
        return [] if called == name else made

    return fact


@pytest.mark.long
@pytest.mark.parametrize("name", ["bit", "bits", "partial products", "rows", "carried over", "sum of rows"])
def test_every_part_of_the_argument_is_needed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MultiplierProof, "_fact", _without(name))
    assert not_proved(with_rows(NARROW, "carry-save"))


@pytest.mark.long
@pytest.mark.parametrize("name", ["fits", "below", "groups", "layer"])
def test_rows_without_a_bound_are_not_shown_to_be_exact(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MultiplierProof, "_fact", _without(name))
    assert not_proved(with_rows(SMALL_FMA, "booth"))
