"""Computes one dot product of exact numbers on an instruction or a unit, and shows its result."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

import golden

Number = Fraction | int | float

Model = golden.Instruction | golden.Unit


def products_of(model: Model) -> int:
    """Products of one dot product: an instruction's k, a unit's step."""
    return model.k if isinstance(model, golden.Instruction) else model.operation.length


def code_of(model: Model, pairs: Sequence[tuple[Number, Number]], c: Number) -> int:
    """d as its code, of the products `pairs` and zeros for the rest.

    Raises:
        ValueError: a number that its format does not hold, or more products than the model has.
    """
    rest = products_of(model) - len(pairs)
    if rest < 0:
        raise ValueError(f"a row must have at most {products_of(model)} products, got {len(pairs)}")
    a, b = ([_code(fmt, pair[n]) for pair in pairs] + [0] * rest for n, fmt in enumerate((model.a, model.b)))
    return codes_to_code(model, a, b, _code(model.operation.c, c))


def codes_to_code(model: Model, a: Sequence[int], b: Sequence[int], c: int) -> int:
    """d as its code, of codes, in the exact Python model."""
    operands = (array(model.a, a), array(model.b, b), array(model.operation.c, [c])[0])
    return int(model.dot(*operands, engine="reference"))


def value_of(model: Model, pairs: Sequence[tuple[Number, Number]], c: Number) -> Fraction:
    """d of finite numbers as an exact number."""
    value = model.operation.d.value(code_of(model, pairs, c))
    assert value is not None
    return value


def shown(value: Fraction) -> str:
    """A number as text, written with powers of two where that is shorter: 1 − 2^−24 instead of 0.999999940395355."""
    if value == 0:
        return "0"
    sign, size = ("−" if value < 0 else ""), abs(value)
    if len(str(float(size))) <= 8 and Fraction(str(float(size))) == size:
        return f"{sign}{float(size):g}"
    if _exponent(size) is not None:
        return f"{sign}2^{_signed(_exponent(size))}"
    near = Fraction(round(size))
    gap = size - near
    if near and _exponent(abs(gap)) is not None:
        inner = f"{near} {'+' if gap > 0 else '−'} 2^{_signed(_exponent(abs(gap)))}"
        return f"−({inner})" if value < 0 else inner
    return float(value).hex()


def _exponent(size: Fraction) -> int | None:
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    return exponent if Fraction(2) ** exponent == size else None


def _signed(exponent: int | None) -> str:
    return str(exponent).replace("-", "−")


def _code(fmt: golden.Format, number: Number) -> int:
    code = fmt.encode(number)
    if fmt.value(code) != Fraction(number):
        raise ValueError(f"a number must be one of {fmt}, got {number}")
    return code


def array(fmt: golden.Format, codes: Sequence[int]) -> npt.NDArray[Any]:
    """Codes in an array of the format's storage width."""
    return np.array(codes, f"uint{fmt.storage_bits}")
