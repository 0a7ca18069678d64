"""The class of directed corners, and functions that several of them share."""

from collections.abc import Callable
from dataclasses import dataclass
from math import gcd, prod

import numpy as np

from golden.arrays import BitArray
from golden.stimulus.codes import GeneratorDraws, IntArray
from golden.stimulus.shape import Operands, OperandShape

GAPS = 48
"""Exponent gaps that the sweeps cover, 0 … 47 (exponent value): more than the widest published alignment, F = 35."""


GOLDEN_SECTION = (5**0.5 - 1) / 2
"""The golden section: its first n multiples, modulo one, lie far apart for every n."""

Count = Callable[[OperandShape], int]


@dataclass(frozen=True)
class Corner:
    """A situation: its number of cases for a shape, and the generator of the rows of given cases.

    Attributes:
        directed: number of cases of level 1, which come first.
        cases: number of all cases, which are level 2.
        make: function that returns the operands of given cases, one row each.
    """

    directed: Count
    cases: Count
    make: Callable[[OperandShape, GeneratorDraws, IntArray], Operands]


def sweep(steps: int, *variants: int, directed: int) -> tuple[Count, Count]:
    """The two numbers of cases of `crossed`: level 1 takes each step `directed` times, level 2 takes it with all
    variants."""
    return lambda shape: steps * directed, lambda shape: steps * prod(variants)


def crossed(case: IntArray, steps: int, *variants: int) -> tuple[IntArray, ...]:
    """The step of a sweep and one choice of each kind of variant, all steps with all combinations. The first cases take
    every step once, the combinations in turn; the next cases take every step again, with combinations far from those."""
    combinations = prod(variants)
    step, far = case % steps, round(combinations * GOLDEN_SECTION)
    while gcd(far, combinations) > 1:
        far += 1
    combination = (case // steps * far + step) % combinations
    chosen = []
    for choices in variants:
        chosen.append(combination % choices)
        combination = combination // choices
    return step, *chosen


def either(first: np.ndarray, yes: Operands, no: Operands) -> Operands:
    """Select each row from `yes` or from `no`."""

    def chosen(x: BitArray | None, y: BitArray | None) -> BitArray | None:
        return None if x is None or y is None else np.where(first.reshape((-1,) + (1,) * (x.ndim - 1)), x, y)

    return Operands(*map(chosen, yes, no))  # type: ignore[arg-type]
