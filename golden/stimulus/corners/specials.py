"""Corners of chosen operands: special values and landmarks in every place, c across its range, a published input."""

from functools import lru_cache

import numpy as np

from golden.arithmetic.formats import Format, IntegerFormat
from golden.arrays import BitArray, bits_dtype
from golden.stimulus import integer_classes
from golden.stimulus.classes import moderate
from golden.stimulus.codes import GeneratorDraws, IntArray, landmarks, lowest_lead, number, zeros
from golden.stimulus.corners.corner import crossed
from golden.stimulus.shape import Operands, OperandShape

C_ALONE = 4
"""Number of rows for each landmark of c in which no other operand is a landmark."""

FEW_EXPONENTS, MANY_EXPONENTS = 20, 96
"""Number of exponents in a sweep of c, evenly spaced over all of them, on level 1 and on level 2."""


def special_operands(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """One landmark in one place, every landmark in every place of a, b, c and the scales, all else moderate."""
    start, filled = moderate(shape, draws, len(case)), []
    operand, option, place = _placements(shape)[:, case]
    for number_of, (codes, of) in enumerate(_places(shape, start)):
        columns = codes.reshape(len(case), -1).copy()
        mine = np.flatnonzero(operand == number_of)
        columns[mine, place[mine]] = np.array(landmarks(of), codes.dtype)[option[mine]]
        filled.append(columns.reshape(codes.shape))
    return Operands(filled[0], filled[1], filled[2], *(filled[3:] or (None, None)))


def landmark_placements(shape: OperandShape) -> int:
    """Number of cases of `special_operands` on level 2: landmarks of all operands, each in every place."""
    return sum(len(landmarks(of)) * columns for of, columns in _columns(shape))


def landmark_count(shape: OperandShape) -> int:
    """Number of cases of `special_operands` on level 1: landmarks of all operands, each in one place."""
    return sum(len(landmarks(of)) for of, _ in _columns(shape))


def _columns(shape: OperandShape) -> list[tuple[Format, int]]:
    """Each operand's format and its number of elements in a row."""
    columns = [(shape.a, shape.K), (shape.b, shape.K), (shape.c, 1)]
    return columns if shape.scale is None else columns + [(shape.scale, shape.blocks)] * 2


@lru_cache(maxsize=8)
def _placements(shape: OperandShape) -> IntArray:
    """Number of the operand, of its landmark, and of the place, for each case: first each landmark in one place."""
    cases = [
        (shift, operand, option, (shift + option) % columns)
        for operand, (of, columns) in enumerate(_columns(shape))
        for shift in range(columns)
        for option in range(len(landmarks(of)))
    ]
    return np.array(sorted(cases), np.int64).T[1:]


def _places(shape: OperandShape, operands: Operands) -> list[tuple[BitArray, Format]]:
    places = [(operands.a, shape.a), (operands.b, shape.b), (operands.c, shape.c)]
    if shape.scale is not None and operands.scale_a is not None and operands.scale_b is not None:
        places += [(operands.scale_a, shape.scale), (operands.scale_b, shape.scale)]
    return places


def special_pairs(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """Every landmark times every landmark in a random place; beside it, in every other row, a landmark in c."""
    start = moderate(shape, draws, len(case))
    a_options, b_options, c_options = landmarks(shape.a), landmarks(shape.b), landmarks(shape.c)
    here = np.arange(shape.K) == draws.integers(0, shape.K, (len(case), 1))
    of_a, of_b = crossed(case, len(a_options), len(b_options))
    a, b = np.array(a_options, start.a.dtype)[of_a], np.array(b_options, start.b.dtype)[of_b]
    c = np.array(c_options, start.c.dtype)[draws.integers(0, len(c_options), len(case))]
    return start._replace(
        a=np.where(here, a[:, None], start.a),
        b=np.where(here, b[:, None], start.b),
        c=np.where(draws.integers(0, 2, len(case)) == 1, c, start.c),
    )


def c_sweep(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """c through all its classes and exponents against moderate products, and through its landmarks beside zero products."""
    start, options, alone = moderate(shape, draws, len(case)), c_values(shape.c), landmarks(shape.c)
    c = np.array(options + alone * C_ALONE, start.c.dtype)[case]
    is_alone = (case >= len(options))[:, None]
    return start._replace(a=np.where(is_alone, start.a.dtype.type(0), start.a), c=c)


def c_cases(shape: OperandShape) -> int:
    """Number of cases of `c_sweep`."""
    return len(c_values(shape.c)) + len(landmarks(shape.c)) * C_ALONE


def c_values(c: Format) -> list[int]:
    """Values of c that `c_sweep` takes: its landmarks, and powers of two of both signs over the whole range, a few of them
    first."""
    few, many = (_swept(c, count) for count in (FEW_EXPONENTS, MANY_EXPONENTS))
    return list(dict.fromkeys(landmarks(c) + few + many))


def few_c_values(c: Format) -> int:
    """Number of `c_values` that are landmarks and the first few exponents."""
    return len(dict.fromkeys(landmarks(c) + _swept(c, FEW_EXPONENTS)))


def _swept(c: Format, count: int) -> list[int]:
    """Powers of two of both signs, at most `count` of each, evenly spaced over all exponents."""
    if isinstance(c, IntegerFormat):
        powers = np.unique(np.linspace(0, c.width - 1, min(c.width, count)).round().astype(np.int64))
        return [int(code) for sign in (1, -1) for code in integer_classes.codes(c, sign * (np.int64(1) << powers))]
    low, high = lowest_lead(c), c.e_max
    lead = np.unique(np.linspace(low, high, min(high - low + 1, count)).round().astype(np.int64))
    return [int(code) for sign in (0, 1) for code in number(c, np.full(len(lead), sign), lead)]


DISCREPANCY_A, DISCREPANCY_B, DISCREPANCY_C = (-(2.0**13), -0.5, -0.25, -0.125), (2.0**10, 1.0, 1.0, 1.0), 2.0**23
"""Paper 000's input on which nearly every architecture differs (numerics.md, section 8)."""


def discrepancy(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """Paper 000's discrepancy input as published (case 0), rotated through all places, and with every sign flipped."""
    rotation, flipped, row = case % shape.K, case // shape.K, np.arange(len(case))
    a = zeros(shape.a, np.zeros((len(case), shape.K)))
    b = zeros(shape.b, np.zeros((len(case), shape.K)))
    for k, (value_a, value_b) in enumerate(zip(DISCREPANCY_A, DISCREPANCY_B, strict=True)):
        place = (rotation + k) % shape.K
        a[row, place] = _value_of_either_sign(shape.a, value_a)[flipped]
        b[row, place] = shape.b.encode(value_b)
    c = _value_of_either_sign(shape.c, DISCREPANCY_C)[flipped]
    scales: list[BitArray | None] = [None, None]
    if shape.scale is not None:
        unscaled = np.zeros((len(case), shape.blocks), np.int64)
        scales = [number(shape.scale, unscaled, unscaled) for _ in range(2)]
    return Operands(a, b, c, scales[0], scales[1])


def _value_of_either_sign(operand: Format, value: float) -> BitArray:
    return np.array([operand.encode(value), operand.encode(-value)], bits_dtype(operand))


def discrepancy_cases(shape: OperandShape) -> int:
    """Number of cases of `discrepancy`; 0 if a format cannot hold one of its values, or with fewer than four products."""
    if integer_classes.is_integer(shape):
        return 0
    wanted = [(shape.a, v) for v in DISCREPANCY_A] + [(shape.b, v) for v in DISCREPANCY_B] + [(shape.c, DISCREPANCY_C)]
    holds = all(operand.value(operand.encode(value)) == value for operand, value in wanted)
    return 2 * shape.K if holds and shape.K > 3 else 0
