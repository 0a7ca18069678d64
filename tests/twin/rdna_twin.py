"""The twin of RDNA's operations, OC-FDPA and PS-FDPA, on exact rationals. Written from numerics.md, section 5."""

from collections.abc import Sequence
from typing import Any

from tests.twin.rational import Fraction
from tests.twin.twin_numbers import LAYOUTS, Number, decode, encode, infinity_code, keep, two_to

FACTOR_NANS = {"fp32": 0xFFC00A3D, "fp16": 0xFE3D, "bf16": 0xFFFD}
INVALID_NANS = {"fp32": 0xFFC00000, "fp16": 0xFE00, "bf16": 0xFFC0}
QUIET_BITS = {"fp32": 0x00400000, "fp16": 0x0200, "bf16": 0x0040}


def operation_step(operation: Any, a: Sequence[int], b: Sequence[int], c: int, exact_groups: bool = False) -> int:
    """One step of OC- or PS-FDPA: the code of d.

    Args:
        exact_groups: whether the products of a group of PS-FDPA are added without loss, as its rule can be read for two.
    """
    x = [flushed(operation, operation.a.name, code) for code in a]
    y = [flushed(operation, operation.b.name, code) for code in b]
    z = flushed(operation, operation.d.name, c)
    special = special_code(operation.d.name, x, y, z, c)
    if special is not None:
        return special
    if operation.name == "OC-FDPA":
        return converted(operation, in_the_frame_of_c(operation, x, y, z))
    return converted(operation, sum_of_groups(operation, x, y, z, exact_groups))


def flushed(operation: Any, name: str, code: int) -> Number:
    """The value that a step reads: under `flush_inputs`, a number below 2^−126 is a zero of its sign."""
    number = decode(name, code)
    if operation.flush_inputs and number.kind == "finite" and abs(number.value) < two_to(-126):
        return number._replace(significand=Fraction(0))
    return number


def special_code(d: str, x: Sequence[Number], y: Sequence[Number], z: Number, c: int) -> int | None:
    """The four rules for NaN and infinity, in their order."""
    pairs = [*zip(x, y, strict=True)]
    if any("nan" in (p.kind, q.kind) for p, q in pairs):
        return FACTOR_NANS[d]
    infinite = [(p, q) for p, q in pairs if "infinite" in (p.kind, q.kind)]
    signs = {p.negative != q.negative for p, q in infinite}
    if len(signs) == 2 or any(p.is_zero or q.is_zero for p, q in infinite):
        return INVALID_NANS[d]
    if z.kind == "nan":
        return c | QUIET_BITS[d]
    if z.kind == "infinite":
        signs.add(z.negative)
    if len(signs) == 2:
        return INVALID_NANS[d]
    return infinity_code(d, signs.pop()) if signs else None


def largest_exponent(operation: Any, products: Sequence[tuple[Fraction, int]], z: Number) -> int:
    """The largest exponent of a term that is not zero, a product h above its own; e_zero stands for the others."""
    own = [exponent + operation.h for significand, exponent in products if significand]
    zeros = [operation.e_zero] * (len(own) < len(products) or not z.significand)
    return max([*own, *zeros, *([z.exponent] if z.significand else [])])


def exact_products(x: Sequence[Number], y: Sequence[Number]) -> list[tuple[Fraction, int]]:
    return [(p.significand * q.significand, p.exponent + q.exponent) for p, q in zip(x, y, strict=True)]


def in_the_frame_of_c(operation: Any, x: Sequence[Number], y: Sequence[Number], z: Number) -> Fraction:
    """Magnitudes in units of the last bit; one of the other sign than c's is inverted, which is −t − 1."""
    products = exact_products(x, y)
    unit = two_to(largest_exponent(operation, products, z) - operation.F)
    total = keep(abs(z.value) / unit, 0, "RZ")
    for (significand, exponent), p, q in zip(products, x, y, strict=True):
        magnitude = keep(abs(significand) * two_to(exponent) / unit, 0, "RZ")
        opposite = (p.negative != q.negative) != z.negative
        total += -magnitude - 1 if opposite else magnitude
    return (-total if z.negative else total) * unit


def sum_of_groups(operation: Any, x: Sequence[Number], y: Sequence[Number], z: Number, exact_groups: bool) -> Fraction:
    """Floors of groups and of c; a c whose exponent lies below that of the last bit counts as 0."""
    products = exact_products(x, y)
    e_max = largest_exponent(operation, products, z)
    unit = two_to(e_max - operation.F)
    total = Fraction(0) if z.exponent < e_max - operation.F and z.significand else keep(z.value / unit, 0, "RD")
    for first in range(0, len(products), operation.P):
        group = products[first : first + operation.P]
        values = [significand * two_to(exponent) for significand, exponent in group]
        if not exact_groups:
            highest = max((exponent + operation.h if significand else operation.e_zero) for significand, exponent in group)
            last = two_to(highest - operation.F)
            values = [keep(value / last, 0, "RD") * last for value in values]
        total += keep(sum(values, Fraction(0)) / unit, 0, "RD")
    return total * unit


def converted(operation: Any, value: Fraction) -> int:
    """ρ; what rounds to a zero is +0. RNE-FP32-RZ-BF16 rounds to fp32, and then drops the low half of the code."""
    mode, target, *then = operation.rho.split("-", 2)
    code = encode(target.lower(), value, mode, operation.overflow, operation.flush_results)
    exponent_bits, mantissa_bits, _, _, dropped_bits, *_ = LAYOUTS[target.lower()]
    if code % 2 ** (exponent_bits + mantissa_bits + dropped_bits) == 0:
        return 0
    return code // 2**16 if then == ["RZ-BF16"] else code
