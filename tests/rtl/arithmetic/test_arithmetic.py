"""Adders, shifters and multipliers against Python's integers: exhaustively at small widths, wide ones at their ends."""

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from amaranth import Module, Shape, Signal, Value, signed, unsigned

from golden.units.unit import ADDERS, MULTIPLIERS
from rtl.arithmetic import multiplier as arithmetic
from rtl.arithmetic.carry_save import SHAPES, add_pairs, carry_save, magnitude_of_sum, prefixes
from rtl.arithmetic.leading_zeros import ANTICIPATION_ERROR, anticipate_leading_zeros, count_leading_zeros
from rtl.arithmetic.multiplier import booth_rows, multiply, product_rows, row_excess
from rtl.arithmetic.shift import shift_left_narrowing, shift_right, shift_right_sticky
from tests.rtl.simulate import evaluate

REDUCTIONS = [carry_save, add_pairs]


def every(shapes: list[Shape]) -> Iterable[tuple[int, ...]]:
    """All combinations of values of those shapes."""
    lows = [-1 << (shape.width - 1) if shape.signed else 0 for shape in shapes]
    return itertools.product(*(range(low, low + (1 << s.width)) for low, s in zip(lows, shapes, strict=True)))


def check_reduction(
    reduction: Callable[..., list[Signal]], shapes: list[Shape], increments: int, width: int, rows: Iterable[tuple[int, ...]]
) -> None:
    """At most two rows, of the width, and the sum of all the addends and increments modulo 2**width."""

    def build(m: Module, inputs: list[Signal]) -> list[Signal]:
        reduced = reduction(m, inputs[: len(shapes)], width, "row", inputs[len(shapes) :])
        assert len(reduced) == min(2, len(shapes))
        assert [row.shape() for row in reduced] == [unsigned(width)] * len(reduced)
        return reduced

    rows = list(rows)
    seen = evaluate([*shapes, *[unsigned(1)] * increments], build, rows)
    modulus = 1 << width
    assert [sum(pair) % modulus for pair in seen] == [sum(row) % modulus for row in rows]


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize(
    ("count", "width"), [(count, width) for count in range(1, 6) for width in range(1, 7) if count * width <= 12]
)
def test_two_rows_have_the_sum_of_every_combination(reduction: Any, count: int, width: int) -> None:
    for increments in range(max(0, count - 2) + 1):
        shapes = [unsigned(width)] * count
        check_reduction(reduction, shapes, increments, width, every([*shapes, *[unsigned(1)] * increments]))


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("width", [3, 5])
@pytest.mark.parametrize(
    "shapes",
    [
        [signed(2)],
        [unsigned(2), signed(3)],
        [signed(1), unsigned(3), signed(2)],
        [signed(3), unsigned(1), signed(2), unsigned(2)],
        [signed(2), signed(2), unsigned(2), signed(1), unsigned(2)],
    ],
    ids=str,
)
def test_narrow_rows_are_extended_by_their_own_signedness(reduction: Any, shapes: list[Shape], width: int) -> None:
    check_reduction(reduction, shapes, 0, width, every(shapes))


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("count", [6, 9, 17, 64])
def test_many_rows_with_as_many_increments_as_fit(reduction: Any, count: int) -> None:
    rng = random.Random(count)
    width, increments = 40, count - 2
    values = [0, 1, (1 << width) - 1, 1 << (width - 1)]
    rows = [[rng.choice([*values, rng.getrandbits(width)]) for _ in range(count)] for _ in range(100)]
    rows += [[value] * count for value in values]
    ones = [[rng.getrandbits(1) for _ in range(increments)] for _ in rows[:-4]] + [[1] * increments] * 4
    check_reduction(
        reduction, [unsigned(width)] * count, increments, width, [(*r, *o) for r, o in zip(rows, ones, strict=True)]
    )


def in_twos_complement(value: int, width: int) -> int:
    """The value modulo 2**width, as a signed number of that width."""
    return (value + (1 << (width - 1))) % (1 << width) - (1 << (width - 1))


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize(
    ("width", "adder"), [*((width, ADDERS[0]) for width in (2, 3, 4, 5)), *((4, a) for a in ADDERS[1:])]
)
def test_magnitude_of_every_sum(width: int, adder: str, count: int) -> None:
    """Every sum whose magnitude fits, of either sign with the increment, and not negative without it."""
    rows = []
    for *addends, increment in every([*[unsigned(width)] * count, unsigned(1)]):
        total = in_twos_complement(sum(addends) + increment, width)
        if total != -1 << (width - 1) and (total >= 0 or increment):
            rows.append((*addends, increment))

    def build(m: Module, inputs: list[Signal]) -> list[Value]:
        negative, magnitude = magnitude_of_sum(m, inputs[:count], inputs[count], adder)
        assert len(magnitude) == width - 1
        return [negative, magnitude]

    seen = evaluate([*[unsigned(width)] * count, unsigned(1)], build, rows)
    totals = [in_twos_complement(sum(row), width) for row in rows]
    assert seen == [(total < 0, abs(total)) for total in totals]
    assert {-1, 0, 1} <= {(total > 0) - (total < 0) for total in totals}


@pytest.mark.slow
@pytest.mark.parametrize("adder", ADDERS)
@pytest.mark.parametrize("width", [41, 64, 100])
def test_magnitude_of_wide_sums(width: int, adder: str) -> None:
    rng = random.Random(width)
    limit = (1 << (width - 1)) - 1
    totals = [0, 1, -1, limit, -limit, *(rng.randint(-limit, limit) >> rng.randrange(width) for _ in range(300))]
    rows = []
    for total in totals:
        left = rng.choice([0, 1, (1 << width) - 1, rng.getrandbits(width)])
        rows.append((left, (total - 1 - left) % (1 << width), 1))
    rows += [(left, (abs(total) - left) % (1 << width), 0) for (left, *_), total in zip(rows, totals, strict=True)]

    def build(m: Module, inputs: list[Signal]) -> list[Value]:
        return list(magnitude_of_sum(m, inputs[:2], inputs[2], adder))

    seen = evaluate([unsigned(width), unsigned(width), unsigned(1)], build, rows)
    assert seen == [(total < 0, abs(total)) for total in totals] + [(0, abs(total)) for total in totals]


@pytest.mark.parametrize("shape", ADDERS)
@pytest.mark.parametrize("width", range(1, 7))
def test_every_prefix_equals_a_ripple(width: int, shape: str) -> None:
    def build(m: Module, inputs: list[Signal]) -> list[Value]:
        generated, propagate = inputs
        return list(prefixes(m, generated, propagate, shape))

    rows = list(every([unsigned(width)] * 2))
    seen = evaluate([unsigned(width)] * 2, build, rows)
    assert seen == [rippled(generate, propagate, width) for generate, propagate in rows]


@pytest.mark.parametrize("shape", ["sklansky", "kogge-stone"])
@pytest.mark.parametrize("width", [2, 3, 8, 31, 77])
def test_minimal_networks_have_as_few_rows_as_a_tree(width: int, shape: str) -> None:
    depth = depths_of_network(width, shape)
    assert depth == [bit.bit_length() for bit in range(width)]
    assert max(depths_of_network(width, "brent-kung")) >= max(depth)


def test_networks_differ_in_merges_and_in_what_a_signal_drives() -> None:
    """Of 32 bits: Brent and Kung's is the smallest, Kogge and Stone's drives the least, Sklansky's the most."""
    merges = {shape: list(SHAPES[shape](32)) for shape in ADDERS}
    assert {shape: len(found) for shape, found in merges.items()} == {"brent-kung": 57, "sklansky": 80, "kogge-stone": 129}
    loads = {s: Counter((row, below) for _, below, row in found).most_common(1)[0][1] for s, found in merges.items()}
    assert loads == {"brent-kung": 1, "sklansky": 16, "kogge-stone": 1}


def depths_of_network(width: int, shape: str) -> list[int]:
    """For each bit, the merges one after the other that its prefix takes; each takes the runs of both as they are then."""
    depth, whole = [0] * width, [1] * width
    for bit, below, _ in SHAPES[shape](width):
        depth[bit] = max(depth[bit], depth[below]) + 1
        whole[bit] += whole[below]
    assert whole == list(range(1, width + 1)), "a run is merged twice, or not at all"
    return depth


def rippled(generate: int, propagate: int, width: int) -> tuple[int, int]:
    carries, runs, carry, run = 0, 0, 0, 1
    for bit in range(width):
        generates, propagates = generate >> bit & 1, propagate >> bit & 1
        carry, run = generates | (propagates & carry), propagates & run
        carries, runs = carries | carry << bit, runs | run << bit
    return carries, runs


@pytest.mark.parametrize("width", range(1, 10))
def test_leading_zeros_of_every_value(width: int) -> None:
    check_leading_zeros(width, list(range(1 << width)))


@pytest.mark.parametrize("width", [31, 32, 33, 64, 100])
def test_leading_zeros_of_wide_values(width: int) -> None:
    rng = random.Random(width)
    powers = [1 << place for place in range(width)]
    check_leading_zeros(width, [0, *powers, *(p | rng.randrange(p) for p in powers), *(2 * p - 1 for p in powers)])


def check_leading_zeros(width: int, values: list[int]) -> None:
    seen = evaluate([unsigned(width)], lambda m, inputs: [count_leading_zeros(m, *inputs)], [(v,) for v in values])
    assert [zeros for (zeros,) in seen] == [width - value.bit_length() for value in values]


@pytest.mark.parametrize("total_bits", range(1, 7))
def test_anticipated_leading_zeros_of_every_sum_are_right_or_a_little_too_small(total_bits: int) -> None:
    """For x + y and x + y + 1, wherever both fit: of the one count, for either may be what the last adder makes."""
    width = total_bits + 1
    rows, totals = [], []
    for x, y in every([unsigned(width)] * 2):
        both = [in_twos_complement(x + y, width), in_twos_complement(x + y + 1, width)]
        if -1 << total_bits not in both:
            rows.append((x, y))
            totals.append(both)
    seen = evaluate([unsigned(width)] * 2, lambda m, xy: [anticipate_leading_zeros(m, xy[0], xy[1], total_bits)], rows)
    for (x, y), both, (zeros,) in zip(rows, totals, seen, strict=True):
        errors = {total_bits - abs(total).bit_length() - zeros for total in both if total}
        assert errors <= set(range(ANTICIPATION_ERROR + 1)), (x, y, zeros)


SIZES = [(width, bits) for width in range(1, 7) for bits in range(1, 5)]
"""Bits of the value and of the amount."""


@pytest.mark.parametrize(("width", "bits"), SIZES)
def test_shift_gives_zero_from_the_width_on(width: int, bits: int) -> None:
    rows = list(itertools.product(range(1 << width), range(1 << bits)))
    shapes = [unsigned(width), unsigned(bits)]
    seen = evaluate(shapes, lambda m, inputs: [shift_right(m, *inputs)], rows)
    assert seen == [(value >> amount,) for value, amount in rows]


@pytest.mark.parametrize(("width", "bits"), SIZES)
def test_sticky_shift_knows_whether_a_one_was_lost(width: int, bits: int) -> None:
    def build(m: Module, inputs: list[Signal]) -> list[Value]:
        value, amount = inputs
        return list(shift_right_sticky(m, value, amount))

    rows = list(itertools.product(range(1 << width), range(1 << bits)))
    seen = evaluate([unsigned(width), unsigned(bits)], build, rows)
    assert seen == [(value >> amount, int(value & ((1 << amount) - 1) != 0)) for value, amount in rows]


@pytest.mark.parametrize(("width", "bits"), SIZES)
def test_narrowing_shift_keeps_the_top_and_knows_whether_a_one_lies_below(width: int, bits: int) -> None:
    for keep in range(1, width + 1):

        def build(m: Module, inputs: list[Signal], keep: int = keep) -> list[Value]:
            value, amount = inputs
            top, lost = shift_left_narrowing(m, value, amount, keep)
            assert len(top) == keep
            return [top, lost]

        rows = list(itertools.product(range(1 << width), range(1 << bits)))
        seen = evaluate([unsigned(width), unsigned(bits)], build, rows)
        shifted = [(value << amount) & ((1 << width) - 1) for value, amount in rows]
        below = width - keep
        assert seen == [(value >> below, int(value & ((1 << below) - 1) != 0)) for value in shifted]


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
