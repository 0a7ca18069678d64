"""Alignment against exact fractions: every truncation, significand and gap at small widths, and far gaps."""

import itertools

import pytest
from amaranth import Const

from golden.arithmetic.formats import power_of_two
from rtl.steps.align import Align, Truncation
from rtl.steps.interfaces import ExpRange, TermFormat
from tests.rtl.simulate import members, run_part

SHAPES = [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3)]
"""Bits of a significand, and of its fraction."""


def check(part: Align, cases: list[tuple[int, int, int, int]]) -> None:
    """Sign, exponent, significand and e_max of each case."""
    last = part.gap if part.gap_given else part.e_max
    results = [part.sign, part.aligned, part.lost if part.tells_lost else Const(0, 1)]
    rows = [(sign, exp, sig, e_max - exp if part.gap_given else e_max) for sign, exp, sig, e_max in cases]
    seen = run_part(part, [*members(part.term), last], results, rows)
    assert len(seen) == len(cases) > 0
    for case, (sign, aligned, lost) in zip(cases, seen, strict=True):
        kept, loses = magnitude(part, *case)
        assert (sign, aligned, lost) == (case[0], kept, loses if part.tells_lost else 0), case


def magnitude(part: Align, sign: int, exp: int, sig: int, e_max: int) -> tuple[int, bool]:
    """The exact magnitude cut to units of 2**(e_max − F), and whether anything was cut."""
    exact = sig * power_of_two(part.F - part.format.frac - (0 if part.truncation == "unshifted" else e_max - exp))
    floor = exact.numerator // exact.denominator
    match part.truncation:
        case "RZ":
            return floor, floor != exact
        case "RD":  # away from zero below it
            return floor + (sign and floor != exact), floor != exact
        case "RO":
            return floor | (floor != exact), floor != exact
        case "unshifted":
            assert floor == exact
            return floor, False


@pytest.mark.slow
@pytest.mark.parametrize("gap_given", [False, True])
@pytest.mark.parametrize(
    ("truncation", "tells_lost"),
    [pytest.param("RZ", False, marks=pytest.mark.long), ("RZ", True), ("RD", True), ("RO", False)],
)
@pytest.mark.parametrize(("sig_bits", "frac"), [*SHAPES[:-1], pytest.param(*SHAPES[-1], marks=pytest.mark.long)])
def test_every_term_at_every_gap(
    sig_bits: int, frac: int, truncation: Truncation, tells_lost: bool, gap_given: bool
) -> None:
    for F in (1, 2, 4, 7):
        part = Align(TermFormat(ExpRange(-2, 1), sig_bits, frac), ExpRange(-2, 18), F, truncation, gap_given, tells_lost)
        terms = itertools.product((0, 1), range(-2, 2), range(1 << sig_bits))
        check(part, [(sign, exp, sig, e_max) for sign, exp, sig in terms for e_max in range(exp, 19)])


@pytest.mark.parametrize("truncation", ["RZ", "RD", "RO"])
def test_no_gap_is_too_far(truncation: Truncation) -> None:
    """Gaps of up to 600 places, around every power of two, where a shifter's level begins or ends."""
    part = Align(TermFormat(ExpRange(-300, 300), 3, 2), ExpRange(-300, 300), 5, truncation)
    gaps = sorted({gap for power in range(10) for gap in range((1 << power) - 1, (1 << power) + 2)} | {599, 600})
    check(part, [(sign, -300, sig, gap - 300) for sign in (0, 1) for sig in range(8) for gap in gaps if gap <= 600])


@pytest.mark.parametrize("gap_given", [False, True])
@pytest.mark.parametrize(("sig_bits", "frac"), SHAPES)
def test_unshifted_term_stays_at_its_place_whatever_the_gap(sig_bits: int, frac: int, gap_given: bool) -> None:
    for F in (frac, frac + 1, frac + 4):
        part = Align(TermFormat(ExpRange(-2, 1), sig_bits, frac), ExpRange(-2, 9), F, "unshifted", gap_given)
        terms = itertools.product((0, 1), range(-2, 2), range(1 << sig_bits))
        check(part, [(sign, exp, sig, e_max) for sign, exp, sig in terms for e_max in (exp, exp + 1, 9)])
