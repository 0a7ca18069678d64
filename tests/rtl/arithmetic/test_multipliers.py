"""Multipliers against Python's integers: every pair of narrow factors, and wide ones at random and at their ends."""

import itertools
import random
from collections.abc import Iterable

import pytest
from amaranth import Module, Signal, Value, unsigned

from golden.units.unit import ADDERS, MULTIPLIERS
from rtl.arithmetic import multiplier as arithmetic
from rtl.arithmetic.multiplier import booth_rows, multiply, product_rows, row_excess
from tests.rtl.simulate import evaluate

IN_ROWS = MULTIPLIERS[1:]

NARROW = [*itertools.product(range(1, 5), repeat=2), (5, 5)]

WIDE = [(8, 11), (11, 11), (24, 24), (53, 53), (24, 12)]


def pairs(x_bits: int, y_bits: int) -> list[tuple[int, int]]:
    """All pairs of factors, or, of wide ones, both ends and factors with long runs of ones and zeros."""
    if x_bits + y_bits <= 10:
        return list(itertools.product(range(1 << x_bits), range(1 << y_bits)))
    rng = random.Random(x_bits * 100 + y_bits)

    def factor(bits: int) -> int:
        low, high = sorted(rng.sample(range(bits + 1), 2))
        return rng.choice([0, 1, (1 << bits) - 1, (1 << high) - (1 << low), rng.getrandbits(bits), rng.getrandbits(bits)])

    return [(factor(x_bits), factor(y_bits)) for _ in range(200)]


def seen_rows(x_bits: int, y_bits: int, multiplier: str, given: Iterable[tuple[int, int]]) -> list[tuple[int, ...]]:
    def build(m: Module, inputs: list[Signal]) -> list[Value]:
        first, second = product_rows(m, inputs[0], inputs[1], multiplier)
        excess = row_excess(x_bits, y_bits, multiplier)
        assert (len(first), len(second)) == (x_bits + y_bits, x_bits + y_bits + (excess > 0))
        return [first, second]

    return evaluate([unsigned(x_bits), unsigned(y_bits)], build, given)


def wrong_rows(x_bits: int, y_bits: int, multiplier: str) -> int:
    """Pairs of factors whose two rows are not the product in sum."""
    given = pairs(x_bits, y_bits)
    excess = row_excess(x_bits, y_bits, multiplier)
    rows = seen_rows(x_bits, y_bits, multiplier, given)
    return sum(sum(pair) != x * y + excess for (x, y), pair in zip(given, rows, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("multiplier", MULTIPLIERS)
@pytest.mark.parametrize(("x_bits", "y_bits"), [*NARROW, *WIDE])
def test_every_multiplier_multiplies(x_bits: int, y_bits: int, multiplier: str) -> None:
    given = pairs(x_bits, y_bits)
    adder = ADDERS[(x_bits + y_bits) % len(ADDERS)]

    def build(m: Module, inputs: list[Signal]) -> list[Value]:
        product = multiply(m, inputs[0], inputs[1], multiplier, adder)
        assert len(product) == x_bits + y_bits
        return [product]

    seen = evaluate([unsigned(x_bits), unsigned(y_bits)], build, given)
    assert seen == [(x * y,) for x, y in given]


@pytest.mark.slow
@pytest.mark.parametrize("multiplier", MULTIPLIERS)
@pytest.mark.parametrize(("x_bits", "y_bits"), [*NARROW, *WIDE])
def test_two_rows_are_exactly_the_product_and_their_excess(x_bits: int, y_bits: int, multiplier: str) -> None:
    assert wrong_rows(x_bits, y_bits, multiplier) == 0


def test_digits_make_half_as_many_rows() -> None:
    counts = list[int]()

    def build(m: Module, inputs: list[Signal]) -> list[Value]:
        counts.append(len(booth_rows(m, *inputs)))
        return [inputs[0]]

    for bits in (3, 4, 11, 24, 53):
        evaluate([unsigned(53), unsigned(bits)], build, [(0, 0)])
    assert counts == [2, 3, 6, 13, 27]
    assert all(row_excess(x, y, "booth") for x, y in itertools.product(range(3, 30), repeat=2))


@pytest.mark.attack("faults of a circuit, in simulation")
@pytest.mark.parametrize(("x_bits", "y_bits"), [(4, 4), (5, 3), (11, 11)])
def test_a_row_without_its_increment_is_noticed(x_bits: int, y_bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def without(m: Module, x: Value, y: Value) -> list[Value]:
        *rows, last = booth_rows(m, x, y)
        return [*rows, last & ~(1 << (2 * len(rows) - 2))]

    monkeypatch.setattr(arithmetic, "booth_rows", without)
    assert wrong_rows(x_bits, y_bits, "booth") > 0
