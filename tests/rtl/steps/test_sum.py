"""Exponent maximum, alignment, accumulation and specials against golden's steps, exhaustively at small widths."""

import itertools
import random
from collections.abc import Callable
from typing import Any

import pytest

from golden.arithmetic.specials import NAN, Special, combine
from golden.arithmetic.steps import Term, align
from golden.units.unit import CIRCUIT_CHOICES, ENCODINGS
from rtl.arithmetic.leading_zeros import ANTICIPATION_ERROR
from rtl.steps.accumulate import Accumulate
from rtl.steps.align import Align, Truncation
from rtl.steps.interfaces import ExpRange, TermFormat
from rtl.steps.max_exp import MaxExp, PairwiseMaxExp
from rtl.steps.specials import Specials
from tests.rtl.simulate import outputs
from tests.volume import one_in


@pytest.mark.parametrize("part", [MaxExp, PairwiseMaxExp])
@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_max_exp_is_the_largest_of_every_combination(part: Any, count: int) -> None:
    ranges = [ExpRange(-3, 1), ExpRange(-2, 2), ExpRange(0, 1), ExpRange(-3, -2), ExpRange(1, 2)][:count]
    combinations = list(itertools.product(*(range(r.low, r.high + 1) for r in ranges)))
    largest = ExpRange(max(r.low for r in ranges), max(r.high for r in ranges))
    component = part(ranges, largest)
    seen = outputs(
        component, [{f"exp_{k}": e for k, e in enumerate(c)} for c in combinations], lambda get: get(component.e_max)
    )
    assert seen == [max(c) for c in combinations]


def test_pairwise_max_exp_gives_every_gap() -> None:
    ranges = [ExpRange(-3, 1), ExpRange(-2, 2), ExpRange(-4, 1), ExpRange(0, 0)]
    combinations = list(itertools.product(*(range(r.low, r.high + 1) for r in ranges)))
    component = PairwiseMaxExp(ranges, ExpRange(0, 2))
    seen = outputs(
        component,
        [{f"exp_{k}": e for k, e in enumerate(c)} for c in combinations],
        lambda get: [get(getattr(component, f"gap_{k}")) for k in range(len(ranges))],
    )
    assert seen == [[max(c) - e for e in c] for c in combinations]


@pytest.mark.slow
@pytest.mark.parametrize("gap_given", [False, True])
@pytest.mark.parametrize("truncation", ["RZ", "RD", "RO"])
@pytest.mark.parametrize("F", one_in(2, [1, 2, 3, 5, 9]))
def test_align_equals_golden_for_every_term_and_gap(truncation: Truncation, F: int, gap_given: bool) -> None:
    shape = TermFormat(ExpRange(-9, 0), sig_bits=5, frac=3)
    component = Align(shape, ExpRange(-9, 3), F, truncation, gap_given)
    cases = [(s, e, sig, top) for s in (0, 1) for e in range(-9, 1) for sig in range(32) for top in range(e, 4)]
    seen = outputs(
        component,
        [
            {"term.sign": s, "term.exp": e, "term.sig": sig} | ({"gap": top - e} if gap_given else {"e_max": top})
            for s, e, sig, top in cases
        ],
        lambda get: (get(component.sign), get(component.aligned)),
    )
    for (s, e, sig, top), (sign, aligned) in zip(cases, seen, strict=True):
        exact = Term(-sig if s else sig, e, shape.frac)
        expected = align(exact, top, F, "RD" if truncation == "RD" else "RZ")
        if truncation == "RO" and align(exact, top, F + 40, "RZ") != expected << 40:
            expected = -(-expected | 1) if s else expected | 1
        assert (-aligned if sign else aligned) == expected, (s, e, sig, top)


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("reduction", CIRCUIT_CHOICES["reduction"])
@pytest.mark.parametrize("widths", [(1,), (3, 2), (3, 3, 2), (2, 2, 2, 1)])
def test_accumulate_is_exact_and_anticipates_for_every_combination(
    encoding: str, reduction: str, widths: tuple[int, ...]
) -> None:
    total_bits = sum((1 << w) - 1 for w in widths).bit_length()
    component = Accumulate(widths, total_bits, encoding, reduction, anticipates=True)
    terms = [[(s, v) for s in (0, 1) for v in range(1 << w)] for w in widths]
    combinations = list(itertools.product(*terms))
    inputs = [
        {f"sign_{k}": s for k, (s, _) in enumerate(c)} | {f"aligned_{k}": v for k, (_, v) in enumerate(c)}
        for c in combinations
    ]
    seen = outputs(component, inputs, lambda get: (signed_total(component, get), get(component.zeros)))
    assert [total for total, _ in seen] == [sum(-v if s else v for s, v in c) for c in combinations]
    assert_anticipated(seen, total_bits)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("reduction", CIRCUIT_CHOICES["reduction"])
def test_every_sum_of_two_five_bit_terms_is_anticipated(encoding: str, reduction: str) -> None:
    component = Accumulate((5, 5), 6, encoding, reduction, anticipates=True)
    cases = list(itertools.product((0, 1), range(32), range(32)))
    inputs = [{"sign_0": 0, "aligned_0": p, "sign_1": s, "aligned_1": q} for s, p, q in cases]
    seen = outputs(component, inputs, lambda get: (signed_total(component, get), get(component.zeros)))
    assert [total for total, _ in seen] == [p - q if s else p + q for s, p, q in cases]
    assert_anticipated(seen, 6)


def signed_total(component: Accumulate, get: Callable[[Any], int]) -> int:
    return -get(component.total) if get(component.sign) else get(component.total)


def assert_anticipated(seen: list[tuple[int, int]], total_bits: int) -> None:
    """Right or too small by at most ANTICIPATION_ERROR, wherever there is a leading one."""
    errors = {total_bits - abs(total).bit_length() - zeros for total, zeros in seen if total}
    assert errors <= set(range(ANTICIPATION_ERROR + 1)), errors
    assert 0 in errors


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("reduction", CIRCUIT_CHOICES["reduction"])
def test_accumulate_is_exact_for_wide_terms_at_their_limits(encoding: str, reduction: str) -> None:
    rng = random.Random(1)
    widths = [27] * 16 + [26]
    total_bits = sum((1 << w) - 1 for w in widths).bit_length()
    component = Accumulate(widths, total_bits, encoding, reduction, anticipates=True)
    rows = [[(s, (1 << w) - 1) for w in widths] for s in (0, 1)]
    rows += [
        [(rng.getrandbits(1), rng.choice([0, 1, (1 << w) - 1, rng.getrandbits(w)])) for w in widths] for _ in range(120)
    ]
    inputs = [
        {f"sign_{k}": s for k, (s, _) in enumerate(r)} | {f"aligned_{k}": v for k, (_, v) in enumerate(r)} for r in rows
    ]
    seen = outputs(component, inputs, lambda get: (signed_total(component, get), get(component.zeros)))
    assert [total for total, _ in seen] == [sum(-v if s else v for s, v in row) for row in rows]
    assert_anticipated(seen, total_bits)


def test_specials_combine_as_golden_does() -> None:
    choices: list[Special | None] = [None, NAN, 0, 1]
    combinations = list(itertools.product(choices, repeat=3))
    component = Specials(3)
    inputs = [
        {
            f"special.{k}.{flag}": int(special == value)
            for k, special in enumerate(combination)
            for flag, value in (("nan", NAN), ("pos_inf", 0), ("neg_inf", 1))
        }
        for combination in combinations
    ]
    result = component.result
    seen = outputs(component, inputs, lambda get: (get(result.nan), get(result.pos_inf), get(result.neg_inf)))
    for combination, flags in zip(combinations, seen, strict=True):
        expected = combine(combination)
        assert flags == (int(expected == NAN), int(expected == 0), int(expected == 1)), combination
