"""An instruction as probe data sees it: its steps, the bits that a sum keeps, and where a product can lie."""

from dataclasses import dataclass

import golden
from golden.formats import Format

WIDEST_LAST_BIT = 30
"""Fraction bits of the small terms where a step adds exactly (E-FDPA): beyond the 25 bits of any unit that truncates."""


@dataclass(frozen=True)
class StepLayout:
    """The steps of one instruction.

    Attributes:
        k: products of the instruction. steps: the products of each step, in groups that are summed before they are aligned.
        F: fraction bits of an aligned term below the largest product, of which the last can be lost; None: no such sum.
        kept: fraction bits of d that a chain keeps below its leading one.
    """

    k: int
    steps: tuple[tuple[tuple[int, ...], ...], ...]
    F: int | None
    kept: int

    @classmethod
    def of(cls, instruction: golden.Instruction) -> "StepLayout":
        """The layout of an instruction.

        Raises:
            ValueError: an instruction on integers, whose sums are exact in any order.
        """
        operation, k = instruction.operation, instruction.k
        structure, rounding = operation.structure, operation.structure.last.rounding
        if rounding is None:
            raise ValueError(
                f"{instruction.arch} {instruction.name} adds integers exactly; probe data tells roundings apart"
            )
        order = instruction.chain.order_over(k)
        G = structure.group or 1 if structure.scales_groups else 1
        steps = tuple(
            tuple(tuple(order[at : at + G]) for at in range(first, first + operation.length, G))
            for first in range(0, k, operation.length)
        )
        kept = rounding.to.man_bits
        F = structure.sums[0].terms[0].F or structure.last.terms[-1].F
        if F is not None:
            F -= structure.headroom or 0  # a product counts that much above its own exponent
        elif structure.rounds_products:
            F = kept
        elif structure.is_exact_dot_product:
            F = WIDEST_LAST_BIT
        return cls(k, steps, F, kept if F is None else min(kept, F))

    @property
    def exact_below(self) -> int:
        """Sums of integers below this are exact in every order of whole instructions."""
        return 1 << (self.kept + 1)


def exponents(operand: Format, flushes: bool) -> range:
    """The exponents x for which 2^x is a number of the format that a unit reads as such."""
    lowest = operand.e_min if flushes else operand.e_min - operand.man_bits
    return range(lowest, operand.e_max + 1)


def parted(exp: int, a: range, b: range) -> tuple[int, int] | None:
    """Exponents of two factors whose product is 2^exp; None if their formats have no such numbers."""
    low, high = max(a[0], exp - b[-1]), min(a[-1], exp - b[0])
    if low > high:
        return None
    near = min(max(exp // 2, low), high)
    return near, exp - near
