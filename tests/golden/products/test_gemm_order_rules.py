"""The division of K among parts and workers, and orders that are refused."""

import random
from typing import Any

import pytest

from golden.products.gemm_order import GemmOrder, shared, split
from tests.golden.products.test_gemm_order import HOPPER, WGMMA, matrices, product


def test_order_shows_what_was_chosen() -> None:
    assert repr(GemmOrder()) == "GemmOrder()"
    order = GemmOrder(split_k=2, split_sum="workspace", epilogue=("bias",))
    assert repr(order) == "GemmOrder(split_k=2, split_tile=64, split_sum='workspace', epilogue=('bias',))"
    assert eval(repr(order), {"GemmOrder": GemmOrder}) == order


@pytest.mark.parametrize("instructions", [1, 2, 7, 12])
@pytest.mark.parametrize("parts", [1, 2, 3, 12, 40])
def test_parts_are_equal_but_for_the_first(instructions: int, parts: int) -> None:
    pieces = split(instructions, parts)
    lengths = [end - first for first, end in pieces]
    assert [k for first, end in pieces for k in range(first, end)] == list(range(instructions))
    assert len(pieces) == min(parts, instructions)
    assert lengths == sorted(lengths, reverse=True)
    assert max(lengths) - min(lengths) <= 1


@pytest.mark.parametrize(
    ("count", "instructions", "workers", "expected"),
    [
        (3, 4, 2, [((0, 4),), ((0, 2), (2, 4)), ((0, 4),)]),
        (2, 3, 4, [((0, 2), (2, 3)), ((0, 1), (1, 2), (2, 3))]),
        (2, 2, 9, [((0, 1), (1, 2)), ((0, 1), (1, 2))]),
        (2, 5, 1, [((0, 5),), ((0, 5),)]),
    ],
)
def test_workers_share_evenly(count: int, instructions: int, workers: int, expected: list[Any]) -> None:
    assert list(shared(count, instructions, workers)) == expected


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (
            GemmOrder(k_order="stream-k", tile=(2, 2), tiles=(((0, 7),),)),
            "tiles must have a list for each of the 6 output tiles of (2, 2) in D of (4, 5), got 1",
        ),
        (
            GemmOrder(k_order="stream-k", tile=(9, 9), tiles=(((0, 5), (5, 6)),)),
            "tiles must name the instructions 0 to 6 along K, got 0 to 5",
        ),
        (
            GemmOrder(model=HOPPER),
            f"the order names {HOPPER.name}, got {WGMMA.name}; give that one, or an order without a model",
        ),
    ],
)
def test_order_of_another_product_is_refused(order: GemmOrder, message: str) -> None:
    made, _ = matrices(WGMMA, random.Random(19), 7 * 32, "near")
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the whole text is compared
        product(WGMMA, made, order=order)
    assert str(caught.value) == message


def test_what_is_no_order_is_refused() -> None:
    made, _ = matrices(WGMMA, random.Random(19), 32, "near")
    wrong: Any = "gemm.toml"
    with pytest.raises(
        TypeError, match=r"^order must be a golden\.GemmOrder, as golden\.load_order reads it, got 'gemm\.toml'$"
    ):
        product(WGMMA, made, order=wrong)
    with pytest.raises(
        TypeError, match=r"^instruction must be one of golden\.instruction\(arch, name\), or a golden\.Unit, got None$"
    ):
        product(None, made, order=GemmOrder())
