"""The twin of `golden.gemm`: orders of a whole matrix product in plain Python, every addition on exact rationals.

Written from numerics.md, section 12. Of golden/ it sees the attributes of parameter objects alone.
"""

from collections.abc import Sequence
from typing import Any

from tests.golden.converted_twin import fp8_as_fp16_work
from tests.twin import twin
from tests.twin.twin_numbers import LAYOUTS, decode, encode, infinity_code, is_nan

Piece = tuple[int, int]


def element(model: Any, operands: Any, k: int, pieces: Sequence[Piece], promote_every: int) -> int:
    """One element of D: the pieces' sums, added from the left and rounded to d's format.

    Args:
        operands: a, b [instructions·k], c, scale_a, scale_b.
        k: products of an instruction.
    """
    wide = "fp64" if model.operation.d.name == "fp64" else "fp32"
    starts = [operands.c] + [0] * (len(pieces) - 1)
    if len(pieces) == 1 and not promote_every:
        return chained(model, operands, k, pieces[0], operands.c)
    sums = [
        promoted(model, operands, k, piece, start, promote_every)
        if promote_every
        else widened(chained(model, operands, k, piece, start), model.operation.d.name, wide)
        for piece, start in zip(pieces, starts, strict=True)
    ]
    total = sums[0]
    for other in sums[1:]:
        total = added(model, wide, total, other)
    return narrowed(model, total, wide)


def promoted(model: Any, operands: Any, k: int, piece: Piece, start: int, every: int) -> int:
    """An fp32 accumulator that starts as c, or +0, and takes the sum of every so many instructions."""
    accumulator = widened(start, model.operation.c.name, "fp32")
    first, end = piece
    while first < end:
        group = chained(model, operands, k, (first, min(first + every, end)), 0)
        accumulator = added(model, "fp32", accumulator, widened(group, model.operation.d.name, "fp32"))
        first += every
    return accumulator


def chained(model: Any, operands: Any, k: int, piece: Piece, c: int) -> int:
    """Instruction after instruction, the d of one the c of the next."""
    operation = model.operation
    block = operation.block_size or k
    for number in range(*piece):
        products, scales = slice(number * k, (number + 1) * k), slice(number * k // block, (number + 1) * k // block)
        a, b = operands.a[products], operands.b[products]
        if getattr(model, "fp16_order", None):
            c = fp8_as_fp16_work(operation, model.a.name, model.b.name, a, b, c)
        else:
            step = operation if number == piece[0] else operation.changed(c=operation.d.name)
            c = twin.dot(step, a, b, c, operands.scale_a[scales], operands.scale_b[scales])
    return c


def widened(code: int, source: str, wide: str) -> int:
    """The same number in a wider format; its sign where it is zero, and some NaN of a NaN."""
    number = decode(source, code)
    if number.kind == "nan":
        return twin.any_nan_code(wide)
    if number.kind == "infinite":
        return twin.special_code(wide, number, 0)
    return encode(wide, number.value, "RNE") if number.significand else negative_zero(wide) * number.negative


def added(model: Any, wide: str, x: int, y: int) -> int:
    """RNE of the exact sum, as IEEE 754 has it."""
    total = twin.ieee_sum(wide, [decode(wide, x), decode(wide, y)])
    return nan_code(model, wide) if is_nan(wide, total) else total


def narrowed(model: Any, code: int, wide: str) -> int:
    """RNE to d's format."""
    d, number = model.operation.d.name, decode(wide, code)
    if number.kind == "nan":
        return nan_code(model, d)
    if number.kind == "infinite":
        return twin.special_code(d, number, 0)
    return encode(d, number.value, "RNE") if number.significand else negative_zero(d) * number.negative


def nan_code(model: Any, d: str) -> int:
    if model.operation.name in ("T-FDPA", "ST-FDPA", "GST-FDPA"):
        return twin.nvidia_nan_code(d)
    layout = LAYOUTS[d]
    return infinity_code(d, False) + int(2 ** (layout.mantissa_bits - 1))


def negative_zero(d: str) -> int:
    layout = LAYOUTS[d]
    return int(2 ** (layout.exponent_bits + layout.mantissa_bits))
