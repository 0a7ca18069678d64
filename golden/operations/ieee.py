"""IEEE 754 addition and multiplication on exact integers: a sum of exact terms, rounded once to nearest even."""

from collections.abc import Sequence
from typing import NamedTuple

from golden.formats import Decoded, Format
from golden.specials import Special, addend_special, combine, encode_special, product_special


class ExactTerm(NamedTuple):
    """value = (−1)^sign · magnitude · 2**lsb, unless special; the sign counts for zeros too."""

    sign: int
    magnitude: int
    lsb: int
    special: Special | None


def exact_product(x: Decoded, x_format: Format, y: Decoded, y_format: Format) -> ExactTerm:
    """x·y, nothing rounded."""
    lsb = x.exp - x_format.man_bits + y.exp - y_format.man_bits
    return ExactTerm(x.sign ^ y.sign, x.sig * y.sig, lsb, product_special(x, y))


def exact_addend(z: Decoded, z_format: Format) -> ExactTerm:
    """z itself."""
    return ExactTerm(z.sign, z.sig, z.exp - z_format.man_bits, addend_special(z))


def rounded_sum(terms: Sequence[ExactTerm], d: Format, nan: int) -> int:
    """RNE of the exact sum, as a code of `d`; `nan` where it is a NaN.

    An exact zero is −0 only where every term is negative (IEEE 754, 6.3).
    """
    special = combine(term.special for term in terms)
    if special is not None:
        return encode_special(special, d, nan)
    lsb = min(term.lsb for term in terms)
    total = sum((-term.magnitude if term.sign else term.magnitude) << (term.lsb - lsb) for term in terms)
    if total == 0:
        return d.negative_zero if all(term.sign for term in terms) else 0
    return d.encode_scaled(total, lsb, "RNE")


def quiet_nan(d: Format) -> int:
    """The NaN that these models write where the silicon's encoding is unmeasured: quiet, positive, payload empty."""
    if d.nan is None:
        raise ValueError(f"{d} has no NaN")
    return d.nan
