"""What a directed corner is, and what several of them need."""

from collections.abc import Callable
from dataclasses import dataclass
from math import gcd, prod

import numpy as np

from golden.arrays import BitArray
from golden.stimulus.codes import IntArray
from golden.stimulus.draws import GeneratorDraws
from golden.stimulus.shape import Operands, OperandShape

GAPS = 48
"""Exponent gaps that the sweeps cover, 0 … 47 (exponent value): more than the widest published alignment, F = 35."""


GOLDEN_SECTION = (5**0.5 - 1) / 2
"""Multiples of it, modulo one, lie far apart, however few of them are taken."""

Count = Callable[[OperandShape], int]


@dataclass(frozen=True)
class Corner:
    """A situation: how many cases of it there are for a shape, and how rows of given cases are made.

    Attributes:
        directed: how many cases are of level 1, the first ones; at most all.
        cases: how many there are in all, on level 2.
        make: operands of the given cases, one row each.
    """

    directed: Count
    cases: Count
    make: Callable[[OperandShape, GeneratorDraws, IntArray], Operands]


def sweep(steps: int, *variants: int, directed: int) -> tuple[Count, Count]:
    """How many cases `crossed` takes apart: on level 1 each step `directed` times, on level 2 with all variants."""
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
    """Row by row the one or the other."""

    def chosen(x: BitArray | None, y: BitArray | None) -> BitArray | None:
        return None if x is None or y is None else np.where(first.reshape((-1,) + (1,) * (x.ndim - 1)), x, y)

    return Operands(*map(chosen, yes, no))  # type: ignore[arg-type]
