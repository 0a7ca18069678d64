"""Designs that round every partial sum, computed by NumPy in fp32, which rounds to nearest even."""

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from golden import Operation
from golden.arithmetic.formats import FP16, FP32
from golden.chains.chain import Chain
from golden.engines.engine import Batch, run
from golden.operations import FMA
from golden.stimulus import Operands
from tests.cosim.diagnosis.designs import Design, diagnosis, golden_results
from tests.cosim.diagnosis.faulty_designs import ST, T16, E, T, unit

pytestmark = pytest.mark.attack("designs by hand, in cosim")

NAN = {np.float32: 0x7FFFFFFF, np.float16: 0x7FFF}
"""The units' NaN."""

Floats = npt.NDArray[Any]
Sum = Callable[[list[Floats], Floats], Floats]


def from_c(products: list[Floats], c: Floats) -> Floats:
    return reduce(np.add, products, c)


def c_last(products: list[Floats], c: Floats) -> Floats:
    return reduce(np.add, products) + c


def tree(products: list[Floats], c: Floats) -> Floats:
    p, q, r, s = products
    return ((p + q) + (r + s)) + c


def halves(products: list[Floats], c: Floats) -> Floats:
    p, q, r, s = products
    return ((p + r) + (q + s)) + c


def backwards(products: list[Floats], c: Floats) -> Floats:
    return from_c(products[::-1], c)


def numpy_design(summed: Sum, kind: Any = np.float32, signs: bool = True) -> Design:
    """Products and sums in one NumPy type; NaN as the model gives it, and zeros too unless `signs`."""

    def results(operands: Operands, expected: Any) -> Any:
        with np.errstate(all="ignore"):
            a, b = (codes.view(np.float16).astype(kind) for codes in (operands.a, operands.b))
            found = summed(list((a * b).T), operands.c.view(kind)).astype(kind)
        same = (found == 0) & (expected.view(kind) == 0) & (not signs)
        return np.where(np.isnan(found), NAN[kind], np.where(same, expected, found.view(expected.dtype)))

    return results


IEEE = "; a zero has the sign of IEEE 754"
ROUNDED = "every partial sum is rounded: "
PRODUCTS_TOO = "every product is rounded, and every partial sum: "

CASES: dict[str, tuple[Operation, Design, str]] = {
    "from c": (T, numpy_design(from_c), f"{ROUNDED}one after the other, from c, RNE{IEEE}"),
    "c last": (T, numpy_design(c_last), f"{ROUNDED}one after the other, c last, RNE{IEEE}"),
    "tree": (T, numpy_design(tree), f"{ROUNDED}in pairs of neighbours, c last, RNE{IEEE}"),
    "halves": (T, numpy_design(halves), f"{ROUNDED}in pairs half a vector apart, c last, RNE{IEEE}"),
    "backwards": (T, numpy_design(backwards), f"{ROUNDED}one after the other, from c, the last first, RNE{IEEE}"),
    "plus zero": (E, numpy_design(c_last, signs=False), f"{ROUNDED}one after the other, c last"),
    "fp16": (T16, numpy_design(c_last, np.float16), f"{PRODUCTS_TOO}one after the other, c last{IEEE}"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_rounded_partial_sums_are_named_and_no_other(case: str) -> None:
    operation, design, change = CASES[case]
    found = diagnosis(operation, design, 1000)
    assert [cause.change for cause in found.causes if cause.change.removesuffix(IEEE) != change.removesuffix(IEEE)] == []
    assert change in [cause.change for cause in found.causes], found.text()


def fused_chain(operands: Operands, _: Any) -> Any:
    """Fused multiply-adds in fp64, whose sum of an exact fp16 product and an fp32 number is exact but for far exponents."""
    with np.errstate(all="ignore"):
        a, b = (codes.view(np.float16).astype(np.float64) for codes in (operands.a, operands.b))
        d = reduce(lambda d, p: (d.astype(np.float64) + p).astype(np.float32), list((a * b).T), operands.c.view(np.float32))
    return np.where(np.isnan(d), NAN[np.float32], d.view(np.uint32))


@pytest.mark.slow
def test_chain_of_fused_additions_is_named() -> None:
    found = diagnosis(T, fused_chain, 1000)
    words = f"{ROUNDED}one after the other, from c, RNE{IEEE}"
    assert words in [cause.change for cause in found.causes], found.text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backwards", "order"), [(False, "one after the other, from c"), (True, "one after the other, from c, the last first")]
)
def test_chain_of_multiply_adds_whose_products_do_not_fit_is_named(backwards: bool, order: str) -> None:
    """Products of fp16 have more bits than fp16: a chain of fused multiply-adds rounds sums and no product."""
    chain = Chain(FMA(a=FP16, b=FP16, c=FP16))

    def results(operands: Operands, _: Any) -> Any:
        a, b = (codes[:, ::-1] if backwards else codes for codes in (operands.a, operands.b))
        d = run(None, chain, Batch(np.ascontiguousarray(a), np.ascontiguousarray(b), operands.c))
        return np.where(d & 0x7FFF > 0x7C00, NAN[np.float16], d)

    found = diagnosis(T16, results, 1000)
    words = f"every partial sum is rounded, products are not: {order}{IEEE}"
    assert [cause.change for cause in found.causes] == [words], found.text()


def test_rounded_sums_of_scaled_groups_are_named() -> None:
    """Two sums of two products with the scales of their block, each rounded, then added to c by toward-zero additions."""

    def part(operands: Operands, k: int) -> Any:
        block, vectors = slice(k // 2, k // 2 + 1), slice(k, k + 2)
        assert operands.scale_a is not None
        assert operands.scale_b is not None
        cut = Operands(operands.a[:, vectors], operands.b[:, vectors], operands.c * 0,
                       operands.scale_a[:, block], operands.scale_b[:, block])  # fmt: skip
        return golden_results(ST.changed(L=2), cut)

    def results(operands: Operands, _: Any) -> Any:
        low, high = part(operands, 0), part(operands, 2)
        rows = zip(low.tolist(), high.tolist(), operands.c.tolist(), strict=True)
        return [_added(*row) for row in rows]

    found = diagnosis(ST, results, 600)
    words = "the sum of every 2 products is rounded, and every partial sum: one after the other, c last"
    assert words in [cause.change.removesuffix(IEEE) for cause in found.causes], found.text()


def _added(x: int, y: int, c: int) -> int:
    total = x
    for code in (y, c):
        first, second = FP32.value(total), FP32.value(code)
        if first is None or second is None:
            with np.errstate(all="ignore"):
                special = np.uint32(total).view(np.float32) + np.uint32(code).view(np.float32)
            total = NAN[np.float32] if np.isnan(special) else int(special.view(np.uint32))
            continue
        exact = first + second
        total = FP32.encode_scaled(exact.numerator, 1 - exact.denominator.bit_length(), "RZ") if exact else 0
    return total


@pytest.mark.slow
@pytest.mark.parametrize("F", [20, 22])
def test_narrow_alignment_is_no_partial_sum(F: int) -> None:
    found = diagnosis(T, unit(T, F=F), 600)
    assert [cause.change for cause in found.causes] == [f"F is {F}, not 24"]
