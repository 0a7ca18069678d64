"""One input of a dot product, given as numbers, and the codes that represent it in a unit's formats."""

import re
from dataclasses import dataclass
from fractions import Fraction
from math import copysign, isfinite, isnan

from golden.arithmetic.formats import Cls, Format
from golden.text import shortened

ONE = 1.0


@dataclass(frozen=True)
class Input:
    """The numbers of one dot product: d = c + Σ a_k·b_k. Missing elements of a longer vector are zero, missing scales one.

    Attributes:
        a, b: one element per product. c: the accumulator. scale_a, scale_b: scales of the blocks of a and of b.
    """

    a: tuple[float, ...]
    b: tuple[float, ...]
    c: float
    scale_a: tuple[float, ...] = ()
    scale_b: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not self.a or len(self.a) != len(self.b):
            raise ValueError(
                f"a and b must have the same number of products, at least one; got {len(self.a)} and {len(self.b)}"
            )

    def exact(self) -> Fraction | None:
        """c + Σ a_k·b_k without scales; None where an operand is not finite."""
        if not all(map(isfinite, (*self.a, *self.b, self.c))):
            return None
        return sum((Fraction(x) * Fraction(y) for x, y in zip(self.a, self.b, strict=True)), Fraction(self.c))


MAX_CHARACTERS = 1100
"""Longest text of a number: fp64's smallest, 2^-1074, has 1077 characters in decimal."""

MAX_EXPONENT = 9999
"""Largest exponent in a text: numbers with a larger one, none within fp64's range, would take much time and memory."""

_EXPONENT = re.compile(r"(?:\^|[ep])[+-]?0*([0-9][0-9_]*)$", re.IGNORECASE)


def number(text: str) -> float:
    """The number of a text: decimal, hexadecimal (`0x1.8p-3`), a power of two (`-2^13`), `inf` or `nan`.

    Raises:
        ValueError: the text is none of these, or fp64 does not represent the number, as 0.1.
    """
    exponent = _EXPONENT.search(text)
    if len(text) > MAX_CHARACTERS or (exponent is not None and len(exponent[1]) > len(str(MAX_EXPONENT))):
        raise ValueError(
            f"a number must have at most {MAX_CHARACTERS:,} characters and an exponent of at most {MAX_EXPONENT:,} in "
            f"magnitude; got {shortened(repr(text))}"
        )
    sign, word = (-1.0, text[1:]) if text.startswith("-") else (1.0, text.removeprefix("+"))
    try:
        if word in ("inf", "nan"):
            return sign * float(word)
        if word.startswith("2^"):
            exact = Fraction(2) ** int(word[2:])
        elif word.lower().startswith("0x"):
            exact = Fraction(float.fromhex(word))
        else:
            exact = Fraction(word)
        value = float(exact)
    except (ValueError, OverflowError, ZeroDivisionError) as error:
        raise ValueError(
            f"a number must be decimal, 0x1.8p-3, -2^13, inf or nan within fp64's range; got {text!r}"
        ) from error
    if Fraction(value) != exact:
        raise ValueError(f"{text} must be a binary number of at most 53 bits; the nearest is {value.hex()}")
    return sign * value


def code_of(value: float, operand: Format) -> int | None:
    """The code of exactly this number in a format; None if it has none. Every NaN gives the quiet NaN."""
    if isnan(value):
        return operand.nan
    if not isfinite(value):
        return None if operand.infinity is None else operand.signed_infinity(int(value < 0))
    if value == 0 and copysign(1, value) < 0:
        return operand.negative_zero or None
    code = operand.encode(value)
    return code if operand.value(code) == Fraction(value) else None


def value_of(code: int, operand: Format) -> float:
    """The number of a code; fp64 represents the numbers of every format."""
    sign, _, _, cls = operand.decode(code)
    if cls is Cls.NAN:
        return float("nan")
    if cls is Cls.INFINITY:
        return float("-inf") if sign else float("inf")
    exact = operand.value(code)
    assert exact is not None
    return copysign(float(exact), -1.0 if sign else 1.0)
