"""Estimates of how deep each step is (levels of two-input gates), by which pipeline registers are placed; only ratios count.

They are rounded from components that were mapped by themselves to NAND and NOR gates (`mmau rtl --report`), in ones'
complement with all else by default: fp16, bf16, FP8 and FP4 with 4 to 64 products, FMA in fp32. FMA in fp64 goes beyond what
was measured.
"""

from golden.arithmetic.conversion import Conversion
from golden.arithmetic.formats import Format

DECODE = 8

ALIGN = 22
"""Depth of step align with truncation toward zero, or without truncation."""

ALIGN_DOWN = 50
"""Depth of step align with truncation toward minus infinity, which adds one in the last place."""

NORMALISE = 44

TRUNCATE = 47
"""Depth of step truncate: a normalised sum is cut to fewer bits."""

SCALE = 20

NARROW = 10
"""Depth of bringing an integer sum into the range of the result; an estimate."""


def multiply(x: Format, y: Format) -> int:
    """Depth of an array multiplier of the wider significand: a fit to 8 levels for 2 bits, 51 for 11, 100 for 24."""
    return 6 + 4 * (1 + max(x.man_bits, y.man_bits))


def multiply_integers(bits: int) -> int:
    """Depth of an array multiplier of integers, taken as that of significands; an estimate."""
    return 6 + 4 * bits


def max_exp(terms: int) -> int:
    """Depth of step max_exp: 13 levels for each compare-and-select level of the tree."""
    return 13 * levels(terms)


def accumulate(terms: int) -> int:
    """Depth of step accumulate, layers of full adders and one last adder of some 30 bits: a fit to 55 for 2 terms, 61 for
    17, 77 for 33."""
    return 45 + 5 * levels(terms)


def encode(rho: Conversion) -> int:
    """Depth of step encode: packing alone under RZ, else an incrementer before it."""
    return 16 if rho.mode == "RZ" else 42


def levels(terms: int) -> int:
    """Levels of a binary tree over a number of terms."""
    return (terms - 1).bit_length()
