"""Exception flags of IEEE 754, section 7: which of them the rounding of an exact sum raises."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal, get_args

from golden.arithmetic.conversion import Conversion
from golden.arithmetic.format import Format, power_of_two
from golden.arithmetic.rounding import Overflow, shift_and_round

FLAGS = ("NX", "UF", "OF", "DZ", "NV")
"""The flags in RISC-V's order, bit 0 first: inexact, underflow, overflow, division by zero, invalid operation."""

NX, UF, OF, DZ, NV = (1 << bit for bit in range(len(FLAGS)))

Tininess = Literal["after", "before"]
"""When it is decided whether a result is tiny: after it is rounded as if exponents had no lower end, or before."""

TININESSES: tuple[Tininess, ...] = get_args(Tininess)

BesideNaN = Literal["invalid", "quiet"]
"""What 0·∞ raises beside a quiet NaN, which IEEE 754, section 7.2, leaves open: NV, or nothing."""

BESIDE_NANS: tuple[BesideNaN, ...] = get_args(BesideNaN)


def selected(raised: int, names: Sequence[str]) -> int:
    """Some of the flags that are raised, by their names, bit 0 first."""
    return sum((raised >> FLAGS.index(name) & 1) << bit for bit, name in enumerate(names))


def rounding_flags(value: int, exp: int, rho: Conversion, overflow: Overflow, flush: bool, tininess: Tininess) -> int:
    """The flags that ρ raises for the exact `value · 2**exp`.

    NX: the result is another number. UF: and the sum is tiny, below the smallest normal number. OF: the sum, rounded as if
    exponents had no upper end, is beyond the largest finite number.

    Args:
        overflow, flush: as in `Format.encode_scaled`.
    """
    d, exact = rho.rounding_format, value * power_of_two(exp)
    if d.value(rho.rounded(value, exp, overflow, flush)) == exact:
        return 0
    rounded = _unbounded(value, exp, rho)
    tiny = abs(rounded if tininess == "after" else exact) < power_of_two(d.e_min)
    beyond = abs(rounded) > _most(d)
    return NX | (UF if tiny else 0) | (OF if beyond else 0)


def overflows(exact: Fraction, rho: Conversion) -> bool:
    """Whether ρ raises OF for a value other than 0 whose denominator is a power of two."""
    value, exp = exact.numerator, 1 - exact.denominator.bit_length()
    return abs(_unbounded(value, exp, rho)) > _most(rho.rounding_format)


def _most(d: Format) -> Fraction:
    """The largest finite number."""
    return d.value(d.max_finite) or Fraction(0)


def _unbounded(value: int, exp: int, rho: Conversion) -> Fraction:
    """A value other than 0, rounded to the precision of ρ as if exponents had no ends."""
    lsb = rho.rounding_format.last_bit(value, exp, flush=True)
    return shift_and_round(value, lsb - exp, rho.mode) * power_of_two(lsb)
