"""Corners of integer operands: sums at the ends of c's range and at nothing, and carries that run far.

Like all generators they do not know the operation: sums cross both ends of the range, for wrapping and for saturation.
"""

from typing import Any

import numpy as np

from golden.stimulus.codes import GeneratorDraws, IntArray
from golden.stimulus.corners.corner import Corner, crossed, sweep
from golden.stimulus.integer_classes import codes, normal, product_sums
from golden.stimulus.shape import Operands, OperandShape

AT_RANGE = tuple(range(-3, 4))
"""Distances of a sum beyond the largest or the smallest number; a negative distance lies inside the range."""


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


def largest_sums(shape: OperandShape, draws: GeneratorDraws, case: IntArray) -> Operands:
    """Products of the largest factors, or of the largest and the smallest ones, all of one sign; c is 0 or an end.

    The classes draw most elements alone, so that the products of a long sum hardly ever have one sign there.
    """
    operands: tuple[Any, Any, Any] = (shape.a, shape.b, shape.c)
    a, b, c = operands
    negative, of_c = crossed(case, 2, 3)
    least_a = (negative == 1) & a.signed
    least_b = (negative == 1) & b.signed & (not a.signed)
    of_a, of_b = np.where(least_a, a.lowest, a.max_finite), np.where(least_b, b.lowest, b.max_finite)
    ones = np.ones((len(case), shape.K), np.int64)
    ends = np.array([0, c.max_finite, c.lowest])
    return Operands(codes(a, of_a[:, None] * ones), codes(b, of_b[:, None] * ones), codes(c, ends[of_c]), None, None)


CORNERS: dict[str, Corner] = {
    "overflow": Corner(lambda shape: len(AT_RANGE), lambda shape: len(AT_RANGE), overflow),
    "cancellation": Corner(*sweep(3, 5, directed=1), cancellation),
    "largest-sums": Corner(*sweep(2, 3, directed=2), largest_sums),
    "carries": Corner(lambda shape: shape.c.width - 1, lambda shape: 2 * (shape.c.width - 1), carries),
}
"""Corners of integers, by the names of the corresponding corners of floats."""
