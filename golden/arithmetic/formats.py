"""The number formats of the models, by name (numerics.md, section 2).

Sources: IEEE 754-2019; OCP 8-bit Floating Point 1.0 (e4m3, e5m2); OCP Microscaling 1.0 (e3m2, e2m3, e2m1, ue8m0); PTX ISA
(tf32, ue4m3; s4, u4, b1); AMD CDNA3 ISA (fnuz). e4m3ieee is e4m3 with the special values that IEEE 754 gives its formats.
"""

from dataclasses import dataclass
from functools import cached_property

from golden.arithmetic.format import STORAGE_BITS, Cls, Decoded, Format, check_dtype, power_of_two
from golden.arithmetic.rounding import Mode, Overflow, shift_and_round
from golden.checks import check_bool, check_int, check_name


@dataclass(frozen=True, kw_only=True, repr=False)
class IntegerFormat(Format):
    """An integer of `bits`, in two's complement if signed; codes of fewer than 8 bits are carried one in a byte.

    It decodes as any other format does: value = (−1)^sign · sig · 2^exp, exp always 0. There is no −0, no infinity, no NaN
    and no subnormal. `integer` creates such formats.
    """

    bits: int

    def __post_init__(self) -> None:
        check_name("name of a format", self.name)
        check_bool(f"signed of {self.name}", self.signed)
        if type(self.storage_bits) is not int or self.storage_bits not in STORAGE_BITS:
            raise ValueError(f"storage_bits of {self.name} must be 8, 16, 32 or 64, got {self.storage_bits!r}")
        check_int(f"bits of {self.name}", self.bits, 1 + self.signed, self.storage_bits)
        check_dtype(self)

    __hash__ = Format.__hash__

    @cached_property
    def width(self) -> int:
        return self.bits

    @cached_property
    def e_min(self) -> int:
        return 0

    @cached_property
    def e_max(self) -> int:
        return 0

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
        """The integer value of a code."""
        return code - self.codes if self.signed and code > self.max_finite else code

    def _decode(self, code: int) -> Decoded:
        value = self.number(code)
        return Decoded(int(value < 0), 0, abs(value), Cls.NORMAL if value else Cls.ZERO)

    def encode_scaled(self, value: int, exp: int, mode: Mode, overflow: Overflow = "infinity", flush: bool = False) -> int:
        """Code of `value · 2**exp`, rounded once in `mode`; beyond the range, that of the largest or smallest number."""
        rounded = shift_and_round(value, -exp, mode)
        return max(self.lowest, min(rounded, self.max_finite)) % self.codes

    def last_bit(self, value: int, exp: int, flush: bool = False) -> int:
        return 0

    def split(self, code: int) -> str:
        """The bits of a code; an integer has one field."""
        return f"{code:0{self.width}b}"

    def describe(self, code: int) -> str:
        """One readable line: the code in hex, its bits, its value."""
        self.decode(code)
        return f"{self.name} {code:#0{2 + self.storage_bits // 4}x} {self.split(code)} = {self.number(code)}"


def integer(name: str, bits: int, signed: bool) -> IntegerFormat:
    """The integer format of `bits` bits; arrays have the dtype of that name, or hold its bits as unsigned integers."""
    return IntegerFormat(
        name=name, exp_bits=0, man_bits=0, bias=0, specials="finite", storage_bits=max(bits, 8), bits=bits, signed=signed,
        dtype=name if signed and bits >= 8 else None,  # an array of unsigned integers already holds bit patterns
    )  # fmt: skip


__all__ = [
    "B1", "BF16", "E2M1", "E2M3", "E3M2", "E4M3", "E4M3FNUZ", "E4M3IEEE", "E5M2", "E5M2FNUZ", "E8M13", "FORMATS", "FP16",
    "FP32", "FP64", "INT4", "INT8", "INT32", "INTEGERS", "TF32", "UE4M3", "UE8M0", "UINT4", "UINT8", "Cls", "Decoded",
    "Format", "IntegerFormat", "power_of_two",
]  # fmt: skip

FP64 = Format(name="fp64", exp_bits=11, man_bits=52, bias=1023, specials="ieee", storage_bits=64, dtype="float64")
FP32 = Format(name="fp32", exp_bits=8, man_bits=23, bias=127, specials="ieee", storage_bits=32, dtype="float32")
TF32 = Format(name="tf32", exp_bits=8, man_bits=10, bias=127, specials="ieee", storage_bits=32, pad_bits=13, dtype="float32")
FP16 = Format(name="fp16", exp_bits=5, man_bits=10, bias=15, specials="ieee", storage_bits=16, dtype="float16")
BF16 = Format(name="bf16", exp_bits=8, man_bits=7, bias=127, specials="ieee", storage_bits=16, dtype="bfloat16")
E5M2 = Format(name="e5m2", exp_bits=5, man_bits=2, bias=15, specials="ieee", storage_bits=8, dtype="float8_e5m2")
E4M3 = Format(name="e4m3", exp_bits=4, man_bits=3, bias=7, specials="fn", storage_bits=8, dtype="float8_e4m3fn")
E4M3FNUZ = Format(name="e4m3fnuz", exp_bits=4, man_bits=3, bias=8, specials="fnuz", storage_bits=8, dtype="float8_e4m3fnuz")
E5M2FNUZ = Format(name="e5m2fnuz", exp_bits=5, man_bits=2, bias=16, specials="fnuz", storage_bits=8, dtype="float8_e5m2fnuz")
E3M2 = Format(name="e3m2", exp_bits=3, man_bits=2, bias=3, specials="finite", storage_bits=8, dtype="float6_e3m2fn")
E2M3 = Format(name="e2m3", exp_bits=2, man_bits=3, bias=1, specials="finite", storage_bits=8, dtype="float6_e2m3fn")
E2M1 = Format(name="e2m1", exp_bits=2, man_bits=1, bias=1, specials="finite", storage_bits=8, dtype="float4_e2m1fn")
UE8M0 = Format(
    name="ue8m0", exp_bits=8, man_bits=0, bias=127, specials="fn", storage_bits=8, signed=False, subnormals=False,
    dtype="float8_e8m0fnu",
)  # fmt: skip
UE4M3 = Format(
    name="ue4m3", exp_bits=4, man_bits=3, bias=7, specials="fn", storage_bits=8, signed=False, dtype="float8_e4m3fn"
)
E4M3IEEE = Format(name="e4m3ieee", exp_bits=4, man_bits=3, bias=7, specials="ieee", storage_bits=8, dtype="float8_e4m3")
E8M13 = Format(
    name="e8m13", exp_bits=8, man_bits=13, bias=127, specials="ieee", storage_bits=32, pad_bits=10, dtype="float32"
)
"""The result format of RZ-E8M13: an fp32 word whose low 10 bits are zero (paper 000, table 2)."""

INT8 = integer("int8", 8, signed=True)
UINT8 = integer("uint8", 8, signed=False)
INT4 = integer("int4", 4, signed=True)
UINT4 = integer("uint4", 4, signed=False)
B1 = integer("b1", 1, signed=False)
INT32 = integer("int32", 32, signed=True)

INTEGERS: dict[str, IntegerFormat] = {f.name: f for f in (INT8, UINT8, INT4, UINT4, B1, INT32)}
"""The formats of the operations on integers."""

FORMATS: dict[str, Format] = {
    f.name: f
    for f in (FP64, FP32, TF32, FP16, BF16, E5M2, E4M3, E4M3FNUZ, E5M2FNUZ, E3M2, E2M3, E2M1, UE8M0, UE4M3, E4M3IEEE)
} | dict(INTEGERS)
