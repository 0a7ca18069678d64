"""The steps that the fused operations share: decode, multiply, max_exp, align, accumulate.

A term is an exact number waiting to be summed: `sig · 2**(exp − frac)`, where `sig` is a *signed* integer, `exp` is the
exponent that alignment sees, and `frac` is how many of sig's low bits are fraction bits at that exponent. Products are not
renormalised, so |sig| may reach 4·2**frac or lie below 2**frac (numerics.md, section 1).
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from golden.formats import Cls, Decoded, Format
from golden.rounding import Mode, shift_and_round


class Term(NamedTuple):
    """An exact addend: value = sig · 2**(exp − frac), sig signed."""

    sig: int
    exp: int
    frac: int


def decode(operand: Format, codes: Sequence[int]) -> list[Decoded]:
    """Step decode: every code of a vector, split into its parts."""
    return [operand.decode(code) for code in codes]


def flushed(x: Decoded) -> Decoded:
    """A subnormal operand read as a zero of its sign."""
    return x._replace(sig=0, cls=Cls.ZERO) if x.cls is Cls.SUBNORMAL else x


def signed_sig(x: Decoded) -> int:
    """The significand with its sign."""
    return -x.sig if x.sign else x.sig


def multiply(x: Decoded, y: Decoded, frac: int, zero_exp: int) -> Term:
    """Step multiply: the exact product, exponents added, not renormalised; a zero product gets exponent `zero_exp`.

    Args:
        frac: fraction bits of the product's significand, the sum of the operands' man_bits.
    """
    sig = signed_sig(x) * signed_sig(y)
    return Term(sig, x.exp + y.exp if sig else zero_exp, frac)


def addend(c: Decoded, c_format: Format, zero_exp: int) -> Term:
    """The accumulator as a term; a zero gets exponent `zero_exp`."""
    return Term(signed_sig(c), c.exp if c.sig else zero_exp, c_format.man_bits)


def max_exp(terms: Iterable[Term]) -> int:
    """Step max_exp: the exponent that everything is aligned to."""
    return max(term.exp for term in terms)


def align(term: Term, e_max: int, F: int, mode: Mode) -> int:
    """Step align: the term at exponent `e_max` with `F` fractional bits, a signed integer in units of 2**(e_max − F).

    Bits below are dropped in `mode`: RZ, RD or RO.
    """
    return shift_and_round(term.sig, dropped_bits(term, e_max, F), mode)


def dropped_bits(term: Term, e_max: int, F: int) -> int:
    """How many low bits of its significand the term loses at exponent `e_max`; none where that is negative (bits)."""
    return e_max - term.exp + term.frac - F


def is_truncated(term: Term, e_max: int, F: int) -> bool:
    """Whether alignment drops a one."""
    dropped = dropped_bits(term, e_max, F)
    return dropped > 0 and term.sig % (1 << dropped) != 0


def accumulate(aligned: Iterable[int]) -> int:
    """Step accumulate: the exact sum of the aligned terms."""
    return sum(aligned)


def add_sticky(total: int, lsb: int, truncation: Mode, man_bits: int) -> tuple[int, int]:
    """A total other than 0 plus an amount that is not 0 and below every bit that rounding could keep: which bits alignment
    dropped is forgotten, that it dropped some is not.

    Args:
        total: the sum of the aligned terms, in units of 2**lsb.
        truncation: with RZ the amount has the sign of the total, which it joins below its magnitude; with RD, which takes
            from every term, it is positive.
        man_bits: of the format that the total is rounded to: the amount lies below the half of its last place (bits).

    Returns:
        The sum in units of 2**lsb, and that lsb.
    """
    below = man_bits + 2
    amount = -1 if total < 0 and truncation == "RZ" else 1
    return (total << below) + amount, lsb - below


def exact_sum(terms: Sequence[Term]) -> tuple[int, int]:
    """Steps align and accumulate where no bit is dropped: the sum in units of 2**lsb, and lsb.

    lsb is the exponent of the lowest bit of any term (exponent value).
    """
    lsb = min(term.exp - term.frac for term in terms)
    return accumulate(align(term, lsb, 0, "RZ") for term in terms), lsb
