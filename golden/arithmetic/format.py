"""Number formats: the meaning of the bits of an operand, an accumulator or a scale (numerics.md, section 2).

Decoding splits a bit pattern into sign, exponent, significand and class without rounding anything; encoding rounds an exact
value once.
"""

import operator
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

from golden.arithmetic.format_fields import FormatFields
from golden.arithmetic.rounding import MODES, Mode, Overflow, overflows_to_largest, shift_and_round


class Cls(IntEnum):
    """The class of a bit pattern, in order: `INFINITY` and all later classes are not finite."""

    ZERO = 0
    SUBNORMAL = 1
    NORMAL = 2
    INFINITY = 3
    NAN = 4


class Decoded(NamedTuple):
    """The parts of an operand; a finite one has the value (−1)^sign · sig · 2^(exp − man_bits).

    `exp` is unbiased and stays at e_min for subnormals and zero; `sig` is the integer significand, hidden bit included.
    Infinity and NaN have sig 0 and exp e_min.
    """

    sign: int
    exp: int
    sig: int
    cls: Cls


@dataclass(frozen=True, kw_only=True, repr=False)
class Format(FormatFields):
    """A binary floating-point format: its fields (`FormatFields`), decoding, and encoding with rounding."""

    def __hash__(self) -> int:
        return self._hash  # formats are dictionary keys in every dot product

    @cached_property
    def _hash(self) -> int:
        return hash((self.exp_bits, self.man_bits, self.bias, self.specials, self.signed, self.subnormals, self.width))

    @cached_property
    def codes(self) -> int:
        """Number of bit patterns: codes are 0 … codes − 1."""
        return 1 << self.width

    @cached_property
    def starts_at_zero(self) -> bool:
        """Whether code 0 is +0, which stands for an idle product and fills up a row of K."""
        first = self.decode(0)
        return first.cls is Cls.ZERO and not first.sign

    @cached_property
    def e_min(self) -> int:
        """Exponent of the smallest normal number, and of every subnormal."""
        return 1 - self.bias if self.subnormals else -self.bias

    @cached_property
    def e_max(self) -> int:
        """Exponent of the largest finite number."""
        return self.decode(self.max_finite).exp

    @cached_property
    def max_finite(self) -> int:
        """Code of the largest finite number."""
        top = self._field_mask
        match self.specials:
            case "ieee":
                top = self._exponent_ones - 1
            case "fn" | "merged":
                top -= 1
            case "p3109":
                top -= 1 if self.signed else 2
        return top << self.pad_bits

    @cached_property
    def infinity(self) -> int | None:
        """Code of +Inf, None if the format has none."""
        return self._above_finite if self.specials in ("ieee", "p3109") else None

    @cached_property
    def _above_finite(self) -> int:
        """Code above that of the largest finite number."""
        return self.max_finite + (1 << self.pad_bits)

    @cached_property
    def nan(self) -> int | None:
        """Code of the quiet NaN with an otherwise empty payload (0x80 for fnuz), None if the format has none."""
        match self.specials:
            case "ieee":
                return (self._exponent_ones | (1 << (self.man_bits - 1))) << self.pad_bits
            case "fn" | "merged":
                return self._field_mask << self.pad_bits
            case "fnuz" | "p3109":
                return self.sign_bit or self._field_mask << self.pad_bits
        return None

    @cached_property
    def negative_zero(self) -> int:
        """Code of −0, or of +0 if the format has no −0."""
        return 0 if self.specials in ("fnuz", "p3109") else self.sign_bit

    @cached_property
    def sign_bit(self) -> int:
        """Mask of the sign, 0 without one."""
        return 1 << (self.width - 1) if self.signed else 0

    @cached_property
    def magnitude_mask(self) -> int:
        """Mask of a code without its sign, or without the bit in the place of one."""
        return (1 << (self.exp_bits + self.man_bits + self.pad_bits)) - 1

    @cached_property
    def _field_mask(self) -> int:
        """Mask of the exponent and mantissa fields, without the pad bits."""
        return (1 << (self.exp_bits + self.man_bits)) - 1

    @cached_property
    def _exponent_ones(self) -> int:
        return ((1 << self.exp_bits) - 1) << self.man_bits

    @cached_property
    def _table(self) -> tuple[Decoded, ...]:
        return tuple(self._decode(code) for code in range(self.codes))

    def decode(self, code: int) -> Decoded:
        """Split a bit pattern into sign, exponent, significand and class.

        Raises:
            TypeError: the code is not an integer. ValueError: it does not fit the format's width.
        """
        if type(code) is not int:
            code = self._integer(code)
        if not 0 <= code < self.codes:
            raise ValueError(f"{self.name} code must be in 0 … {self.codes - 1:#x}, got {code:#x}")
        return self._table[code] if self.width <= 8 else self._decode(code)

    def _integer(self, code: Any) -> int:
        """A code as a Python integer, from another integer type such as NumPy's."""
        if isinstance(code, bool) or not hasattr(code, "__index__"):
            raise TypeError(f"{self.name} code must be an integer, got {code!r}")
        return operator.index(code)

    def _decode(self, code: int) -> Decoded:
        sign = 1 if code & self.sign_bit else 0
        field = (code >> self.pad_bits) & self._field_mask
        stored_exp, mantissa = field >> self.man_bits, field & ((1 << self.man_bits) - 1)
        special = self._special_class(sign, field, mantissa)
        if special is not None:
            return Decoded(sign, self.e_min, 0, special)
        if stored_exp == 0 and (self.subnormals or (field == 0 and self.has_zero)):
            return Decoded(sign, self.e_min, mantissa, Cls.SUBNORMAL if mantissa else Cls.ZERO)
        return Decoded(sign, stored_exp - self.bias, mantissa | (1 << self.man_bits), Cls.NORMAL)

    def _special_class(self, sign: int, field: int, mantissa: int) -> Cls | None:
        match self.specials:
            case "ieee" if field & self._exponent_ones == self._exponent_ones:
                return Cls.NAN if mantissa else Cls.INFINITY
            case "fn" | "merged" if field == self._field_mask:
                return Cls.NAN
            case "fnuz" if sign and field == 0:
                return Cls.NAN
            case "p3109" if self.signed and field == 0 and sign:
                return Cls.NAN
            case "p3109" if field > self.max_finite >> self.pad_bits:
                return Cls.INFINITY if self.signed or field < self._field_mask else Cls.NAN
        return None

    def is_quiet(self, code: int) -> bool:
        """Whether a NaN is quiet: by its highest mantissa bit where IEEE 754 has NaNs; the one NaN of another format is."""
        return self.specials != "ieee" or bool(code >> (self.pad_bits + self.man_bits - 1) & 1)

    def value(self, code: int) -> Fraction | None:
        """The exact value of a code; None for infinity and NaN."""
        sign, exp, sig, cls = self.decode(code)
        if cls >= Cls.INFINITY:
            return None
        return (-sig if sign else sig) * power_of_two(exp - self.man_bits)

    def encode(self, value: Fraction | int | float, mode: Mode = "RNE") -> int:
        """Round an exact finite value once, and return its code.

        Overflow: a value whose rounded magnitude, with an unbounded exponent, exceeds the largest finite number becomes
        infinity in every mode, RZ too; NaN in formats without infinities; the largest finite number in formats with
        neither. A negative value has no code in an unsigned format and becomes NaN.

        Raises:
            TypeError: not a number. ValueError: an unknown mode, or a value that is not finite.
        """
        if isinstance(value, (bool, str)):
            raise TypeError(f"encode takes a number, got {value!r}")
        if mode not in MODES:
            raise ValueError(f"rounding mode must be one of {', '.join(MODES)}, got {mode!r}")
        try:
            exact = Fraction(value)
        except (OverflowError, ValueError) as error:
            raise ValueError(f"encode takes a finite value, got {value!r}") from error
        # The quotient reaches far below the smallest code; a sticky bit below it stands for the remainder.
        below = max(0, -(self.e_min - self.man_bits)) + 3
        scaled = exact * (1 << below)
        floor = scaled.numerator // scaled.denominator
        sticky = floor * scaled.denominator != scaled.numerator
        return self.encode_scaled(2 * floor + sticky, -below - 1, mode)

    def encode_scaled(self, value: int, exp: int, mode: Mode, overflow: Overflow = "infinity", flush: bool = False) -> int:
        """Code of `value · 2**exp`, rounded once in `mode`; a value that rounds to zero keeps its sign.

        Args:
            value: signed integer.
            exp: exponent value of its lowest bit.
            mode: one of `MODES`.
            overflow: what becomes of a value beyond the largest finite number.
            flush: whether what is below the normal numbers, rounded as if they had no lower end, becomes a zero of its sign;
                in a format without subnormals it always does.
        """
        negative = value < 0
        if negative and not self.signed:
            return self._not_a_number_or(0)
        flush = flush or not self.subnormals
        # 1. normalise
        lsb = self.last_bit(value, exp, flush)
        # 2. round at lsb, once
        sig = abs(shift_and_round(value, lsb - exp, mode))
        # 3. a carry out of the significand, 1 1 1 1 → 1 0 0 0 0, is a one in the next binade
        if sig >> (self.man_bits + 1):
            sig, lsb = sig >> 1, lsb + 1
        # 4. a result still below the normal numbers after rounding; the code 0 is their smallest where there is no zero
        if flush and (lsb + self.man_bits < self.e_min or not sig):
            return self.negative_zero if negative else 0
        # 5. encode
        return self._pack(negative, sig, lsb + self.man_bits, overflows_to_largest(overflow, mode, negative))

    def last_bit(self, value: int, exp: int, flush: bool = False) -> int:
        """Step normalise: the exponent (value) of the last bit of `value · 2**exp` that rounding retains.

        It follows the leading one, whose exponent is `top`. Below the normal numbers it stays where the smallest of them has
        it, unless these are flushed, and fewer bits are left, as here with man_bits = 3:

            top ≥ e_min   1 x x x|x x x      top = e_min − 2   . . 1 x|x x x
        """
        top = abs(value).bit_length() - 1 + exp
        return (top if flush or not self.subnormals else max(top, self.e_min)) - self.man_bits

    def _pack(self, negative: bool, sig: int, exp: int, saturates: bool) -> int:
        """The code of sig · 2**(exp − man_bits): |sign|stored exponent|mantissa|pad|, without the hidden bit."""
        sign = self.sign_bit if negative else 0
        hidden = 1 << self.man_bits
        stored_exp = exp + self.bias if sig & hidden else 0
        field = (stored_exp << self.man_bits) | (sig & (hidden - 1))
        if field > self.max_finite >> self.pad_bits:
            return self.overflowed(negative, saturates)
        return sign | (field << self.pad_bits) if field else sign and self.negative_zero

    def overflowed(self, negative: bool, saturates: bool) -> int:
        """Code of what lies beyond the largest finite number: that number if it saturates, else the infinity of its sign, or
        NaN where there is none. A format with neither saturates."""
        sign = self.sign_bit if negative else 0
        if saturates or self.nan is None:
            return sign | self.max_finite
        return self.nan if self.specials == "fnuz" else sign | self._above_finite

    def _not_a_number_or(self, code: int) -> int:
        return code if self.nan is None else self.nan

    def signed_infinity(self, sign: int) -> int:
        """Code of the infinity of that sign.

        Raises:
            ValueError: the format has no infinities.
        """
        if self.infinity is None:
            raise ValueError(f"{self.name} has no infinity")
        return (self.sign_bit if sign else 0) | self.infinity

    def split(self, code: int) -> str:
        """The bits by field: `0_01111_0000000000`; the ignored low bits of tf32 follow as a fourth field."""
        bits = f"{code:0{self.width}b}"
        man_end = self.width - self.pad_bits
        edges = (0, man_end - self.man_bits - self.exp_bits, man_end - self.man_bits, man_end, self.width)
        return "_".join(bits[start:end] for start, end in pairwise(edges) if end > start)

    def describe(self, code: int) -> str:
        """One readable line: the code in hex, its bits by field, class, sign, exponent, significand, exact value."""
        sign, exp, sig, cls = self.decode(code)
        head = f"{self.name} {code:#0{2 + self.storage_bits // 4}x} {self.split(code)} {cls.name.lower()} sign={sign}"
        if cls >= Cls.INFINITY:
            return head
        return f"{head} exp={exp} sig={sig:#x} = {'-' if sign else '+'}{sig}·2^{exp - self.man_bits}"

    @property
    def sig_bits(self) -> int:
        """Bits of a decoded significand."""
        return self.man_bits + 1

    @property
    def carried_by(self) -> "Format":
        """The format of fields that has all its numbers: itself, unless codes have no fields (coded_format.py)."""
        return self

    def carried_codes(self, codes: Any) -> Any:
        """The code of `carried_by` of every code."""
        return codes

    def codes_of(self, carrier_codes: Any) -> Any:
        """The codes next to codes of `carried_by`."""
        return carrier_codes

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__


def power_of_two(exp: int) -> Fraction:
    """2**exp, exactly."""
    return Fraction(1 << exp) if exp >= 0 else Fraction(1, 1 << -exp)
