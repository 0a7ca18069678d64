"""The steps that the fused operations share: decode, multiply, max_exp, align, accumulate.

A term is an exact addend: `sig · 2**(exp − frac)`, where `sig` is a *signed* integer, `exp` is the
exponent that alignment sees, and `frac` is how many of sig's low bits are fraction bits at that exponent. Products are not
renormalised, so |sig| may reach 4·2**frac or lie below 2**frac (numerics.md, section 1).
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from golden.arithmetic.formats import Cls, Decoded, Format
from golden.arithmetic.rounding import Mode, shift_and_round


class Term(NamedTuple):
    """An exact addend: value = sig · 2**(exp − frac), sig signed."""

    sig: int
    exp: int
    frac: int


def decode(operand: Format, codes: Sequence[int]) -> list[Decoded]:
    """Step decode: split every code of a vector into sign, exponent, significand and class."""
    return [operand.decode(code) for code in codes]


def flushed(x: Decoded) -> Decoded:
    """The operand, with a subnormal replaced by a zero of its sign."""
    return x._replace(sig=0, cls=Cls.ZERO) if x.cls is Cls.SUBNORMAL else x


def signed_sig(x: Decoded) -> int:
    """The significand with its sign."""
    return -x.sig if x.sign else x.sig


def multiply(x: Decoded, y: Decoded, frac: int, zero_exp: int) -> Term:
    """Step multiply: the exact product, not renormalised, at the sum of the exponents; a zero product gets `zero_exp`.

    Args:
        frac: fraction bits of the product's significand, the sum of the operands' man_bits.
    """
    sig = signed_sig(x) * signed_sig(y)
    return Term(sig, x.exp + y.exp if sig else zero_exp, frac)


def raised(product: Term, h: int) -> Term:
    """The same value at an exponent that is `h` higher, with `h` more fraction bits; a zero product stays at its own."""
    return product._replace(exp=product.exp + h, frac=product.frac + h) if product.sig else product


def addend(c: Decoded, c_format: Format, zero_exp: int) -> Term:
    """The accumulator as a term; a zero gets exponent `zero_exp`."""
    return Term(signed_sig(c), c.exp if c.sig else zero_exp, c_format.man_bits)


def max_exp(terms: Iterable[Term]) -> int:
    """Step max_exp: the largest exponent, to which all terms are aligned."""
    return max(term.exp for term in terms)


def align(term: Term, e_max: int, F: int, mode: Mode) -> int:
    """Step align: the term at exponent `e_max` with `F` fractional bits, a signed integer in units of 2**(e_max − F).

    Bits below are dropped in `mode`: RZ, RD or RO.
    """
    return shift_and_round(term.sig, dropped_bits(term, e_max, F), mode)


def in_frame(aligned: int, opposite: bool) -> int:
    """A term's magnitude in the sign frame of another term: inverted (one's complement, −t − 1) if their signs differ.

    Args:
        aligned: the aligned term, of either sign.
        opposite: whether its sign is not that of the frame. A zero has a sign too, and of the other sign it counts as −1.
    """
    return ~abs(aligned) if opposite else abs(aligned)


def dropped_bits(term: Term, e_max: int, F: int) -> int:
    """Low bits of its significand that the term loses at exponent `e_max` (bits); none if the result is negative."""
    return e_max - term.exp + term.frac - F


def is_truncated(term: Term, e_max: int, F: int) -> bool:
    """Whether alignment drops any bit that is 1."""
    dropped = dropped_bits(term, e_max, F)
    return dropped > 0 and term.sig % (1 << dropped) != 0


def accumulate(aligned: Iterable[int]) -> int:
    """Step accumulate: the exact sum of the aligned terms."""
    return sum(aligned)


def add_sticky(total: int, lsb: int, truncation: Mode, man_bits: int) -> tuple[int, int]:
    """Add a sticky amount to a non-zero total: smaller than every bit that rounding could retain, but not zero.

    It stands for the bits that alignment dropped: rounding sees that there were some, but not which.

    Args:
        total: the sum of the aligned terms, in units of 2**lsb.
        truncation: with RZ the amount has the sign of the total and adds to its magnitude; with RD, which lowers every
            term, it is positive.
        man_bits: mantissa bits of the format that the total is rounded to; the amount is below half of its last place.

    Returns:
        The sum in units of 2**lsb, and that lsb.
    """
    below = man_bits + 2
    amount = -1 if total < 0 and truncation == "RZ" else 1
    return (total << below) + amount, lsb - below


def exact_sum(terms: Sequence[Term]) -> tuple[int, int]:
    """Steps align and accumulate without dropping bits: the sum in units of 2**lsb, and lsb.

    lsb is the exponent of the lowest bit of any term (exponent value).
    """
    lsb = min(term.exp - term.frac for term in terms)
    return accumulate(align(term, lsb, 0, "RZ") for term in terms), lsb
