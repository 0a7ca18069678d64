"""Integers as operands: a format without exponent, fraction and special values (numerics.md, section 2)."""

from dataclasses import dataclass
from functools import cached_property

from golden.arithmetic.format import Cls, Decoded, Format
from golden.arithmetic.format_fields import STORAGE_BITS, check_dtype, storage_for
from golden.arithmetic.rounding import Mode, Overflow, shift_and_round
from golden.checks import check_bool, check_int, check_name


@dataclass(frozen=True, kw_only=True, repr=False)
class IntegerFormat(Format):
    """An integer of `bits`, in two's complement if signed; codes of fewer than 8 bits are carried one in a byte.

    It decodes as any other format does: value = (−1)^sign · sig · 2^exp, exp always −fraction. There is no −0, no infinity,
    no NaN and no subnormal. `integer` creates such formats; those of elements are in coded_format.py.
    """

    bits: int
    fraction: int = 0

    def __post_init__(self) -> None:
        check_name("name of a format", self.name)
        check_bool(f"signed of {self.name}", self.signed)
        if type(self.storage_bits) is not int or self.storage_bits not in STORAGE_BITS:
            raise ValueError(f"storage_bits of {self.name} must be 8, 16, 32 or 64, got {self.storage_bits!r}")
        check_int(f"bits of {self.name}", self.bits, 1 + self.signed, self.storage_bits)
        check_int(f"fraction of {self.name}", self.fraction, 0, self.bits)
        check_dtype(self)

    __hash__ = Format.__hash__

    @cached_property
    def width(self) -> int:
        return self.bits

    @property
    def sig_bits(self) -> int:
        return self.width

    @cached_property
    def e_min(self) -> int:
        return -self.fraction

    @cached_property
    def e_max(self) -> int:
        return -self.fraction

    @cached_property
    def max_finite(self) -> int:
        return (1 << (self.width - self.signed)) - 1

    @cached_property
    def lowest(self) -> int:
        """The smallest number."""
        return -(1 << (self.width - 1)) if self.signed else 0

    @cached_property
    def infinity(self) -> int | None:
        return None

    @cached_property
    def nan(self) -> int | None:
        return None

    @cached_property
    def negative_zero(self) -> int:
        return 0

    def number(self, code: int) -> int:
        """The integer of a code, in units of the last place."""
        return code - self.codes if self.signed and code > self.max_finite else code

    def _decode(self, code: int) -> Decoded:
        value = self.number(code)
        return Decoded(int(value < 0), self.e_min, abs(value), Cls.NORMAL if value else Cls.ZERO)

    def encode_scaled(self, value: int, exp: int, mode: Mode, overflow: Overflow = "infinity", flush: bool = False) -> int:
        """Code of `value · 2**exp`, rounded once in `mode`; beyond the range, that of the largest or smallest number."""
        rounded = shift_and_round(value, self.e_min - exp, mode)
        return max(self.lowest, min(rounded, self.max_finite)) % self.codes

    def last_bit(self, value: int, exp: int, flush: bool = False) -> int:
        return 0

    def split(self, code: int) -> str:
        """The bits of a code; an integer has one field."""
        return f"{code:0{self.width}b}"

    def describe(self, code: int) -> str:
        """One readable line: the code in hex, its bits, its value."""
        self.decode(code)
        unit = f"·2^{self.e_min}" if self.fraction else ""
        return f"{self.name} {code:#0{2 + self.storage_bits // 4}x} {self.split(code)} = {self.number(code)}{unit}"


def integer(name: str, bits: int, signed: bool = True, dtype: str | None = None, fraction: int = 0) -> IntegerFormat:
    """The integer format of `bits` bits; without a dtype, arrays hold its bits as unsigned integers.

    Raises:
        ValueError, TypeError: no format.
    """
    check_bool(f"signed of {name}", signed)
    check_int(f"bits of {name}", bits, 1 + signed, STORAGE_BITS[-1])
    return IntegerFormat(
        name=name, exp_bits=0, man_bits=0, bias=0, specials="finite", storage_bits=storage_for(bits), bits=bits,
        signed=signed, dtype=dtype, fraction=fraction,
    )  # fmt: skip
