"""About how deep each step is (levels of two-input gates), to place pipeline registers by; only ratios count.

Rounded from components that were mapped by themselves to NAND and NOR gates (`mmau rtl --report`), in ones' complement with
all else by default: fp16, bf16, FP8 and FP4 with 4 to 64 products, FMA in fp32. FMA in fp64 goes beyond what was measured.
"""

from golden.conversion import Conversion
from golden.formats import Format

DECODE = 8

ALIGN = 22
"""With truncation toward zero, or none."""

ALIGN_DOWN = 50
"""With truncation toward minus infinity, which adds one in the last place."""

NORMALISE = 44

TRUNCATE = 47
"""A normalised sum truncated to fewer bits."""

SCALE = 20

NARROW = 10
"""An integer sum brought into the range of the result; an estimate."""


def multiply(x: Format, y: Format) -> int:
    """An array multiplier of the wider significand: a fit to 8 levels of 2 bits, 51 of 11, 100 of 24."""
    return 6 + 4 * (1 + max(x.man_bits, y.man_bits))


def multiply_integers(bits: int) -> int:
    """An array multiplier of integers, as that of significands; an estimate."""
    return 6 + 4 * bits


def max_exp(terms: int) -> int:
    """Compare and select, 13 a level of the tree."""
    return 13 * levels(terms)


def accumulate(terms: int) -> int:
    """Layers of full adders and one last adder of some 30 bits: a fit to 55 of 2 terms, 61 of 17, 77 of 33."""
    return 45 + 5 * levels(terms)


def encode(rho: Conversion) -> int:
    """Packing alone, or an incrementer before it."""
    return 16 if rho.mode == "RZ" else 42


def levels(terms: int) -> int:
    """Of a binary tree."""
    return (terms - 1).bit_length()
