"""Corners of integer operands: sums at the ends of c's range and at nothing, and carries that run far.

As everywhere in the stimulus nothing of an operation is known: sums meet both ends of the range, whatever becomes of them.
"""

from typing import Any

import numpy as np

from golden.stimulus.codes import IntArray
from golden.stimulus.corners.corner import Corner, crossed, sweep
from golden.stimulus.draws import GeneratorDraws
from golden.stimulus.integers import codes, normal, product_sums
from golden.stimulus.shape import Operands, OperandShape

AT_RANGE = tuple(range(-3, 4))
"""How far beyond the largest or the smallest number a sum lies, below zero short of it."""


def overflow(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """Sums at an end of c's range and a few beyond or short of it: at the end to which the products' own sum leads."""
    beyond, start = np.array(AT_RANGE)[case], normal(shape, draws, len(case))
    c: Any = shape.c
    total = product_sums(shape, start)
    wanted = np.where(total >= 0, c.max_finite + beyond, c.lowest - beyond)
    return start._replace(c=codes(c, wanted - total))


def cancellation(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """Products and c that add up to nothing, or to one more or less: any, or all between the same ends of their range."""
    off, of_ends = crossed(case, 3, 5)
    start = normal(shape, draws, len(case))
    drawn: list[tuple[Any, Any, IntArray]] = [(shape.a, start.a, of_ends & 1), (shape.b, start.b, of_ends >> 1 & 1)]
    a, b = (
        np.where(
            (of_ends > 0)[:, None], codes(operand, np.array([operand.lowest, operand.max_finite]))[which][:, None], any_ones
        )
        for operand, any_ones, which in drawn
    )
    start = start._replace(a=a, b=b)
    return start._replace(c=codes(shape.c, off - 1 - product_sums(shape, start)))


def carries(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """Carries and borrows through every number of bits of c, by one product of 1 or, where there is one, of −1."""
    run, product = case % (shape.c.width - 1), np.where(case < shape.c.width - 1, 1, -1)
    product = product if shape.a.signed or shape.b.signed else np.ones_like(case)
    one = np.ones_like(case)
    of_a, of_b = (product, one) if shape.a.signed else (one, product)
    here = np.arange(shape.K) == draws.integers(0, shape.K, (len(case), 1))
    a, b = (codes(operand, here * factor[:, None]) for operand, factor in ((shape.a, of_a), (shape.b, of_b)))
    return Operands(a, b, codes(shape.c, (np.int64(1) << (run + 1)) - (product == 1)), None, None)


CORNERS: dict[str, Corner] = {
    "overflow": Corner(lambda shape: len(AT_RANGE), lambda shape: len(AT_RANGE), overflow),
    "cancellation": Corner(*sweep(3, 5, directed=1), cancellation),
    "carries": Corner(lambda shape: shape.c.width - 1, lambda shape: 2 * (shape.c.width - 1), carries),
}
"""By the names of the corners that mean the same for other formats."""
