"""Covergroups see operands as golden does: chosen rows hit the bins that they should, and no other."""

import numpy as np
import pytest

import golden
from cosim.coverage.coverage_model import Model, count, covergroups
from cosim.coverage.covergroup import CLASSES, classes
from golden import Operation
from golden.arithmetic.formats import BF16, FP16, FP32, INT8, INT32, UINT8, Cls, Format, IntegerFormat
from golden.arrays import bits_dtype
from golden.operations import FTZEOFMA, FTZFMA, IDPA
from golden.stimulus import Operands
from tests.golden.native.native_rows import needs_native

pytestmark = needs_native

NAMES = {Cls.ZERO: "0", Cls.SUBNORMAL: "subnormal", Cls.NORMAL: "normal", Cls.INFINITY: "infinity"}


def name_of(operand: Format, code: int) -> str:
    parts = operand.decode(code)
    return "NaN" if parts.cls is Cls.NAN else "+-"[parts.sign] + NAMES[parts.cls]


@pytest.mark.parametrize(
    "operand", [each for each in golden.FORMATS.values() if not isinstance(each, IntegerFormat)], ids=str
)
def test_classes_are_those_of_decode(operand: Format) -> None:
    rng = np.random.default_rng(1)
    codes = np.arange(operand.codes) if operand.width <= 8 else rng.integers(0, operand.codes, 4000, dtype=np.uint64)
    special = [0, 1, operand.negative_zero, operand.max_finite, operand.max_finite | operand.codes >> 1]
    special += [code for code in (operand.infinity, operand.nan) if code is not None]
    codes = np.concatenate([codes.astype(np.uint64), np.array(special, np.uint64)])
    assert [CLASSES[index] for index in classes(operand, codes)] == [name_of(operand, int(code)) for code in codes]


def hits(operation: Operation, group: str, a: list[int], b: list[int], c: int) -> list[str]:
    """The bins of a covergroup that one row hits."""
    model = Model(operation, len(a))
    formats = (operation.a, operation.b, operation.c)
    codes = [np.array(values, object) % operand.codes for values, operand in zip(([a], [b], [c]), formats, strict=True)]
    rows = [each.astype(bits_dtype(operand)) for each, operand in zip(codes, formats, strict=True)]
    counts = count(model, Operands(rows[0], rows[1], rows[2], None, None))
    bins = next(each.bins for each in covergroups(model) if each.name == group)
    return [name for name, number in zip(bins, counts.hits[group], strict=True) for _ in range(number)]


LARGEST, SMALLEST = (1 << 31) - 1, -(1 << 31)


def of_integers(group: str, a: list[int], b: list[int], c: int, of_a: Format = INT8, L: int | None = None) -> list[str]:
    return hits(IDPA(a=of_a, b=INT8, c=INT32, L=L or len(a), overflow="saturate"), group, a, b, c)


@pytest.mark.parametrize(
    ("a", "c", "expected"),
    [
        (0, LARGEST, "the largest"),
        (1, LARGEST - 2, "one below the largest"),
        (1, LARGEST, "one above the largest"),
        (2, LARGEST, "far above the largest"),
        (-1, SMALLEST, "one below the smallest"),
        (-2, SMALLEST, "far below the smallest"),
        (0, SMALLEST, "the smallest"),
        (1, SMALLEST, "one above the smallest"),
        (2, SMALLEST, "negative"),
        (5, -5, "0"),
        (5, -4, "positive"),
    ],
)
def test_the_bin_of_a_sum_of_integers_follows_its_range(a: int, c: int, expected: str) -> None:
    assert of_integers("range of the sum", [a], [1], c) == [expected]


def test_products_of_integers_have_signs_ends_and_sizes() -> None:
    a, b = [-128, 127, 0, 3, 0], [-128, -128, 5, 0, 0]
    assert of_integers("signs of each product", a, b, 0) == [
        "product 0, minus times minus", "product 1, plus times minus", "product 2, 0 of a", "product 3, 0 of b",
        "product 4, 0 of both",
    ]  # fmt: skip
    assert of_integers("ends of each product", a, b, 0) == [
        "product 0, smallest a, smallest b",
        "product 1, largest a, smallest b",
    ]
    assert of_integers("size of each product", a, b, 0) == [
        "product 0, leading one at bit 14, +", "product 1, leading one at bit 13, -"
    ]  # fmt: skip


def test_integers_have_classes() -> None:
    assert of_integers("class of a", [0, 1, -1, 127, -128, 2, -2], [0] * 7, 0) == [
        "a[0], 0", "a[1], 1", "a[2], -1", "a[3], largest", "a[4], smallest", "a[5], other positive", "a[6], other negative"
    ]  # fmt: skip
    assert of_integers("class of a", [255, 128], [0, 0], 0, of_a=UINT8) == ["a[0], largest", "a[1], other positive"]
    assert of_integers("class of d", [2], [1], LARGEST) == ["d, largest"]


def test_chain_of_integers_shows_c_at_each_step() -> None:
    found = of_integers("c of each step", [1, 2, 1], [1, 1, 1], LARGEST - 1, L=1)
    assert found == ["first step, other positive", "middle step, largest", "last step, largest"]


def test_cancellation_of_integers_is_seen() -> None:
    assert of_integers("products and c: cancellation", [-128, -128], [-128, -128], -(1 << 15) - 1) == ["8 to 15 bits cancel"]
    assert of_integers("products and c: cancellation", [2], [3], -6) == ["cancels to zero"]
    assert of_integers("products and c: signs", [2, -2], [3, 3], -6) == ["both signs, minus"]


CHAIN, PAIR = FTZFMA(a=BF16, b=BF16, c=FP32, L=2), FTZEOFMA(a=BF16, b=BF16, c=FP32, L=4)
ONE, QUIET, SIGNALLING, INFINITE, SMALLEST = 0x3F80, 0x7FC1, 0xFF81, 0x7F80, 0x0080
FP32_ONE, FP32_QUIET, FP32_SIGNALLING, FP32_LARGEST = 0x3F800000, 0x7FC00001, 0x7F800001, 0x7F7FFFFF


@pytest.mark.parametrize(
    ("operation", "a", "b", "c", "expected"),
    [
        (CHAIN, [QUIET, ONE], [ONE, ONE], FP32_ONE, "of a, no NaN beside it, quiet"),
        (CHAIN, [ONE, SIGNALLING], [SIGNALLING, ONE], FP32_QUIET, "of b, NaNs beside it, signalling"),
        (CHAIN, [ONE, ONE], [ONE, ONE], FP32_SIGNALLING, "of c, no NaN beside it, signalling"),
        (CHAIN, [0, ONE], [INFINITE, ONE], FP32_ONE, "of an invalid operation, no NaN beside it, invalid"),
        (CHAIN, [0, ONE], [INFINITE, ONE], FP32_QUIET, "of c, no NaN beside it, quiet"),
        (PAIR, [ONE, QUIET, ONE, ONE], [ONE] * 4, FP32_SIGNALLING, "of c, NaNs beside it, signalling"),
        (PAIR, [ONE, QUIET, SIGNALLING, ONE], [ONE] * 4, FP32_ONE, "of a, NaNs beside it, signalling"),
        (PAIR, [0, QUIET, ONE, ONE], [INFINITE, *[ONE] * 3], FP32_ONE, "of an invalid operation, NaNs beside it, invalid"),
        (CHAIN, [ONE, INFINITE], [ONE, ONE], FP32_ONE, ""),
    ],
)
def test_coverage_names_the_operand_whose_nan_is_returned(
    operation: Operation, a: list[int], b: list[int], c: int, expected: str
) -> None:
    assert hits(operation, "NaN that is kept", a, b, c) == ([expected] if expected else [])


def test_each_operation_of_a_chain_has_its_outcome() -> None:
    """The last product is added first: half of the last bit of 1, then next to nothing."""
    found = hits(CHAIN, "each operation", [SMALLEST, 0x3380], [SMALLEST, ONE], FP32_ONE)
    assert found == ["product 1, toward zero", "product 0, toward zero"]
    assert sorted(hits(CHAIN, "each operation", [SMALLEST, 0], [SMALLEST, 0], 0)) == [
        "product 0, flushed",
        "product 1, exact",
    ]
    assert sorted(hits(CHAIN, "each operation", [ONE, 0x7F00], [ONE, 0x7F00], FP32_ONE)) == [
        "product 0, infinite or NaN", "product 1, overflow"
    ]  # fmt: skip


def test_even_and_odd_sums_and_their_join_are_separate_bins() -> None:
    a, b = [ONE, ONE, 0x3380, 0], [ONE, 0x3380, 0x3400, ONE]
    assert sorted(hits(PAIR, "each operation", a, b, FP32_LARGEST)) == [
        "c + sum, toward zero", "even + odd, toward zero", "product 0, exact", "product 1, exact", "product 2, toward zero",
        "product 3, exact",
    ]  # fmt: skip


def test_subnormal_products_of_fp16_count_as_normal_and_those_of_bf16_as_zero() -> None:
    of_fp16 = FTZFMA(a=FP16, b=FP16, c=FP32, L=1)
    assert hits(of_fp16, "product and addend: signs", [1], [0x3C00], 0) == ["plus, zero"]
    of_bf16 = FTZFMA(a=BF16, b=BF16, c=FP32, L=1)
    assert hits(of_bf16, "product and addend: signs", [1], [ONE], 0) == ["zero, zero"]
