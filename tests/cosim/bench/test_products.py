"""Codes of operands and results: packed into ports, counted by class, and fixed-point results against exact fractions."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cosim.bench.coverage import _classes_of_results
from cosim.bench.operand_widths import FixedPoint, FixedPointProducts, OperandWidths, finite, fixed_result
from cosim.bench.products import Bits, packed
from cosim.bench.stimulus import specification_of
from golden import FORMATS, Cls, Format, Unit
from golden.arithmetic.formats import BF16, FP16, FP32, FP64, INT32
from golden.arrays import bits_dtype
from golden.operations import EFDPA, FMA, IDPA
from rtl import UnitDesign

INTEGERS = IDPA(a="int8", b="int8", c="int32", L=1)  # type: ignore[arg-type]
NEAREST = EFDPA(a="e5m2", b="e4m3", c="fp32", L=3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("total", "bits", "fraction", "code"),
    [
        (Fraction(5, 4), 8, 2, 5), (Fraction(-5, 4), 8, 2, 251), (Fraction(3, 8), 8, 2, 2), (Fraction(1, 8), 8, 2, 0),
        (Fraction(-3, 8), 8, 2, 254), (Fraction(32), 8, 2, 128), (Fraction(64), 8, 2, 0),
    ],
)  # fmt: skip
def test_sum_is_rounded_once_and_wraps(total: Fraction, bits: int, fraction: int, code: int) -> None:
    assert fixed_result(NEAREST, total, FixedPoint(bits, fraction)) == code


def test_sum_saturates_where_the_unit_does() -> None:
    saturating = replace(INTEGERS, overflow="saturate")
    found = [fixed_result(saturating, Fraction(total), FixedPoint(8)) for total in (127, 128, -128, -129)]
    assert found == [127, 127, 128, 128]


@pytest.mark.parametrize("name", [name for name, each in FORMATS.items() if each.width <= 16])
def test_finite_replaces_infinities_and_nans_alone(name: str) -> None:
    each = FORMATS[name]
    codes = np.arange(each.codes, dtype=bits_dtype(each))
    found = finite(codes, each)
    for code, other in zip(codes.tolist(), found.tolist(), strict=True):
        assert each.decode(other).cls < Cls.INFINITY
        assert other == code or each.decode(code).cls >= Cls.INFINITY


@pytest.mark.parametrize("operation", [INTEGERS, NEAREST])
def test_results_of_a_stream_are_the_exact_fractions(operation: IDPA | EFDPA) -> None:
    specification = specification_of(
        UnitDesign(Unit(name="u", operation=operation)), 1, OperandWidths(0, FixedPoint(300, 200))
    )
    (chunk,) = specification.chunks(500, 3)
    (products,) = chunk.products
    assert isinstance(products, FixedPointProducts)
    assert not products.stimulus.operands.c.any()
    for row in range(500):
        assert products.recomputed(row) == products.expected[row]


def test_c_is_extended_from_its_low_bits() -> None:
    codes = np.array([0x12348000, 0x7FFF, 0xFFFF], np.uint32)
    assert OperandWidths(16).restricted(codes, INTEGERS).tolist() == [0xFFFF8000, 0x7FFF, 0xFFFFFFFF]
    assert OperandWidths(0).restricted(codes, INTEGERS).tolist() == [0, 0, 0]
    assert OperandWidths().restricted(codes, INTEGERS) is codes


@pytest.mark.parametrize(("rho", "code"), [("RNE-FP32", 0x80000000), ("RU-FP32", 0x80000000), ("RD-FP32", 0)])
def test_no_c_is_the_zero_that_changes_no_zero(rho: str, code: int) -> None:
    operation = FMA(a="fp32", b="fp32", c="fp32", rho=rho)  # type: ignore[arg-type]
    assert OperandWidths(0).restricted(np.array([1], np.uint32), operation).tolist() == [code]
    for sign in (0, 0x80000000):
        assert operation.step([sign], [0x3F800000], code) == sign
    assert NEAREST.no_c == 0


@pytest.mark.parametrize("operand", FORMATS.values(), ids=FORMATS.keys())
def test_elements_lie_in_their_bits(operand: Format) -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, operand.codes, (20, 5), dtype=np.uint64).astype(bits_dtype(operand))
    expected = [sum(code << (k * operand.width) for k, code in enumerate(row)) for row in codes.tolist()]
    assert packed(codes, operand) == expected


def test_rows_that_are_not_contiguous() -> None:
    codes = np.arange(12, dtype=np.uint16).reshape(3, 4).T
    assert packed(codes, FORMATS["fp16"]) == [sum(c << (16 * k) for k, c in enumerate(row)) for row in codes.tolist()]


@pytest.mark.parametrize("result", [FP16, BF16, FP32, FP64, INT32, Bits(8), Bits(64)], ids=str)
def test_classes_of_results_are_those_of_the_format(result: Any) -> None:
    width = result.width
    codes = [*range(40), *(value << width - 16 for value in range(0, 1 << 16, 61) if width >= 16), (1 << width) - 1]
    products: Any = SimpleNamespace(result=result, expected=codes)
    rows = range(1, len(codes))
    counted = {cls: number for cls, number in _classes_of_results(products, rows).items() if number}
    assert counted == Counter(result.decode(codes[row]).cls for row in rows)
