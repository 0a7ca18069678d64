"""Exponent maximum, accumulation in both forms and specials against golden's steps, exhaustively at small widths."""

import itertools
import random
from collections.abc import Sequence
from typing import Any

import pytest

from golden.arithmetic.specials import NAN, Special, combine
from golden.arithmetic.steps import in_frame
from golden.units.unit import CIRCUIT_CHOICES, ENCODINGS
from rtl.arithmetic.leading_zeros import ANTICIPATION_ERROR
from rtl.steps.accumulate import Accumulate
from rtl.steps.accumulate_in_frame import AccumulateInFrame
from rtl.steps.interfaces import ExpRange
from rtl.steps.max_exp import MaxExp, PairwiseMaxExp
from rtl.steps.specials import Specials
from tests.rtl.simulate import outputs

Terms = Sequence[tuple[int, int]]
"""Sign and aligned magnitude of each."""


def exponents(ranges: list[ExpRange]) -> tuple[list[tuple[int, ...]], list[dict[str, int]]]:
    """Every combination, and as the ports take it."""
    combinations = list(itertools.product(*(range(r.low, r.high + 1) for r in ranges)))
    return combinations, [{f"exp_{k}": e for k, e in enumerate(c)} for c in combinations]


@pytest.mark.parametrize("part", [MaxExp, PairwiseMaxExp])
@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_max_exp_is_the_largest_of_every_combination(part: Any, count: int) -> None:
    ranges = [ExpRange(-3, 1), ExpRange(-2, 2), ExpRange(0, 1), ExpRange(-3, -2), ExpRange(1, 2)][:count]
    combinations, inputs = exponents(ranges)
    component = part(ranges, ExpRange(max(r.low for r in ranges), max(r.high for r in ranges)))
    assert outputs(component, inputs, lambda get: get(component.e_max)) == [max(c) for c in combinations]


def test_pairwise_max_exp_gives_every_gap() -> None:
    ranges = [ExpRange(-3, 1), ExpRange(-2, 2), ExpRange(-4, 1), ExpRange(0, 0)]
    combinations, inputs = exponents(ranges)
    component = PairwiseMaxExp(ranges, ExpRange(0, 2))
    seen = outputs(component, inputs, lambda get: [get(getattr(component, f"gap_{k}")) for k in range(len(ranges))])
    assert seen == [[max(c) - e for e in c] for c in combinations]


def every(widths: Sequence[int]) -> list[Terms]:
    return list(itertools.product(*(list(itertools.product((0, 1), range(1 << width))) for width in widths)))


def summed(component: Any, rows: Sequence[Terms]) -> list[tuple[int, int]]:
    """The signed total of each row, and its anticipated zeros where the component anticipates."""
    inputs = [
        {f"sign_{k}": s for k, (s, _) in enumerate(row)} | {f"aligned_{k}": v for k, (_, v) in enumerate(row)}
        for row in rows
    ]
    zeros = getattr(component, "zeros", component.sign)
    seen = outputs(component, inputs, lambda get: (get(component.sign), get(component.total), get(zeros)))
    return [(-total if sign else total, zeros) for sign, total, zeros in seen]


def check(component: Any, rows: Sequence[Terms], expected: list[int], total_bits: int) -> None:
    """The totals, and zeros that are right or too small by at most ANTICIPATION_ERROR, wherever there is a leading one."""
    seen = summed(component, rows)
    assert [total for total, _ in seen] == expected
    errors = {total_bits - abs(total).bit_length() - zeros for total, zeros in seen if total}
    assert 0 in errors <= set(range(ANTICIPATION_ERROR + 1)), errors


def check_accumulate(widths: Sequence[int], encoding: str, reduction: str, rows: list[Terms]) -> None:
    total_bits = sum((1 << w) - 1 for w in widths).bit_length()
    component = Accumulate(widths, total_bits, encoding, reduction, anticipates=True)
    check(component, rows, [sum(-v if s else v for s, v in row) for row in rows], total_bits)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("reduction", CIRCUIT_CHOICES["reduction"])
@pytest.mark.parametrize(
    "widths", [(1,), (3, 2), (5, 5), *(pytest.param(w, marks=pytest.mark.slow) for w in [(3, 3, 2), (2, 2, 2, 1)])]
)
def test_accumulate_is_exact_and_anticipates_for_every_combination(
    encoding: str, reduction: str, widths: tuple[int, ...]
) -> None:
    check_accumulate(widths, encoding, reduction, every(widths))


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("reduction", CIRCUIT_CHOICES["reduction"])
def test_accumulate_is_exact_for_wide_terms_at_their_limits(encoding: str, reduction: str) -> None:
    rng = random.Random(1)
    widths = [27] * 16 + [26]
    rows: list[Terms] = [[(s, (1 << w) - 1) for w in widths] for s in (0, 1)]
    rows += [
        [(rng.getrandbits(1), rng.choice([0, 1, (1 << w) - 1, rng.getrandbits(w)])) for w in widths] for _ in range(120)
    ]
    check_accumulate(widths, encoding, reduction, rows)


@pytest.mark.parametrize("reduction", CIRCUIT_CHOICES["reduction"])
@pytest.mark.parametrize("widths", [(1, 1), (2, 3), (1, 2, 2), (2, 1, 1, 2)])
def test_sum_in_the_frame_of_its_last_term_is_exact_and_anticipates(reduction: str, widths: tuple[int, ...]) -> None:
    total_bits = sum(1 << w for w in widths).bit_length()
    component = AccumulateInFrame(widths, total_bits, reduction, anticipates=True, adder="brent-kung")
    rows, expected = every(widths), []
    for row in rows:
        frame = row[-1][0]
        inside = sum(in_frame(v, s != frame) for s, v in row)
        expected.append(-inside if frame else inside)
    check(component, rows, expected, total_bits)


def test_a_zero_of_the_other_sign_counts_as_minus_one() -> None:
    """−0 beside a c of 4, and +0 beside a c of −4: 3 in the frame."""
    component = AccumulateInFrame((3, 3), 4, "carry-save", anticipates=False, adder="brent-kung")
    assert [total for total, _ in summed(component, [[(1 - s, 0), (s, 4)] for s in (0, 1)])] == [3, -3]


def test_specials_combine_as_golden_does() -> None:
    choices: list[Special | None] = [None, NAN, 0, 1]
    combinations = list(itertools.product(choices, repeat=3))
    component = Specials(3)
    flags = {"nan": NAN, "pos_inf": 0, "neg_inf": 1}
    inputs = [
        {f"special.{k}.{flag}": int(special == flags[flag]) for k, special in enumerate(c) for flag in flags}
        for c in combinations
    ]
    result = component.result
    seen = outputs(component, inputs, lambda get: (get(result.nan), get(result.pos_inf), get(result.neg_inf)))
    assert seen == [tuple(int(combine(c) == special) for special in flags.values()) for c in combinations]
