"""The stimulus at volume for conformance: tiles by number, independent of the division into batches."""

from typing import Any

from golden import Instruction
from golden.stimulus import OperandShape, Tiles, volume

NAMES = volume.NAMES
"""Classes and corners, by label."""


def tiles_of(instruction: Instruction, seed: int, first: int, count: int) -> tuple[Tiles, Any]:
    """Tiles first … first + count − 1 of a seed as NumPy arrays, and the label of each."""
    return volume.tiles(OperandShape.of_instruction(instruction), instruction.m, instruction.n, seed, first, count)
