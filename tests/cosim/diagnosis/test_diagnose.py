"""The change of the model that explains a design's results is named, and no other."""

from dataclasses import replace
from typing import Any
from zlib import crc32

import numpy as np
import pytest

import golden
from cosim.bench.mismatch import ComparedRow
from cosim.diagnosis import diagnose
from golden import Operation
from golden.chains.chain import product_order
from golden.stimulus import OperandShape, generate
from tests.cosim.diagnosis.designs import Design, compared, diagnosed, diagnosis, golden_results, split
from tests.cosim.diagnosis.faulty_designs import CASES, MORE, T, other_nan, stuck, unit


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_single_change_is_named(case: str) -> None:
    check(*CASES[case])


@pytest.mark.long
@pytest.mark.parametrize("case", MORE)
def test_single_change_of_any_operation_is_named(case: str) -> None:
    check(*MORE[case], count=6000)


def check(operation: Operation, design: Design, change: str, count: int = 1000) -> None:
    found = diagnosis(operation, design, count)
    assert found.cause is not None
    assert change in [cause.change for cause in found.causes], found.text()
    assert set(found.of) == {found.cause.change}
    assert (found.best, found.left_out) == ((), 0)
    assert str(found.cause).startswith(f"{found.cause.change}: explains all {found.mismatches:,} mismatches")


def test_design_that_no_change_explains() -> None:
    """Results that depend on all bits of the operands in no rule of the model: no cause is named."""

    def noise(operands: Any, expected: Any) -> list[int]:
        rows = zip(operands.a.tolist(), operands.b.tolist(), operands.c.tolist(), expected.tolist(), strict=True)
        return [d ^ (h & 0xFFFF if (h := crc32(repr((a, b, c)).encode())) % 3 else 0) for a, b, c, d in rows]

    found = diagnosis(T, noise)
    assert found.cause is None
    assert found.lines()[0] == f"diagnosis: no single change of the model explains all mismatches ({found.tried} tried)"
    assert (found.best, set(found.of)) == ((), {None})


@pytest.mark.slow
def test_two_bugs_at_once_are_named_separately() -> None:
    """Neither explains everything: each is named for the mismatches that it explains."""

    def both(operands: Any, expected: Any) -> Any:
        return other_nan(operands, golden_results(T.changed(F=23), operands))

    wrong, agreeing = compared(T, both, 1000)
    found = diagnosed(T, wrong, agreeing)
    assert found.cause is None
    assert {cause.change for cause in found.best[:2]} == {"NaN is 0x7fc00000, not 0x7fffffff", "F is 23, not 24"}
    named = {(row.expected == 0x7FFFFFFF, change) for row, change in zip(wrong, found.of, strict=True)}
    assert named == {(True, "NaN is 0x7fc00000, not 0x7fffffff"), (False, "F is 23, not 24")}
    assert sum(cause.explained for cause in found.best[:2]) == found.mismatches


@pytest.mark.slow
@pytest.mark.attack("designs by hand, in cosim")
def test_near_miss_is_no_hint() -> None:
    """F is one less but for a third of all c: that explains every mismatch, rows that agreed speak against it, and it is not
    named."""

    def mostly(operands: Any, expected: Any) -> Any:
        other = golden_results(T.changed(F=23), operands)
        return np.where(operands.c % 3 == 0, expected, other)

    found = diagnosis(T, mostly)
    assert (found.cause, found.best, found.located) == (None, (), ())
    assert set(found.of) == {None}
    assert found.lines() == [f"diagnosis: no single change of the model explains all mismatches ({found.tried:,} tried)"]


def test_rows_that_agreed_speak_against_a_change() -> None:
    """One mismatch alone many changes explain; the rows that agreed leave few of them."""
    wrong, agreeing = compared(T, unit(T, F=23), 1000)
    alone, with_others = diagnosed(T, wrong[:1]), diagnosed(T, wrong[:1], agreeing)
    assert len(with_others.causes) < len(alone.causes)
    assert with_others.causes[0].change == "F is 23, not 24"


@pytest.mark.slow
def test_order_of_an_instructions_steps() -> None:
    """Two steps of eight products: which of them takes which product shows, and is found."""
    instruction = golden.instruction("sm_80", "mma.m16n8k16.f32.f16.f16.f32")
    operands = generate(OperandShape.of(instruction), 1000, 7).operands
    order = product_order("even-odd", 16)
    expected = instruction.dot(*operands)
    got = instruction.dot(*operands._replace(a=operands.a[:, order], b=operands.b[:, order]))
    wrong, agreeing = split(instruction.operation, operands, got, expected)
    found = diagnosed(instruction, wrong, agreeing)
    assert found.cause is not None
    assert found.cause.change == "the elements of a and b are taken even ones first"


@pytest.mark.slow
def test_golden_itself_is_no_explanation() -> None:
    """A change that changes nothing on these rows explains none of them."""
    wrong, agreeing = compared(T, stuck, 300)
    assert all(cause.explained > 0 for cause in diagnosed(T, wrong, agreeing).causes)


@pytest.mark.slow
def test_undefined_bits_are_left_out() -> None:
    wrong, agreeing = compared(T, unit(T, F=23), 600)
    undefined = replace(wrong[0], got="X" * 32)
    found = diagnosed(T, [undefined, *wrong[1:]], agreeing)
    assert (found.mismatches, found.undefined) == (len(wrong), 1)
    assert found.of[0] is None
    assert found.cause is not None
    assert "  1 mismatches with undefined bits are left out" in found.lines()
    nothing = diagnosed(T, [undefined], agreeing)
    assert (nothing.cause, nothing.of) == (None, (None,))
    assert nothing.text() == "diagnosis: none, for every result has bits that are neither 0 nor 1"


def test_diagnosis_that_runs_out_of_time_says_so() -> None:
    wrong, agreeing = compared(T, unit(T, F=23), 300)
    found = diagnose(T, wrong, agreeing, seconds=0)
    assert (found.cause, found.tried) == (None, 0)
    assert found.left_out > 100
    assert f"  {found.left_out:,} further changes were not tried: the time was up" in found.lines()


@pytest.mark.slow
def test_row_that_agrees_by_a_waiver_speaks_against_nothing() -> None:
    """Where a design may have another NaN, its rows agree though golden's bits are others."""
    wrong, agreeing = compared(T, unit(T, F=23), 600)
    waived: list[ComparedRow] = [replace(row, got=0x7FC00000) if row.expected == 0x7FFFFFFF else row for row in agreeing]
    assert waived != agreeing
    found = diagnosed(T, wrong, waived)
    assert found.cause is not None
    assert found.cause.change == "F is 23, not 24"
