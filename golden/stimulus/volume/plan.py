"""The plan of the stimulus at volume: formats, lengths and the values derived from them, as in stimulus/plan.hpp."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

from golden.arithmetic.formats import Format
from golden.native.parameters import FORMAT_CODES
from golden.native.stimulus import StimulusShape
from golden.stimulus.codes import lowest_lead
from golden.stimulus.shape import OperandShape

MODERATE = 24
"""Exponents of `normal` products lie in −24 … 24 if the formats reach that far."""


@dataclass(frozen=True)
class Plan:
    """An operand shape with the values that the generators derive from it."""

    shape: OperandShape

    @cached_property
    def element_low(self) -> int:
        """Exponent of the smallest power-of-two product, without scales."""
        return lowest_lead(self.shape.a) + lowest_lead(self.shape.b)

    @cached_property
    def element_high(self) -> int:
        """Exponent of the largest power-of-two product, without scales."""
        return self.shape.a.e_max + self.shape.b.e_max

    @cached_property
    def low(self) -> int:
        """Exponent of the smallest power-of-two product, scales included."""
        return self.element_low + (2 * lowest_lead(self.shape.scale) if self.shape.scale else 0)

    @cached_property
    def high(self) -> int:
        """Exponent of the largest power-of-two product, scales included."""
        return self.element_high + (2 * self.shape.scale.e_max if self.shape.scale else 0)

    @property
    def K(self) -> int:
        return self.shape.K

    @property
    def block(self) -> int:
        """Elements that share a scale, 0 where unscaled."""
        return self.shape.block_size or 0

    @cached_property
    def one_in_K(self) -> int:
        """The odds (in 65,536) of selecting each product, so that one product of a row is selected on average."""
        return 65536 // self.K

    @cached_property
    def pairs(self) -> int:
        """Upper limit of p for exchanging products within a block: products k and k ^ p lie in one block for 0 < p <
        pairs."""
        power = 1 << (self.K - 1).bit_length()
        return min(power, low_bit(self.block)) if self.block else power

    @cached_property
    def places(self) -> int:
        """Upper limit of p for moving products within a row: for 0 ≤ p < places, k → k ^ p moves products, and whole blocks
        with their scales."""
        blocks_move = not self.block or (low_bit(self.block) == self.block and self.K % self.block == 0)
        return low_bit(self.K) if blocks_move else min(low_bit(self.K), low_bit(self.block))

    @cached_property
    def rotates(self) -> bool:
        """Whether products may also move by any number of places."""
        return not self.block and 1 << (self.K - 1).bit_length() != self.K

    def operand(self, of_a: bool) -> Format:
        """The format of a or of b."""
        return self.shape.a if of_a else self.shape.b


@lru_cache(maxsize=256)
def parameters(shape: OperandShape) -> StimulusShape:
    """The shape as the struct mmau_stimulus of the C interface."""
    d = shape.d.name if shape.d.name in FORMAT_CODES else "fp32"  # e8m13 lies in an fp32 word
    scale = shape.scale.name if shape.scale is not None else "fp64"
    return StimulusShape(
        a=FORMAT_CODES[shape.a.name], b=FORMAT_CODES[shape.b.name], c=FORMAT_CODES[shape.c.name], d=FORMAT_CODES[d],
        d_man_bits=shape.d.man_bits, K=shape.K, scale=FORMAT_CODES[scale], K_block=shape.block_size or 0,
    )  # fmt: skip


def low_bit(x: int) -> int:
    """The lowest bit of x."""
    return x & -x
