"""Coverage of FTZ-FMA and FTZ-EO-FMA: chosen rows hit the bins that they should."""

import numpy as np
import pytest

from cosim.coverage.counts import Model
from cosim.coverage.coverage_model import count, covergroups
from golden.arithmetic.formats import BF16, FP16, FP32
from golden.operations import FTZEOFMA, FTZFMA
from golden.operations.flushed_fma import FlushedFMA
from golden.stimulus import Operands
from tests.golden.native.native_rows import needs_native

pytestmark = needs_native

CHAIN, PAIR = FTZFMA(a=BF16, b=BF16, c=FP32, L=2), FTZEOFMA(a=BF16, b=BF16, c=FP32, L=4)
ONE, QUIET, SIGNALLING, INFINITE, SMALLEST = 0x3F80, 0x7FC1, 0xFF81, 0x7F80, 0x0080
FP32_ONE, FP32_QUIET, FP32_SIGNALLING, FP32_LARGEST = 0x3F800000, 0x7FC00001, 0x7F800001, 0x7F7FFFFF


def hits(operation: FlushedFMA, group: str, a: list[int], b: list[int], c: int) -> list[str]:
    """The bins of a covergroup that one row hits."""
    model = Model(operation, operation.L)
    rows = [np.array([values], np.uint16) for values in (a, b)]
    counts = count(model, Operands(rows[0], rows[1], np.array([c], np.uint32), None, None))
    bins = next(each.bins for each in covergroups(model) if each.name == group)
    return [name for name, number in zip(bins, counts.hits[group], strict=True) for _ in range(number)]


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
        (
            PAIR,
            [0, QUIET, ONE, ONE],
            [INFINITE, ONE, ONE, ONE],
            FP32_ONE,
            "of an invalid operation, NaNs beside it, invalid",
        ),
    ],
)
def test_coverage_names_the_operand_whose_nan_is_returned(
    operation: FlushedFMA, a: list[int], b: list[int], c: int, expected: str
) -> None:
    assert hits(operation, "NaN that is kept", a, b, c) == [expected]


def test_a_result_that_is_no_nan_keeps_none() -> None:
    assert hits(CHAIN, "NaN that is kept", [ONE, INFINITE], [ONE, ONE], FP32_ONE) == []


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
