"""Equality of two arithmetics: proved by a solver, or refuted by an input of both models."""

from typing import Any

import pytest

import golden
from golden.arithmetic.formats import Cls
from golden.operations import FMA
from golden.stimulus import Operands
from golden.units.unit_file import operation_from_table
from mmau.cli.distinguish import proved
from mmau.probe.distinguish import Side, differs, sides
from mmau.prove import deadline
from mmau.prove import equality as equality_module
from mmau.prove.decision import DIFFERENT, EQUAL, UNDECIDED
from mmau.prove.equality import candidates, equality
from mmau.prove.netlist.terms import Terms
from mmau.prove.solvers.answer import Answer
from mmau.prove.specification.numbers import Flag, Number
from tests.mmau.probe.devices import unit
from tests.mmau.prove.in_this_process import in_this_process
from tests.volume import one_in

SMALL: dict[str, Any] = {
    "operation": "T-FDPA", "a": "e2m1", "b": "e3m2", "c": "fp16", "L": 2, "F": 9, "rho": "RNE-FP16", "e_zero": -20,
}  # fmt: skip

IDPA: dict[str, Any] = {"operation": "IDPA", "a": "int8", "b": "uint8", "c": "int32", "L": 4}


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "watched", in_this_process)


def operation(**keys: Any) -> golden.Operation:
    return operation_from_table(SMALL | keys)


def compared(x: golden.Operation, y: golden.Operation, K: int) -> tuple[Side, Side]:
    """Both over K products."""
    first, second = sides(unit(x), unit(y))
    return tuple(Side(s.name, s.chain, s.shape.__class__(**{**vars(s.shape), "K": K})) for s in (first, second))  # type: ignore[return-value]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("x", "y"),
    [
        ({"F": 40}, {"F": 44}),
        pytest.param({"F": 44}, {"F": 40}, marks=pytest.mark.long),
        ({"F": 40, "sticky": True}, {"F": 40}),
        ({"F": 3, "rho": "RNE-FP32"}, {"F": 3, "rho": "RZ-FP32"}),
        ({"e_zero": -200}, {"e_zero": -300}),
        ({"F": 40, "truncation": "RD"}, {"F": 41}),
        pytest.param({"L": 16, "F": 40, "sticky": True}, {"L": 16, "F": 42}, marks=pytest.mark.long),
    ],
    ids=["F", "fewer F", "sticky", "rho", "e_zero", "truncation", "16 products"],
)
def test_keys_that_cannot_matter_are_proved_not_to(x: dict[str, Any], y: dict[str, Any]) -> None:
    assert equality([operation(**x)], [operation(**y)], 60.0).verdict == EQUAL


@pytest.mark.long
def test_another_operation_that_sums_exactly_gives_other_nans() -> None:
    exact = {key: value for key, value in SMALL.items() if key not in ("F", "e_zero")} | {"operation": "E-FDPA"}
    x, y = compared(operation_from_table(exact), operation(F=40), 2)
    row = proved(x, y, 60.0)
    assert isinstance(row, Operands)
    assert differs(x, y, row).all()
    assert x.shape.d.decode(int(x.run(row)[0]))[3] is Cls.NAN


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    one_in(3, [
        {"F": 10}, {"F": 8}, {"sticky": True}, {"rho": "RZ-FP16"}, {"rho": "RNA-FP16"}, {"e_zero": 0}, {"truncation": "RD"},
        {"truncation": "RO"}, {"flush_inputs": True}, {"flush_results": True}, {"overflow": "saturate"},
    ]),
    ids=str,
)  # fmt: skip
def test_an_input_of_both_models_where_one_key_matters(changes: dict[str, Any]) -> None:
    x, y = compared(operation(), operation(**changes), 2)
    row = proved(x, y, 60.0)
    assert isinstance(row, Operands), row
    assert differs(x, y, row).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keys", "verdict"), [({"overflow": "wrap"}, EQUAL), ({"overflow": "saturate"}, DIFFERENT)], ids=["wraps", "saturates"]
)
def test_steps_of_other_lengths_over_the_same_products(keys: dict[str, Any], verdict: str) -> None:
    short, long = operation_from_table(IDPA | keys), operation_from_table(IDPA | keys | {"L": 8})
    x, y = compared(short, long, 8)
    found = proved(x, y, 60.0)
    if verdict == EQUAL:
        assert found is True
    else:
        assert isinstance(found, Operands)
        assert differs(x, y, found).all()


def test_what_has_no_specification_is_not_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(equality_module, "unspecified", lambda operation: f"there is no specification of {operation.name}")
    fma = FMA(a="fp16", b="fp16", c="fp16")  # type: ignore[arg-type]
    assert equality([fma], [fma], 1.0).reason == "there is no specification of FMA"


@pytest.mark.slow
def test_without_an_answer_nothing_is_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither if every solver gives up, nor if none is installed."""
    monkeypatch.setattr(equality_module._Comparison, "_is_never", lambda self, formula: False)
    monkeypatch.setattr(equality_module, "solver", lambda name: lambda text, seconds: Answer("unknown", reason="too long"))
    x, y = operation(F=40), operation(F=41)
    found = equality([x], [y], 1.0)
    assert (found.verdict, found.reason) == (UNDECIDED, "no solver finished in time; cvc5: too long")
    monkeypatch.setattr(equality_module, "PACKAGES", {})
    assert equality([x], [y], 1.0).reason == "there is no solver"


def test_a_part_may_be_the_other_one_shifted() -> None:
    from bitwuzla import TermManager

    terms = Terms(TermManager())
    x = Number.read(terms, terms.free("x", 4), 0, 15, signed=False)
    wide = Number.read(terms, terms.free("y", 6), 0, 60, signed=False)
    assert [bits.width for bits in candidates(x, wide, [0, 2, -1])] == [6, 6, 6]
    signed = Number.read(terms, terms.free("z", 4), -8, 7, signed=True)
    assert len(candidates(signed, wide, [0, -1])) == 1
    assert candidates(Flag(terms, terms.free("f", 1)), wide, [0]) == []
    assert [bits.value for bits in candidates(Number.constant(terms, 3), wide, [2])] == [12]
