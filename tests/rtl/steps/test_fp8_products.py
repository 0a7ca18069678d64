"""Every product of two FP8 codes, and products around the threshold from which they are infinities."""

import itertools
from fractions import Fraction

import pytest
from amaranth import Module, Signal, Value

from golden import FORMATS, Cls, Format
from golden.arithmetic.formats import Decoded, power_of_two
from golden.arithmetic.specials import NAN, product_special
from golden.arithmetic.steps import multiply
from golden.operations import TRFDPA
from golden.operations.tr_fdpa import PRODUCT_OVERFLOW_EXP
from rtl.steps.multiply import Multiply
from tests.rtl.simulate import evaluate, members, operand_fields

E_ZERO = -77


def products(part: Multiply, a: Format, b: Format, pairs: list[tuple[Decoded, Decoded]]) -> list[tuple[int, ...]]:
    """Sign, exp, sig, nan, pos_inf, neg_inf of each pair's product."""
    shapes = [port.shape() for side in (part.x, part.y) for port in members(side)]

    def build(m: Module, inputs: list[Signal]) -> list[Value]:
        m.submodules.multiply = part
        ports = [*members(part.x), *members(part.y)]
        m.d.comb += [port.eq(value) for port, value in zip(ports, inputs, strict=True)]
        return [*members(part.prod), *members(part.special)]

    rows = {(p, q): (*operand_fields(p), *operand_fields(q)) for p, q in pairs}
    return evaluate(shapes, build, [rows[pair] for pair in pairs])


def magnitude(x: Decoded, y: Decoded, a: Format, b: Format) -> Fraction:
    return x.sig * y.sig * power_of_two(x.exp - a.man_bits + y.exp - b.man_bits)


def assert_overflow(part: Multiply, a: Format, b: Format, pairs: list[tuple[Decoded, Decoded]], overflow_exp: int) -> None:
    """A finite pair's special is an infinity of its sign from 2**overflow_exp on, else nothing."""
    threshold = power_of_two(overflow_exp)
    for (x, y), (*_, nan, pos_inf, neg_inf) in zip(pairs, products(part, a, b, pairs), strict=True):
        infinite = magnitude(x, y, a, b) >= threshold
        negative = x.sign != y.sign
        assert (nan, pos_inf, neg_inf) == (0, infinite and not negative, infinite and negative), (x, y, overflow_exp)


@pytest.mark.parametrize("overflow_exp", [29, 30, 31, 32])
def test_products_of_e5m2_overflow_from_the_threshold_on(overflow_exp: int) -> None:
    e5m2 = FORMATS["e5m2"]
    finite = [x for x in map(e5m2.decode, range(e5m2.codes)) if x.cls < Cls.INFINITY]
    pairs = [(x, y) for x in finite for y in finite if x.exp + y.exp >= overflow_exp - 3 or x.exp == y.exp == e5m2.e_min]
    largest = max(magnitude(x, y, e5m2, e5m2) for x, y in pairs)
    assert (largest >= power_of_two(overflow_exp)) == (overflow_exp < 32)
    assert_overflow(Multiply(e5m2, e5m2, E_ZERO, overflow_exp), e5m2, e5m2, pairs, overflow_exp)


@pytest.mark.slow
@pytest.mark.parametrize(("a", "b"), [("bf16", "bf16"), ("tf32", "tf32"), ("bf16", "tf32"), ("tf32", "e5m2")])
def test_products_overflow_from_2_to_the_128_on(a: str, b: str) -> None:
    a_format, b_format = FORMATS[a], FORMATS[b]
    pairs = around_the_threshold(a_format, b_format, PRODUCT_OVERFLOW_EXP)
    assert_overflow(
        Multiply(a_format, b_format, E_ZERO, PRODUCT_OVERFLOW_EXP), a_format, b_format, pairs, PRODUCT_OVERFLOW_EXP
    )
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


OTHER_PAIRS = [("e4m3", "e4m3"), ("e5m2", "e5m2"), ("e4m3fnuz", "e5m2fnuz")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("a", "b"), [("e4m3", "e5m2"), *(pytest.param(*pair, marks=pytest.mark.long) for pair in OTHER_PAIRS)]
)
def test_every_fp8_product_equals_golden(a: str, b: str) -> None:
    a_format, b_format = FORMATS[a], FORMATS[b]
    x_codes, y_codes = (list(map(f.decode, range(f.codes))) for f in (a_format, b_format))
    pairs = list(itertools.product(x_codes, y_codes))
    assert len(pairs) == 65536
    frac = a_format.man_bits + b_format.man_bits
    seen = products(Multiply(a_format, b_format, E_ZERO), a_format, b_format, pairs)
    for (x, y), (sign, exp, sig, nan, pos_inf, neg_inf) in zip(pairs, seen, strict=True):
        special = product_special(x, y)
        assert nan == (special == NAN), (x, y)
        if special is None:
            assert (-sig if sign else sig, exp, frac) == multiply(x, y, frac, E_ZERO), (x, y)
        if special != NAN:
            assert (pos_inf, neg_inf) == (special == 0, special == 1), (x, y)
