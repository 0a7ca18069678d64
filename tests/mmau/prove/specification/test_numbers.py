"""Numbers: exact in every operation, whatever their bounds."""

import operator
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from bitwuzla import TermManager

from mmau.prove.evaluation import evaluate
from mmau.prove.netlist.terms import Terms
from mmau.prove.specification.numbers import Flag, Number, choose, largest, total, width_of

BOUNDS = [(0, 0), (0, 5), (-3, 2), (1, 4), (-4, -1), (0, 8), (-8, 7)]


def free(terms: Terms, name: str, low: int, high: int) -> Number:
    return Number(terms, terms.free(name, width_of(low, high)), low, high)


def value_of(number: Number, values: dict[Number, int]) -> int:
    given = {each.bits.term: value & ((1 << each.bits.width) - 1) for each, value in values.items()}
    held = evaluate([number.bits.term], given)[number.bits.term]
    return held - (1 << number.bits.width) if number.is_signed and held >> (number.bits.width - 1) else held


def flag_of(flag: Flag, values: dict[Number, int]) -> bool:
    given = {each.bits.term: value & ((1 << each.bits.width) - 1) for each, value in values.items()}
    return bool(evaluate([flag.bits.term], given)[flag.bits.term])


@pytest.mark.parametrize("calculate", [operator.add, operator.sub, operator.mul])
def test_arithmetic_is_exact(calculate: Callable[..., Any]) -> None:
    for first, second in product(BOUNDS, BOUNDS):
        terms = Terms(TermManager())
        x, y = free(terms, "x", *first), free(terms, "y", *second)
        result = calculate(x, y)
        for p, q in product(range(first[0], first[1] + 1), range(second[0], second[1] + 1)):
            expected: Any = calculate(p, q)
            assert value_of(result, {x: p, y: q}) == expected


@pytest.mark.slow
def test_comparisons_and_choices() -> None:
    for first, second in product(BOUNDS, BOUNDS):
        terms = Terms(TermManager())
        x, y = free(terms, "x", *first), free(terms, "y", *second)
        less, at_most, same, top = x < y, x <= y, x.equals(y), largest([x, y])
        chosen, negative = choose(less, x, y), -x
        for p, q in product(range(first[0], first[1] + 1), range(second[0], second[1] + 1)):
            given = {x: p, y: q}
            assert (flag_of(less, given), flag_of(at_most, given), flag_of(same, given)) == (p < q, p <= q, p == q)
            assert (value_of(top, given), value_of(chosen, given), value_of(negative, given)) == (max(p, q), min(p, q), -p)


def test_shifts() -> None:
    terms = Terms(TermManager())
    x, places = free(terms, "x", 0, 21), free(terms, "places", 0, 6)
    right, times = x.shifted_right(places), x.times_two_to(3)
    for p, k in product(range(22), range(7)):
        given = {x: p, places: k}
        assert (value_of(right, given), value_of(times, given)) == (p >> k, p << 3)
        assert [flag_of(x.bit(n), given) for n in range(6)] == [bool(p >> n & 1) for n in range(6)]


def test_total_of_many() -> None:
    terms = Terms(TermManager())
    numbers = [free(terms, f"x{k}", *bounds) for k, bounds in enumerate([(-3, 2), (0, 5), (1, 4)])]
    result = total(numbers)
    assert (result.low, result.high) == (-2, 11)
    for values in product(range(-3, 3), range(6), range(1, 5)):
        assert value_of(result, dict(zip(numbers, values, strict=True))) == sum(values)


def test_a_number_has_the_bits_of_its_bounds() -> None:
    terms = Terms(TermManager())
    with pytest.raises(ValueError, match=r"^a number of 0 … 4 must have 3 bits, got 4$"):
        Number(terms, terms.free("x", 4), 0, 4)


def test_a_number_that_may_be_negative_is_not_shifted_right() -> None:
    terms = Terms(TermManager())
    with pytest.raises(ValueError, match=r"^shifted_right takes numbers that are not negative$"):
        free(terms, "x", -1, 4).shifted_right(1)
