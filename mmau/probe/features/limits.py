"""The ends of the range: results that overflow, products that do, subnormal operands, subnormal results."""

import numpy as np

from golden.stimulus import CLASSES, GeneratorDraws, Operands, OperandShape
from golden.stimulus.codes import fractions, number
from golden.stimulus.placed_products import lead_range, operands_of, window
from mmau.probe.features.feature import Feature, Questions, corner, joined


def drawn(name: str, rows: int) -> Questions:
    """Rows of one of the stimulus' classes."""

    def questions(shape: OperandShape, draws: GeneratorDraws) -> Operands:
        return CLASSES[name](shape, draws, rows, ())

    return questions


def tiny_sums(shape: OperandShape, draws: GeneratorDraws) -> Operands:
    """No operand is zero, whose exponent would count, and all terms are about as small as the smallest results."""
    rows = 24
    low, high = lead_range(shape)
    lowest = shape.d.e_min - shape.d.man_bits
    top = np.clip(draws.integers(lowest - 4, shape.d.e_min + 8, rows), low, high)
    c = number(
        shape.c, draws.integers(0, 2, rows), np.maximum(top + draws.integers(-3, 4, rows), shape.c.e_min),
        fractions(draws, shape.c, (rows,)),
    )  # fmt: skip
    return operands_of(shape, draws, window(shape, draws, top, np.full(rows, 3)), c)


SUBNORMALS = Feature(
    "subnormals", "operands and results below the normal numbers", ("flush_inputs", "flush_results"),
    joined(corner("subnormal-results", 48), corner("c-sweep", 24), drawn("tiny", 32), tiny_sums),
)  # fmt: skip

OVERFLOW = Feature(
    "overflow", "sums and products at and beyond the largest number", ("overflow",),
    joined(corner("overflow", 40), drawn("huge", 32)),
)  # fmt: skip
