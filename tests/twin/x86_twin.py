"""Exact twin of the dot-product instructions of x86 processors, on integers alone (numerics.md, section 11).

Nothing here is shared with golden/. A finite number is an integer times a power of two, so that products and sums are exact,
and one function rounds them.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple


class Number(NamedTuple):
    """A value: (−1)^negative · magnitude · 2^exponent where `kind` is finite; zeros and infinities keep their sign.

    A NaN keeps sign and payload: magnitude · 2^exponent is its mantissa as a fraction.
    """

    kind: Literal["finite", "infinite", "nan"]
    negative: bool = False
    magnitude: int = 0
    exponent: int = 0


class Arithmetic(NamedTuple):
    """How a fused multiply-add treats one format of results.

    Attributes:
        man_bits, exp_bits: of the format (IEEE style).
        flush: subnormal inputs count as zeros of their sign, and a result that is below the smallest normal number once it
            was rounded with an unbounded exponent becomes a zero of its sign. Otherwise as IEEE 754.
    """

    man_bits: int
    exp_bits: int
    flush: bool

    @property
    def e_min(self) -> int:
        return 2 - (1 << (self.exp_bits - 1))

    @property
    def e_max(self) -> int:
        return (1 << (self.exp_bits - 1)) - 1


FP32_FLUSHED = Arithmetic(man_bits=23, exp_bits=8, flush=True)
FP16_IEEE = Arithmetic(man_bits=10, exp_bits=5, flush=False)
INDEFINITE = Number("nan", negative=True)
"""The NaN of an invalid operation without a NaN operand: negative, quiet, payload empty."""

PLUS_ZERO = Number("finite")


def decode(code: int, man_bits: int, exp_bits: int) -> Number:
    """The value of a code of an IEEE-style format."""
    mantissa = code & ((1 << man_bits) - 1)
    stored = code >> man_bits & ((1 << exp_bits) - 1)
    negative = code >> (man_bits + exp_bits) == 1
    bias = (1 << (exp_bits - 1)) - 1
    if stored == (1 << exp_bits) - 1:
        return Number("nan", negative, mantissa, -man_bits) if mantissa else Number("infinite", negative)
    if stored == 0:
        return Number("finite", negative, mantissa, 1 - bias - man_bits)
    return Number("finite", negative, mantissa | 1 << man_bits, stored - bias - man_bits)


def encode(x: Number, man_bits: int, exp_bits: int) -> int:
    """The code of a number that the format holds; a NaN is made quiet."""
    sign = int(x.negative) << (man_bits + exp_bits)
    top = ((1 << exp_bits) - 1) << man_bits
    if x.kind == "nan":
        return sign | top | 1 << (man_bits - 1) | shifted(x.magnitude, x.exponent + man_bits)
    if x.kind == "infinite":
        return sign | top
    if x.magnitude == 0:
        return sign
    bias = (1 << (exp_bits - 1)) - 1
    exponent = x.exponent + x.magnitude.bit_length() - 1
    unit = max(exponent, 1 - bias) - man_bits
    sig = shifted(x.magnitude, x.exponent - unit)
    return sign | (sig + ((max(exponent, 1 - bias) + bias - 1) << man_bits))


def shifted(magnitude: int, places: int) -> int:
    """To the left, or to the right where nothing is lost."""
    if places >= 0:
        return magnitude << places
    assert magnitude & ((1 << -places) - 1) == 0
    return magnitude >> -places


def is_subnormal(x: Number, to: Arithmetic) -> bool:
    return x.kind == "finite" and x.magnitude > 0 and x.exponent + x.magnitude.bit_length() - 1 < to.e_min


def rounded(x: Number, to: Arithmetic) -> Number:
    """RNE. With `flush`, rounding has an unbounded exponent, and a result below 2^e_min becomes a zero."""
    if x.kind != "finite" or x.magnitude == 0:
        return x
    exponent = x.exponent + x.magnitude.bit_length() - 1
    unit = (exponent if to.flush else max(exponent, to.e_min)) - to.man_bits
    dropped = unit - x.exponent
    if dropped > 0:
        kept, rest = x.magnitude >> dropped, x.magnitude & ((1 << dropped) - 1)
        half = 1 << (dropped - 1)
        kept += rest > half or (rest == half and kept & 1)
        x = Number("finite", x.negative, kept, unit)
    if x.magnitude and x.exponent + x.magnitude.bit_length() - 1 > to.e_max:
        return Number("infinite", x.negative)
    return x._replace(magnitude=0) if to.flush and is_subnormal(x, to) else x


def fma(a: Number, b: Number, c: Number, to: Arithmetic) -> Number:
    """a·b + c, rounded once; an exact zero of terms of both signs is +0. The first NaN of a, b, c is kept."""
    if to.flush:
        a, b, c = (x._replace(magnitude=0) if is_subnormal(x, to) else x for x in (a, b, c))
    for x in (a, b, c):
        if x.kind == "nan":
            return x
    negative = a.negative != b.negative
    if "infinite" in (a.kind, b.kind):
        if any(x.kind == "finite" and x.magnitude == 0 for x in (a, b)):
            return INDEFINITE
        return INDEFINITE if c.kind == "infinite" and c.negative != negative else Number("infinite", negative)
    if c.kind == "infinite":
        return c
    product, exponent = a.magnitude * b.magnitude, a.exponent + b.exponent
    low = min(exponent, c.exponent)
    total = sum(
        (-1 if minus else 1) * (magnitude << (e - low))
        for minus, magnitude, e in ((negative, product, exponent), (c.negative, c.magnitude, c.exponent))
    )
    sign = negative and c.negative if total == 0 else total < 0
    return rounded(Number("finite", sign, abs(total), low), to)


ONE = Number("finite", False, 1, 0)


def add(a: Number, b: Number, to: Arithmetic) -> Number:
    return fma(a, ONE, b, to)


def kept_nan(codes: Sequence[int], layout: tuple[int, int]) -> int:
    """The first NaN of codes of one format, made quiet; without one that of an invalid operation."""
    nans = [x for x in (decode(code, *layout) for code in codes) if x.kind == "nan"]
    return encode(nans[0] if nans else INDEFINITE, *layout)


BF16, FP16 = (7, 8), (10, 5)
"""man_bits and exp_bits of the formats of a and b."""

Layout = tuple[int, int]


def numbers(codes: Sequence[int], layout: Layout) -> list[Number]:
    """Operands as they are in fp32: a subnormal of fp16 is a normal number there, one of bf16 is not."""
    return [decode(code, *layout) for code in codes]


def bf16(codes: Sequence[int]) -> list[Number]:
    return numbers(codes, BF16)


def even_and_odd(layout: Layout, a: Sequence[int], b: Sequence[int], c: int) -> int:
    """One chain over the even elements and one over the odd ones, each from +0; c + (even + odd)."""
    x, y = numbers(a, layout), numbers(b, layout)
    even = odd = PLUS_ZERO
    for k in range(0, len(a), 2):
        even = fma(x[k], y[k], even, FP32_FLUSHED)
        odd = fma(x[k + 1], y[k + 1], odd, FP32_FLUSHED)
    return encode(add(decode(c, 23, 8), add(even, odd, FP32_FLUSHED), FP32_FLUSHED), 23, 8)


def backwards(layout: Layout, a: Sequence[int], b: Sequence[int], c: int) -> int:
    """One chain from c, the last element first."""
    d = decode(c, 23, 8)
    for p, q in zip(reversed(numbers(a, layout)), reversed(numbers(b, layout)), strict=True):
        d = fma(p, q, d, FP32_FLUSHED)
    return encode(d, 23, 8)


def tdpbf16ps(a: Sequence[int], b: Sequence[int], c: int) -> int:
    """AMX."""
    return even_and_odd(BF16, a, b, c)


def vdpbf16ps(a: Sequence[int], b: Sequence[int], c: int) -> int:
    """AVX-512: the odd element first, then the even one."""
    return backwards(BF16, a, b, c)


def vfmaddph(a: Sequence[int], b: Sequence[int], c: int) -> int:
    """AVX-512: IEEE 754 fp16, RNE, subnormals kept."""
    x, y, z = (decode(code, 10, 5) for code in (a[0], b[0], c))
    return encode(fma(x, y, z, FP16_IEEE), 10, 5)


def signed(code: int, bits: int) -> int:
    return code - (1 << bits) if code >> (bits - 1) else code


def integer_sum(
    a_signed: bool,
    b_signed: bool,
    a: Sequence[int],
    b: Sequence[int],
    c: int,
    bits: tuple[int, int] = (8, 8),
    c_bits: int = 32,
) -> int:
    """Σ a·b + c, exact; a, b and c have so many bits, c with a sign."""
    x = [signed(code, bits[0]) if a_signed else code for code in a]
    y = [signed(code, bits[1]) if b_signed else code for code in b]
    return sum(p * q for p, q in zip(x, y, strict=True)) + signed(c, c_bits)


def wrapped(a_signed: bool, b_signed: bool) -> Callable[[Sequence[int], Sequence[int], int], int]:
    return lambda a, b, c: integer_sum(a_signed, b_signed, a, b, c) % (1 << 32)


def saturated(a_signed: bool, b_signed: bool) -> Callable[[Sequence[int], Sequence[int], int], int]:
    """The exact sum with c, brought into the range of int32 once."""

    def rule(a: Sequence[int], b: Sequence[int], c: int) -> int:
        return max(-(1 << 31), min((1 << 31) - 1, integer_sum(a_signed, b_signed, a, b, c))) % (1 << 32)

    return rule


def operation_step(operation: Any, a: Sequence[int], b: Sequence[int], c: int) -> int:
    """One step of an operation of golden, using only the operation's attributes."""
    layout = {"bf16": BF16, "fp16": FP16}.get(operation.a.name, BF16)
    if operation.name == "FTZ-EO-FMA":
        return even_and_odd(layout, a, b, c)
    if operation.name == "FTZ-FMA":
        return backwards(layout, a, b, c)
    return integer_step(operation, a, b, c)


def bits_of(name: str) -> int:
    """The width of an integer, which its name says."""
    return 1 if name == "b1" else int(name.split("int")[1])


def integer_step(operation: Any, a: Sequence[int], b: Sequence[int], c: int) -> int:
    """IDPA of any integers: the exact sum, wrapped or brought into the range of c once; of bits that are counted where
    they differ, the count."""
    kinds, c_bits = (operation.a.name, operation.b.name), bits_of(operation.c.name)
    if operation.combination == "xor":
        total = sum(p != q for p, q in zip(a, b, strict=True)) + signed(c, c_bits)
    else:
        a_signed, b_signed = (kind.startswith("int") for kind in kinds)
        total = integer_sum(a_signed, b_signed, a, b, c, (bits_of(kinds[0]), bits_of(kinds[1])), c_bits)
    if operation.overflow == "saturate":
        total = max(-(1 << c_bits - 1), min((1 << c_bits - 1) - 1, total))
    return total % (1 << c_bits)


RULES: dict[str, Callable[[Sequence[int], Sequence[int], int], int]] = {
    "TDPBF16PS": tdpbf16ps,
    "VDPBF16PS": vdpbf16ps,
    "VFMADDPH": vfmaddph,
    "TDPBSSD": wrapped(True, True),
    "TDPBSUD": wrapped(True, False),
    "TDPBUSD": wrapped(False, True),
    "TDPBUUD": wrapped(False, False),
    "VPDPBUSD": wrapped(False, True),
    "VPDPBUSDS": saturated(False, True),
}
"""Instruction to its rule: codes of a, b [K] and of c to the code of d."""
