"""The corners of OC- and PS-FDPA reach the situations of their names, and show the faults that nothing else shows."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from golden.arithmetic.formats import BF16, E4M3, FP16, FP32, Cls, power_of_two
from golden.operations import OCFDPA, PSFDPA, TFDPA
from golden.operations.headroom_fdpa import HeadroomFDPA
from golden.stimulus import OperandShape, complete_rows, generate
from golden.stimulus.codes import lowest_lead
from golden.stimulus.corners.headroom import floored_tie_cases, opposed_cases
from golden.stimulus.shape import Stimulus
from tests.golden.stimulus.stimuli import exact_terms, only

KEYS: dict[str, Any] = {"L": 2, "F": 26, "h": 2}
UNITS: list[HeadroomFDPA] = [
    OCFDPA(a=FP16, b=FP16, c=FP16, rho="RNE-FP16", e_zero=-14, **KEYS),
    PSFDPA(a=FP16, b=FP16, c=FP16, rho="RNE-FP16", e_zero=-14, P=2, **KEYS),
    PSFDPA(a=BF16, b=BF16, c=FP32, rho="RNE-FP32", e_zero=-126, P=2, **KEYS),
]


def all_rows(unit: HeadroomFDPA, corner: str) -> Stimulus:
    """The corner's rows of a stream that has all cases."""
    shape = OperandShape.of_operation(unit)
    return only(generate(shape, complete_rows(shape), seed=2), corner)


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_opposed_infinities_are_of_both_signs_beside_a_nan(unit: HeadroomFDPA) -> None:
    stimulus = all_rows(unit, "opposed-infinities")
    assert len(stimulus) == opposed_cases(OperandShape.of_operation(unit)) > 0
    order = set()
    for a, b, c in zip(*(array.tolist() for array in stimulus.operands[:3]), strict=True):
        x, y, z = ([f.decode(code) for code in codes] for f, codes in ((unit.a, a), (unit.b, b), (unit.c, [c])))
        assert [p.cls for p in x] == [Cls.INFINITY, Cls.INFINITY]
        assert z[0].cls is Cls.NAN
        assert {q.cls for q in y} == {Cls.NORMAL}
        order.add(tuple(p.sign ^ q.sign for p, q in zip(x, y, strict=True)))
    assert order == {(0, 1), (1, 0)}


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_floored_ties_are_half_a_smallest_result_and_one_bit(unit: HeadroomFDPA) -> None:
    stimulus = all_rows(unit, "floored-ties")
    shape = OperandShape.of_operation(unit)
    assert len(stimulus) == floored_tie_cases(shape) > 0
    smallest, distances = power_of_two(lowest_lead(shape.d)), set()
    for row in range(len(stimulus)):
        *products, c = exact_terms(shape, stimulus, row)
        (product,) = [each for each in products if each]
        halves = 2 * abs(product) / smallest
        nearest = round(halves)
        assert nearest % 2 == 1
        assert abs(halves - nearest).numerator == 1
        distances.add((halves - nearest).denominator.bit_length() - 1)
        assert (Fraction(c) / smallest).denominator == 1
    assert distances >= set(range(2, shape.a.man_bits + shape.b.man_bits - 2))


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_floored_ties_show_the_exponent_of_a_zero(unit: HeadroomFDPA) -> None:
    stimulus = all_rows(unit, "floored-ties")
    for by in (-1, 1):
        other = replace(unit, e_zero=unit.e_zero + by)
        rows = zip(*(array.tolist() for array in stimulus.operands[:3]), strict=True)
        assert any(unit.step(*row) != other.step(*row) for row in rows)


def test_formats_that_reach_no_tie_have_no_floored_ties() -> None:
    shape = OperandShape.of_operation(PSFDPA(a=E4M3, b=E4M3, c=BF16, rho="RNE-FP32-RZ-BF16", e_zero=-126, P=2, **KEYS))
    assert floored_tie_cases(shape) == 0


def test_other_operations_have_neither_corner() -> None:
    shape = OperandShape.of_operation(TFDPA(a=FP16, b=FP16, c=FP32, L=4, F=24, rho="RZ-FP32", e_zero=-132))
    assert (opposed_cases(shape), floored_tie_cases(shape)) == (0, 0)
    assert opposed_cases(replace(shape, headroom=2)) > 0
    counts = generate(shape, complete_rows(shape), seed=0).counts()
    assert (counts["opposed-infinities"], counts["floored-ties"]) == (0, 0)
