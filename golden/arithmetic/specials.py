"""The rules for NaN and infinity that all fused operations share (numerics.md, section 3)."""

from collections.abc import Iterable, Sequence
from typing import Literal

from golden.arithmetic.formats import Cls, Decoded, Format

NAN: Literal["nan"] = "nan"
Special = Literal["nan", 0, 1]
"""A result that is not finite: NaN, or the sign of the infinity."""


def product_special(x: Decoded, y: Decoded) -> Special | None:
    """NaN for NaN or 0·∞, the sign for an infinite product, None for a finite one."""
    if x.cls < Cls.INFINITY and y.cls < Cls.INFINITY:
        return None
    if Cls.NAN in (x.cls, y.cls) or Cls.ZERO in (x.cls, y.cls):
        return NAN
    return 1 if x.sign != y.sign else 0


def addend_special(c: Decoded) -> Special | None:
    """NaN or the sign of an infinite accumulator, None for a finite one."""
    if c.cls < Cls.INFINITY:
        return None
    if c.cls is Cls.NAN:
        return NAN
    return 1 if c.sign else 0


def combine(specials: Iterable[Special | None]) -> Special | None:
    """The special result of a sum: NaN for a NaN or for infinities of both signs, else the infinity, else None."""
    found = {special for special in specials if special is not None}
    if not found:
        return None
    return NAN if len(found) > 1 or NAN in found else found.pop()


def sum_special(a: Sequence[Decoded], b: Sequence[Decoded], c: Decoded) -> Special | None:
    """The special result of c + Σ a_k·b_k, None if every term is finite."""
    return combine([addend_special(c), *map(product_special, a, b)])


def scaled_special(factors: Sequence[Decoded]) -> Special | None:
    """The special result of the product of two elements and their scales: NaN for NaN or 0·∞, the sign for an infinite
    product, None for a finite one."""
    classes = [factor.cls for factor in factors]
    if Cls.NAN in classes or (Cls.INFINITY in classes and Cls.ZERO in classes):
        return NAN
    if Cls.INFINITY not in classes:
        return None
    return 1 if sum(factor.sign for factor in factors) % 2 else 0


def encode_special(special: Special, d: Format, nan: int) -> int:
    """The result's code: the infinity of that sign in format `d`; for a NaN, or if `d` has no infinities, `nan`."""
    return nan if special == NAN or d.infinity is None else d.signed_infinity(special)


def quiet_nan(d: Format) -> int:
    """The NaN of these models if the silicon's encoding is not measured: quiet, positive, payload empty.

    Raises:
        ValueError: the format has no NaN.
    """
    if d.nan is None:
        raise ValueError(f"{d} has no NaN")
    return d.nan


def nvidia_nan(d: Format) -> int:
    """The only NaN that NVIDIA's fused units write: all bits 1 except the sign (0x7FFFFFFF, 0x7FFF); where that is none, the
    NaN that the format has."""
    ones = (1 << (d.width - 1)) - 1
    return ones if d.nan is None or d.decode(ones).cls is Cls.NAN else d.nan


def first_nan(codes: Iterable[int], d: Format) -> int | None:
    """The first NaN among operands, made quiet; None if no operand is NaN.

    Args:
        codes: the operands in the order in which the unit looks, of format d.
    """
    quiet = 1 << (d.man_bits - 1)
    return next((code | quiet for code in codes if d.decode(code).cls is Cls.NAN), None)


def converted_nan(code: int, a: Format, d: Format) -> int:
    """A NaN of format a as one of d, made quiet: its sign, and the high bits of its fraction, with zeros below; both formats
    have IEEE 754's NaNs (its section 6.2.3)."""
    ones = (1 << a.man_bits) - 1
    fraction = (code >> a.pad_bits & ones) << d.man_bits >> a.man_bits
    return (d.sign_bit if code & a.sign_bit else 0) | quiet_nan(d) | fraction << d.pad_bits


def invalid_nan(d: Format) -> int:
    """The result of x86's multiply-adds, of an H100's fp64 and of RDNA's units, for 0·∞ and ∞ − ∞: quiet, negative, payload
    empty (0xFFC00000, 0xFE00)."""
    return d.negative_zero | quiet_nan(d)


RDNA_PAYLOAD = 0xA3D
"""Payload of the NaN that RDNA3 and RDNA4 give for a NaN factor; narrower formats keep its low bits."""


def factor_nan(d: Format) -> int:
    """The result of RDNA3 and RDNA4 where a or b is NaN: quiet, negative, with a payload (0xFFC00A3D, 0xFE3D, 0xFFFD)."""
    quiet = 1 << (d.man_bits - 1)
    return invalid_nan(d) | RDNA_PAYLOAD % quiet
