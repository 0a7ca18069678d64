"""Products and addends against golden's steps, for every pair of codes, and around the threshold of infinite products."""

import itertools
from fractions import Fraction

import pytest

from golden import FORMATS, Cls, Format
from golden.arithmetic.formats import Decoded, power_of_two
from golden.arithmetic.specials import NAN, Special, addend_special, product_special
from golden.arithmetic.steps import Term, addend, multiply
from golden.operations import TRFDPA
from golden.operations.tr_fdpa import PRODUCT_OVERFLOW_EXP
from rtl.steps.multiply import Addend, Multiply
from tests.rtl.simulate import members, operand_fields, run_part

E_ZERO = -77


def products(part: Multiply, pairs: list[tuple[Decoded, Decoded]]) -> list[tuple[int, ...]]:
    """Sign, exp, sig, nan, pos_inf, neg_inf of each pair's product."""
    rows = [(*operand_fields(x), *operand_fields(y)) for x, y in pairs]
    results = [*members(part.prod), *members(part.special)]
    return run_part(part, [*members(part.x), *members(part.y)], results, rows)


def check(result: tuple[int, ...], frac: int, special: Special | None, exact: Term | None) -> None:
    """A term and the flags of its special; NaN may come with an infinity flag beside it."""
    sign, exp, sig, nan, pos_inf, neg_inf = result
    assert nan == (special == NAN)
    assert special == NAN or (pos_inf, neg_inf) == (special == 0, special == 1)
    assert exact is None or Term(-sig if sign else sig, exp, frac) == exact


LATER_PAIRS = [("e4m3", "e4m3"), ("e5m2", "e5m2"), ("e4m3fnuz", "e5m2fnuz")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("a", "b"),
    [
        *[("e2m1", "e2m1"), ("e3m2", "e2m3"), ("e2m1", "e4m3"), ("e5m2", "e2m1"), ("e4m3", "e3m2"), ("e4m3", "e5m2")],
        *(pytest.param(*pair, marks=pytest.mark.long) for pair in LATER_PAIRS),
    ],
)
def test_every_product_equals_golden(a: str, b: str) -> None:
    a_format, b_format = FORMATS[a], FORMATS[b]
    x_codes, y_codes = (list(map(f.decode, range(f.codes))) for f in (a_format, b_format))
    pairs = list(itertools.product(x_codes, y_codes))
    frac = a_format.man_bits + b_format.man_bits
    for (x, y), result in zip(pairs, products(Multiply(a_format, b_format, E_ZERO), pairs), strict=True):
        special = product_special(x, y)
        check(result, frac, special, multiply(x, y, frac, E_ZERO) if special is None else None)


def test_addend_equals_golden_for_every_code() -> None:
    c = FORMATS["e5m2"]
    part, operands = Addend(c, E_ZERO), list(map(c.decode, range(c.codes)))
    results = [*members(part.term), *members(part.special)]
    seen = run_part(part, members(part.z), results, map(operand_fields, operands))
    for z, result in zip(operands, seen, strict=True):
        check(result, c.man_bits, addend_special(z), addend(z, c, E_ZERO) if z.cls < Cls.INFINITY else None)


def magnitude(x: Decoded, y: Decoded, a: Format, b: Format) -> Fraction:
    return x.sig * y.sig * power_of_two(x.exp - a.man_bits + y.exp - b.man_bits)


def assert_overflow(a: Format, b: Format, pairs: list[tuple[Decoded, Decoded]], overflow_exp: int) -> list[bool]:
    """A finite pair's special is an infinity of its sign from 2**overflow_exp on, else nothing; returns where it is one."""
    overflows = [magnitude(x, y, a, b) >= power_of_two(overflow_exp) for x, y in pairs]
    seen = products(Multiply(a, b, E_ZERO, overflow_exp), pairs)
    for (x, y), infinite, (*_, nan, pos_inf, neg_inf) in zip(pairs, overflows, seen, strict=True):
        negative = x.sign != y.sign
        assert (nan, pos_inf, neg_inf) == (0, infinite and not negative, infinite and negative), (x, y, overflow_exp)
    return overflows


@pytest.mark.parametrize("overflow_exp", [29, 30, 31, 32])
def test_products_of_e5m2_overflow_from_the_threshold_on(overflow_exp: int) -> None:
    e5m2 = FORMATS["e5m2"]
    finite = [x for x in map(e5m2.decode, range(e5m2.codes)) if x.cls < Cls.INFINITY]
    pairs = [(x, y) for x in finite for y in finite if x.exp + y.exp >= overflow_exp - 3 or x.exp == y.exp == e5m2.e_min]
    assert any(assert_overflow(e5m2, e5m2, pairs, overflow_exp)) == (overflow_exp < 32)


@pytest.mark.slow
@pytest.mark.parametrize(("a", "b"), [("bf16", "bf16"), ("tf32", "tf32"), ("bf16", "tf32"), ("tf32", "e5m2")])
def test_products_overflow_from_2_to_the_128_on(a: str, b: str) -> None:
    a_format, b_format = FORMATS[a], FORMATS[b]
    pairs = around_the_threshold(a_format, b_format, PRODUCT_OVERFLOW_EXP)
    assert_overflow(a_format, b_format, pairs, PRODUCT_OVERFLOW_EXP)
    operation = TRFDPA(a=a_format, b=b_format, c=FORMATS["fp32"], L=1, F=24, F2=31)
    overflows = [magnitude(x, y, a_format, b_format) >= 1 << 128 for x, y in pairs]
    results = [operation.step([code(a_format, x)], [code(b_format, y)], 0) for x, y in pairs]
    assert [operation.d.decode(d).cls is Cls.INFINITY for d in results] == overflows
    assert set(overflows) == {False, True}


def around_the_threshold(a: Format, b: Format, overflow_exp: int) -> list[tuple[Decoded, Decoded]]:
    """Normal pairs whose exponents sum to about the threshold: each significand of a with those of b just below and just
    above a product of 2, and the extremes; and subnormals against the largest numbers."""
    one_a, one_b = 1 << a.man_bits, 1 << b.man_bits
    pairs = []
    for sig in range(one_a, 2 * one_a):
        meets = -(-2 * one_a * one_b // sig)  # the smallest significand of b that makes the product 2 or more
        sigs = {one_b, 2 * one_b - 1, *(s for s in (meets - 1, meets) if one_b <= s < 2 * one_b)}
        for place, (total, other) in enumerate(itertools.product(range(overflow_exp - 2, overflow_exp + 1), sorted(sigs))):
            lowest, highest = max(a.e_min, total - b.e_max), min(a.e_max, total - b.e_min)
            exp = lowest + (5 * sig + place) % (highest - lowest + 1)
            pairs.append((operand((sig + place) & 1, exp, sig), operand(place & 1, total - exp, other)))
    pairs += [(operand(0, a.e_min, sig), operand(sig & 1, b.e_max, 2 * one_b - 1)) for sig in (1, one_a - 1)]
    return pairs


def operand(sign: int, exp: int, sig: int) -> Decoded:
    return Decoded(sign, exp, sig, Cls.NORMAL)


def code(fmt: Format, x: Decoded) -> int:
    stored_exp = x.exp + fmt.bias if x.sig >> fmt.man_bits else 0
    field = (stored_exp << fmt.man_bits) | (x.sig & ((1 << fmt.man_bits) - 1))
    return (x.sign << (fmt.width - 1)) | (field << fmt.pad_bits)
