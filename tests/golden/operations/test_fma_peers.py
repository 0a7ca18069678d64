"""FMA in every format and rounding mode against Python's own floats, whose conversion from a rational is correctly rounded,
and NumPy's float16."""

import math
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

from golden.arithmetic.formats import FP16, FP64
from golden.operations import FMA
from tests.golden.inputs import operands
from tests.golden.native.native_rows import needs_native
from tests.golden.rows import unit
from tests.twin.twin_numbers import infinity_code, is_nan

LARGEST = Fraction(math.nextafter(math.inf, 0))
NEXT_AFTER_LARGEST = Fraction(2) ** 1024


def code_of(value: float) -> int:
    return int(np.float64(value).view(np.uint64))


def float_of(code: int) -> float:
    return float(np.uint64(code).view(np.float64))


def neighbours(value: Fraction) -> tuple[float, float]:
    """The doubles below and above a rational, or twice the one that it is; infinity stands for 2^1024."""
    if abs(value) > LARGEST:
        ends = (float(LARGEST), math.inf) if abs(value) < NEXT_AFTER_LARGEST else (math.inf, math.inf)
        return ends if value > 0 else (-ends[1], -ends[0])
    nearest = float(value)
    if nearest == value:
        return nearest, nearest
    if Fraction(nearest) < value:
        return nearest, math.nextafter(nearest, math.inf)
    return math.nextafter(nearest, -math.inf), nearest


def rational(value: float) -> Fraction:
    return int(math.copysign(1, value)) * NEXT_AFTER_LARGEST if math.isinf(value) else Fraction(value)


def rounded(value: Fraction, mode: str) -> float:
    """The neighbour that a mode takes; zeros have the sign of the value."""
    low, high = neighbours(value)
    if low == high:
        return low
    nearer = (value - rational(low)) - (rational(high) - value)
    inner, outer = (low, high) if value > 0 else (high, low)
    odd = low if code_of(low) % 2 and not math.isinf(low) else high
    even = high if odd is low else low
    taken = {
        "RD": low,
        "RU": high,
        "RZ": inner,
        "RO": odd,
        "RNE": low if nearer < 0 else high if nearer > 0 else even,
        "RNA": low if nearer < 0 else high if nearer > 0 else outer,
    }[mode]
    return math.copysign(taken, value)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["RZ", "RNE", "RD", "RU", "RO", "RNA"])
def test_fma_of_doubles_takes_the_neighbour_that_the_mode_names(mode: str) -> None:
    fma = FMA(a=FP64, b=FP64, c=FP64, rho=f"{mode}-FP64")
    rng, seen = Random(f"fma {mode}"), 0
    for _ in range(1500):
        (a,), (b,), c, *_ = operands(rng, fma, 1)
        x, y, z = map(float_of, (a, b, c))
        if not all(map(math.isfinite, (x, y, z))):
            continue
        exact = Fraction(x) * Fraction(y) + Fraction(z)
        if exact:
            assert fma.step([a], [b], c) == code_of(rounded(exact, mode)), (x, y, z)
            seen += neighbours(exact)[0] != neighbours(exact)[1]
    assert seen > 500


def half_rows(rng: np.random.Generator, rows: int) -> tuple[Any, Any, Any]:
    """Any fp16 codes, a third of them with c near the product."""
    a, b, c = rng.integers(0, 1 << 16, (3, rows), np.uint16)
    with np.errstate(all="ignore"):
        near = -(a.view(np.float16) * b.view(np.float16)).astype(np.float16).view(np.uint16)
    return a, b, np.where(rng.integers(0, 3, rows) == 0, near ^ rng.integers(0, 8, rows, np.uint16), c)


@pytest.mark.parametrize("engine", ["reference", pytest.param("native", marks=needs_native)])
def test_fma_of_halves_is_numpys_where_doubles_are_exact(engine: str) -> None:
    """A product of two float16 is exact in float64. Where the sum with c is too, NumPy's conversion rounds it once."""
    rng = np.random.default_rng(41)
    a, b, c = half_rows(rng, 4_000 if engine == "reference" else 400_000)
    x, y, z = (codes.view(np.float16).astype(np.float64) for codes in (a, b, c))
    with np.errstate(all="ignore"):
        product = x * y
        total = product + z
        part = total - product
        error = (product - (total - part)) + (z - part)
        expected = total.astype(np.float16).view(np.uint16)
    exact = np.isnan(total) | np.isinf(total) | (error == 0)
    got = unit(FMA(a=FP16, b=FP16, c=FP16)).dot(a[:, None], b[:, None], c, engine=engine)
    nan = np.isnan(total)
    assert (got[exact & ~nan] == expected[exact & ~nan]).all()
    assert all(is_nan("fp16", int(code)) for code in np.unique(got[nan]))
    assert exact.mean() > 0.5
    assert (got == infinity_code("fp16", False)).any()
