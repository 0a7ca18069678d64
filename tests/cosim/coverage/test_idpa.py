"""Coverage of IDPA: chosen rows hit the bins that they should, and no other."""

import numpy as np
import pytest

from cosim.coverage.counts import Model
from cosim.coverage.coverage_model import count, covergroups
from golden.arithmetic.formats import INT8, INT32, UINT8, Format
from golden.operations import IDPA
from golden.stimulus import Operands
from tests.golden.native.native_rows import needs_native

pytestmark = needs_native

LARGEST, SMALLEST = (1 << 31) - 1, -(1 << 31)


def hits(group: str, a: list[int], b: list[int], c: int, of_a: Format = INT8, L: int | None = None) -> list[str]:
    """The bins of a covergroup that one row hits."""
    operation = IDPA(a=of_a, b=INT8, c=INT32, L=L or len(a), overflow="saturate")
    rows = [np.array([[x % 256 for x in values]], np.uint8) for values in (a, b)]
    model = Model(operation, len(a))
    counts = count(model, Operands(rows[0], rows[1], np.array([c % (1 << 32)], np.uint32), None, None))
    bins = next(each.bins for each in covergroups(model) if each.name == group)
    return [name for name, number in zip(bins, counts.hits[group], strict=True) for _ in range(number)]


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
def test_the_bin_of_a_sum_follows_its_range(a: int, c: int, expected: str) -> None:
    assert hits("range of the sum", [a], [1], c) == [expected]


def test_products_have_signs_ends_and_sizes() -> None:
    a, b = [-128, 127, 0, 3, 0], [-128, -128, 5, 0, 0]
    assert hits("signs of each product", a, b, 0) == [
        "product 0, minus times minus", "product 1, plus times minus", "product 2, 0 of a", "product 3, 0 of b",
        "product 4, 0 of both",
    ]  # fmt: skip
    assert hits("ends of each product", a, b, 0) == ["product 0, smallest a, smallest b", "product 1, largest a, smallest b"]
    assert hits("size of each product", a, b, 0) == [
        "product 0, leading one at bit 14, +", "product 1, leading one at bit 13, -"
    ]  # fmt: skip


def test_operands_have_classes() -> None:
    assert hits("class of a", [0, 1, -1, 127, -128, 2, -2], [0] * 7, 0) == [
        "a[0], 0", "a[1], 1", "a[2], -1", "a[3], largest", "a[4], smallest", "a[5], other positive", "a[6], other negative"
    ]  # fmt: skip
    assert hits("class of a", [255, 128], [0, 0], 0, of_a=UINT8) == ["a[0], largest", "a[1], other positive"]
    assert hits("class of d", [2], [1], LARGEST) == ["d, largest"]


def test_chain_shows_c_at_each_step() -> None:
    found = hits("c of each step", [1, 2, 1], [1, 1, 1], LARGEST - 1, L=1)
    assert found == ["first step, other positive", "middle step, largest", "last step, largest"]


def test_cancellation_is_seen() -> None:
    assert hits("products and c: cancellation", [-128, -128], [-128, -128], -(1 << 15) - 1) == ["8 to 15 bits cancel"]
    assert hits("products and c: cancellation", [2], [3], -6) == ["cancels to zero"]
    assert hits("products and c: signs", [2, -2], [3, 3], -6) == ["both signs, minus"]
