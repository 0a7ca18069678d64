"""Special significands, and factors of products that end as they should."""

import numpy as np
import pytest

from golden.arithmetic.formats import BF16, E2M1, E4M3, E5M2, FP16, FP32, FP64, TF32, Format, power_of_two
from golden.stimulus import GeneratorDraws
from golden.stimulus.chosen_sums import bit_length, codes_of, factors, significands, with_last_bit_alone

PAIRS = [(FP64, FP64), (FP32, FP32), (TF32, TF32), (FP16, FP16), (BF16, BF16), (E5M2, E4M3), (E2M1, E2M1)]


def draws() -> GeneratorDraws:
    return GeneratorDraws(np.random.default_rng(1))


def products(a: Format, b: Format, frac_a: np.ndarray, frac_b: np.ndarray) -> list[int]:
    """The significands' products without the zeros at their end."""
    assert min(frac_a.min(), frac_b.min()) >= 0
    assert frac_a.max() < 1 << a.man_bits
    assert frac_b.max() < 1 << b.man_bits
    pairs = zip(frac_a.tolist(), frac_b.tolist(), strict=True)
    found = [(x + (1 << a.man_bits)) * (y + (1 << b.man_bits)) for x, y in pairs]
    return [product // (product & -product) for product in found]


@pytest.mark.parametrize("bits", [1, 2, 3, 24, 53])
def test_significands_have_their_bits_and_the_special_ones_are_there(bits: int) -> None:
    found = significands(draws(), np.full(2000, bits))
    assert set(bit_length(found).tolist()) == {bits}
    top = 1 << (bits - 1)
    assert {top, top | 1, 2 * top - 1} <= set(found.tolist())
    assert len(set(found.tolist())) >= min(top, 500)


@pytest.mark.parametrize(("a", "b"), PAIRS, ids=str)
@pytest.mark.parametrize("second_last", [0, 1])
def test_factors_of_a_product_of_given_width(a: Format, b: Format, second_last: int) -> None:
    """Nearly all products have the width and the bit that are asked for, and the place that is said."""
    width = np.repeat(np.arange(4, a.man_bits + b.man_bits + 1), 50)
    if not len(width):  # e2m1's products have four bits at most
        width = np.full(50, 2)
        second_last = 1
    frac_a, frac_b, above = factors(a, b, draws(), width, np.full(len(width), second_last))
    found = products(a, b, frac_a, frac_b)
    right = [p.bit_length() == w and p >> 1 & 1 == second_last for p, w in zip(found, width.tolist(), strict=True)]
    assert sum(right) > 0.6 * len(right)
    check_places(a, b, frac_a, frac_b, above)


@pytest.mark.parametrize(("a", "b"), PAIRS, ids=str)
def test_the_last_bit_stands_alone(a: Format, b: Format) -> None:
    apart = np.repeat(np.arange(1, b.man_bits + 1), 40)
    frac_a, frac_b, above = with_last_bit_alone(a, b, draws(), apart)
    found = products(a, b, frac_a, frac_b)
    assert [p & ((2 << n) - 1) for p, n in zip(found, apart.tolist(), strict=True)] == [1 | 1 << n for n in apart.tolist()]
    check_places(a, b, frac_a, frac_b, above)


def check_places(a: Format, b: Format, frac_a: np.ndarray, frac_b: np.ndarray, above: np.ndarray) -> None:
    """Factors of exponent 0 whose product's last bit is so far below."""
    for x, y, distance in zip(frac_a.tolist(), frac_b.tolist(), above.tolist(), strict=True):
        product = (x + (1 << a.man_bits)) * (y + (1 << b.man_bits))
        assert a.man_bits + b.man_bits - ((product & -product).bit_length() - 1) == distance


@pytest.mark.parametrize("operand", [FP32, FP16, E4M3, TF32], ids=str)
def test_codes_of_integers(operand: Format) -> None:
    sign = np.array([0, 1, 0, 1, 0])
    value, lsb = np.array([1, 5, 0, -3, 6]), np.array([-2, -3, 0, 1, operand.e_min - operand.man_bits])
    codes = codes_of(operand, sign, value, lsb).tolist()
    exact = [(-1) ** int(s) * int(v) * power_of_two(int(e)) for s, v, e in zip(sign, value, lsb, strict=True)]
    assert codes == [operand.encode(x) for x in exact]
