"""IEEE 754 addition: an exact sum of finite terms rounded once to nearest even, and the sum of two codes of one format."""

from collections.abc import Iterable, Sequence

from golden.arithmetic.formats import Format
from golden.arithmetic.rounding import Mode
from golden.arithmetic.specials import addend_special, combine, encode_special
from golden.arithmetic.steps import Term, addend, exact_sum


def rounded_sum(terms: Sequence[Term], d: Format, negative_zero: bool) -> int:
    """RNE of the exact sum, as a code of `d`.

    Args:
        negative_zero: whether an exact zero is −0: if every term is negative, zeros included (IEEE 754, section 6.3).
    """
    total, lsb = exact_sum(terms)
    if total == 0:
        return d.negative_zero if negative_zero else 0
    return d.encode_scaled(total, lsb, "RNE")


def is_zero_negative(signs: Iterable[int], mode: Mode) -> bool:
    """Whether an exact sum of zero is −0 (IEEE 754, section 6.3): if every term is negative, zeros included; under RD,
    if any term is negative.

    Args:
        signs: signs of the terms.
    """
    return any(signs) if mode == "RD" else all(signs)


def add(x: int, y: int, operand: Format, nan: int) -> int:
    """x + y, codes of one format, RNE; `nan` if the sum is a NaN."""
    p, q = operand.decode(x), operand.decode(y)
    special = combine((addend_special(p), addend_special(q)))
    if special is not None:
        return encode_special(special, operand, nan)
    terms = [addend(z, operand, operand.e_min) for z in (p, q)]
    return rounded_sum(terms, operand, negative_zero=bool(p.sign and q.sign))
