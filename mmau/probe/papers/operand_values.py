"""Exact values for a device's operands: the papers' sums of powers of two, as bit patterns of any format.

The papers give values of products; here each is split into factors that the formats of a and b hold.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isqrt

import numpy as np

from golden.arithmetic.formats import Format, power_of_two
from golden.arrays import bits_dtype
from golden.stimulus import Operands, OperandShape

Value = Fraction | int
Product = Value | tuple[Value, Value]
"""The value of a product, or those of its two factors."""


class NotHeldError(ValueError):
    """A value that the device's formats do not have."""


def power(exponent: int) -> Fraction:
    """The power of two 2^exponent."""
    return power_of_two(exponent)


@dataclass(frozen=True)
class Sum:
    """One dot product by values: c, and the products from place 0 on; all further products are zero."""

    c: Value
    products: tuple[Product, ...]

    @property
    def exact(self) -> Fraction:
        """c + Σ products, exactly."""
        return Fraction(self.c) + sum((product_value(p) for p in self.products), Fraction(0))

    def shifted(self, exponent: int) -> "Sum":
        """Everything times 2^exponent; of a product given by its factors, the first one."""
        factor = power(exponent)
        shifted = tuple((p[0] * factor, p[1]) if isinstance(p, tuple) else p * factor for p in self.products)
        return Sum(self.c * factor, shifted)

    def __str__(self) -> str:
        terms = [f"c = {value_text(Fraction(self.c))}"]
        terms += [f"r{place + 1} = {_product_text(p)}" for place, p in enumerate(self.products) if product_value(p)]
        return ", ".join(terms)


def at(place: int, product: Product) -> tuple[Product, ...]:
    """Products that are zero up to one place."""
    return (*(0,) * place, product)


def product_value(product: Product) -> Fraction:
    """The exact value of a product."""
    return Fraction(product[0]) * product[1] if isinstance(product, tuple) else Fraction(product)


def code_of(value: Value, operand: Format) -> int:
    """The code of an exact value.

    Raises:
        NotHeldError: the format has none.
    """
    code = operand.encode(value, "RZ")
    if operand.value(code) != value:
        raise NotHeldError(f"{value_text(Fraction(value))} is no {operand}")
    return code


def codes_of(asked: Sequence[Sum], shape: OperandShape, normal: bool = False) -> Operands:
    """The operands of several sums; scales are one.

    Args:
        normal: whether factors must be normal numbers, which no device under test flushes.

    Raises:
        NotHeldError: a value that a format has not, or more products than the device under test takes.
    """
    a, b = (np.zeros((len(asked), shape.K), bits_dtype(operand)) for operand in (shape.a, shape.b))
    c = np.zeros(len(asked), bits_dtype(shape.c))
    for row, wanted in enumerate(asked):
        if len(wanted.products) > shape.K:
            raise NotHeldError(f"{len(wanted.products)} products are more than K={shape.K}")
        c[row] = code_of(wanted.c, shape.c)
        for place, product in enumerate(wanted.products):
            if product_value(product):
                a[row, place], b[row, place] = factor_codes(product, shape.a, shape.b, normal)
    if shape.scale is None or shape.block_size is None:
        return Operands(a, b, c, None, None)
    blocks = -(-shape.K // shape.block_size)
    one = np.full((len(asked), blocks), shape.scale.encode(1), bits_dtype(shape.scale))
    return Operands(a, b, c, one, one)


def shifts(asked: Sequence[Sum], shape: OperandShape, normal: bool) -> range:
    """The exponents, from 0 on, by which sums may be shifted without making a product too small or too large for the
    formats."""
    leads = [lead(value) for one in asked for value in map(product_value, one.products) if value]
    addends = [lead(Fraction(one.c)) for one in asked if one.c]
    subnormal = 0 if normal else shape.a.man_bits + shape.b.man_bits
    low = max((shape.a.e_min + shape.b.e_min - subnormal - e for e in leads), default=0)
    tops = [shape.a.e_max + shape.b.e_max + 1 - e for e in leads] + [shape.c.e_max - e for e in addends]
    high = min(tops, default=0)
    return range(max(0, low), high + 1)


def lead(value: Fraction) -> int:
    """Exponent of the leading bit."""
    odd, exponent = odd_part(abs(value))
    return odd.bit_length() - 1 + exponent


def factor_codes(product: Product, a: Format, b: Format, normal: bool = False) -> tuple[int, int]:
    """Codes of a and b whose product is that value, of normal numbers where the value alone is given and `normal` says so.

    Raises:
        NotHeldError: there are none.
    """
    if isinstance(product, tuple):
        return code_of(product[0], a), code_of(product[1], b)
    found = _factors(Fraction(product), a, b, normal)
    if found is None:
        raise NotHeldError(f"{value_text(Fraction(product))} is no product of {a} and {b}")
    return found


@lru_cache(maxsize=1 << 12)
def _factors(value: Fraction, a: Format, b: Format, normal: bool) -> tuple[int, int] | None:
    """Codes of two factors; of their exponents the most balanced."""
    odd, exponent = odd_part(abs(value))
    sign = -1 if value < 0 else 1
    lowest = [operand.e_min if normal else operand.e_min - operand.man_bits for operand in (a, b)]
    for first, second in _divisors(odd):
        lengths = first.bit_length() - 1, second.bit_length() - 1
        low = max(lowest[0] - lengths[0], exponent - b.e_max + lengths[1])
        high = min(a.e_max - lengths[0], exponent - lowest[1] + lengths[1])
        for x in sorted(range(low, high + 1), key=lambda x: abs(2 * x - exponent)):
            try:
                return code_of(sign * first * power(x), a), code_of(second * power(exponent - x), b)
            except NotHeldError:
                continue
    return None


def _divisors(odd: int) -> Iterator[tuple[int, int]]:
    """Factorisations of an odd number into two factors: all of them, for a number of 24 bits."""
    for divisor in range(1, min(isqrt(odd), 1 << 12) + 1, 2):
        if not odd % divisor:
            yield odd // divisor, divisor
            if divisor * divisor != odd:
                yield divisor, odd // divisor


def odd_part(value: Fraction) -> tuple[int, int]:
    """A positive dyadic value as odd·2^exponent."""
    exponent = 1 - value.denominator.bit_length()
    odd = value.numerator
    low = (odd & -odd).bit_length() - 1
    return odd >> low, exponent + low


def value_text(value: Fraction | None) -> str:
    """A dyadic value, short: `1 + 2^-23`, `-1 + 2^-24`, else an odd number times a power of two."""
    if value is None:
        return "infinity or NaN"
    if value == 0:
        return "0"
    odd, exponent = odd_part(abs(value))
    signs = ("-", "+") if value < 0 else ("", "-")
    digits = _signed_digits(odd, exponent)
    if len(digits) > 3:
        return f"{signs[0]}{odd}·2^{exponent}"
    text = signs[0] + power_text(digits[0][1])
    for positive, e in digits[1:]:
        text += f" {'+' if positive == (value > 0) else '-'} {power_text(e)}"
    return text


def _signed_digits(odd: int, exponent: int) -> list[tuple[bool, int]]:
    """The powers of two that add up to a number, as few as can be, the largest first; False where one is subtracted."""
    digits = []
    while odd:
        if odd & 1:
            positive = odd & 3 != 3
            digits.append((positive, exponent))
            odd -= 1 if positive else -1
        odd, exponent = odd >> 1, exponent + 1
    return digits[::-1]


def power_text(exponent: int) -> str:
    """A power of two: a number up to 16."""
    return str(1 << exponent) if 0 <= exponent <= 4 else f"2^{exponent}"


def _product_text(product: Product) -> str:
    if isinstance(product, tuple):
        return "·".join(f"({value_text(Fraction(factor))})" for factor in product)
    return value_text(Fraction(product))
