"""The number formats of the models, by name (numerics.md, section 2).

Sources: IEEE 754-2019; OCP 8-bit Floating Point 1.0 (e4m3, e5m2); OCP Microscaling 1.0 (e3m2, e2m3, e2m1, ue8m0); PTX ISA
(tf32, ue4m3; s4, u4, b1); AMD CDNA3 ISA (fnuz). e4m3ieee is e4m3 with the special values that IEEE 754 gives its formats.
"""

from golden.arithmetic.format import Cls, Decoded, Format, power_of_two
from golden.arithmetic.integer_format import IntegerFormat, integer

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
