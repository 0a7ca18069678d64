"""Exact results of many rows against fractions, one row after the other."""

from fractions import Fraction

import numpy as np
import pytest

from golden.arithmetic.format import power_of_two
from golden.arithmetic.formats import FP16, FP32, FP64, Format
from golden.arrays import bits_dtype
from golden.stimulus import CLASSES, GeneratorDraws, Operands, OperandShape
from golden.units.unit import Unit
from mmau.explore.accuracy.exact_sums import MAX_K, MINUS_INFINITY, NOT_A_NUMBER, PLUS_INFINITY, Exact, exact_results
from tests.mmau.explore.accuracy.measured_units import UNITS, by_fractions

NEAR = Fraction(1, 2**104)


def drawn(shape: OperandShape, name: str, rows: int, seed: int) -> Operands:
    """Rows of a class."""
    return CLASSES[name](shape, GeneratorDraws(np.random.default_rng(seed)), rows, ())


def stored(exact: Exact, row: int) -> Fraction:
    """The recorded values of a row's result."""
    return (Fraction(exact.hi[row]) + Fraction(exact.lo[row])) * power_of_two(int(exact.lead[row]))


def wrong_rows(shape: OperandShape, operands: Operands) -> tuple[int, int]:
    """Rows whose exact result or magnitude is not that of fractions, and how many were compared."""
    exact, wrong, compared = exact_results(shape, operands), 0, 0
    for row in range(len(operands.c)):
        wanted = by_fractions(shape, operands, row)
        assert (wanted is None) == bool(exact.special[row])
        if wanted is None:
            continue
        compared += 1
        total, magnitude = wanted
        kept = Fraction(exact.magnitude[row]) * power_of_two(int(exact.magnitude_lead[row]))
        good = abs(stored(exact, row) - total) <= NEAR * abs(total)
        good &= (1 <= abs(exact.hi[row]) <= 2 and abs(exact.lo[row]) <= 2.0**-53) if total else not exact.lead[row]
        good &= abs(magnitude - kept) <= magnitude * Fraction(1, 2**53)
        wrong += not good
    return wrong, compared


@pytest.mark.slow
@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("unit", UNITS.values(), ids=lambda unit: unit.name)
def test_exact_results_are_those_of_fractions(unit: Unit, name: str) -> None:
    shape = OperandShape.of(unit)
    wrong, compared = wrong_rows(shape, drawn(shape, name, 40, 1))
    assert wrong == 0
    assert compared >= 4


def test_sums_over_the_whole_range_of_fp64_are_exact() -> None:
    """2^1023·2^1023 beside 2^−1074·2^−1074: more than 4,000 bits, of which 104 are kept."""
    shape = OperandShape(a=FP64, b=FP64, c=FP64, d=FP64, K=3)
    largest, least = FP64.max_finite, 1
    a = np.array([[largest, largest, least], [largest, 0, least], [least, least, 0]], np.uint64)
    b = np.array([[largest, largest ^ (1 << 63), least], [largest, 0, least], [least, least, 0]], np.uint64)
    c = np.array([0, 1, 0], np.uint64)
    assert wrong_rows(shape, Operands(a, b, c, None, None)) == (0, 3)


@pytest.mark.parametrize("operand", [FP16, FP32], ids=str)
def test_long_sums_of_the_largest_numbers_are_exact(operand: Format) -> None:
    """All terms of one sign and all ones, at every place in a limb, which c shifts: nothing overflows."""
    shape = OperandShape(a=operand, b=operand, c=FP32, d=FP32, K=MAX_K)
    codes = np.full((1, MAX_K), operand.max_finite, bits_dtype(operand))
    largest = operand.value(operand.max_finite)
    assert largest is not None
    for place in range(16):
        c = power_of_two(-100 - place)
        exact = exact_results(shape, Operands(codes, codes, np.array([FP32.encode(c)], np.uint32), None, None))
        wanted = MAX_K * largest**2 + c
        assert abs(stored(exact, 0) - wanted) <= NEAR * wanted
        assert exact.magnitude[0] == exact.hi[0]


def test_longer_sums_are_refused() -> None:
    shape = OperandShape(a=FP16, b=FP16, c=FP32, d=FP32, K=MAX_K + 1)
    zeros = np.zeros((1, MAX_K + 1), np.uint16)
    with pytest.raises(ValueError, match=r"^K must be at most 16384 for exact results, got 16385$"):
        exact_results(shape, Operands(zeros, zeros, np.zeros(1, np.uint32), None, None))


def one_row(a: list[int], b: list[int], c: int) -> Operands:
    return Operands(np.array([a], np.uint16), np.array([b], np.uint16), np.array([c], np.uint32), None, None)


INFINITY, ONE, NEGATIVE, NAN = 0x7C00, 0x3C00, 0xBC00, 0x7E00


@pytest.mark.parametrize(
    ("a", "b", "c", "wanted"),
    [
        ([INFINITY, ONE], [ONE, ONE], 0, PLUS_INFINITY),
        ([INFINITY, ONE], [NEGATIVE, ONE], 0, MINUS_INFINITY),
        ([INFINITY, INFINITY], [NEGATIVE, ONE], 0, NOT_A_NUMBER),
        ([INFINITY, ONE], [0, ONE], 0, NOT_A_NUMBER),
        ([INFINITY, ONE], [1, ONE], 0, PLUS_INFINITY),
        ([ONE, NAN], [ONE, ONE], 0, NOT_A_NUMBER),
        ([ONE, ONE], [ONE, ONE], 0xFF800000, MINUS_INFINITY),
        ([INFINITY, ONE], [ONE, ONE], 0xFF800000, NOT_A_NUMBER),
        ([ONE, ONE], [ONE, ONE], 0x7FC00000, NOT_A_NUMBER),
        ([ONE, ONE], [ONE, ONE], 0, 0),
    ],
)
def test_what_special_operands_demand(a: list[int], b: list[int], c: int, wanted: int) -> None:
    shape = OperandShape(a=FP16, b=FP16, c=FP32, d=FP32, K=2)
    assert exact_results(shape, one_row(a, b, c)).special.tolist() == [wanted]
