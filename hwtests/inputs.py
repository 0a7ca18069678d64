"""The stimulus at volume for conformance: tiles by number, independent of the batches that they are generated in."""

from typing import Any

from golden import Instruction
from golden.stimulus import OperandShape, Tiles, volume

NAMES = volume.NAMES
"""Name of the class or corner for each label."""


def tiles_of(instruction: Instruction, seed: int, first: int, count: int) -> tuple[Tiles, Any]:
    """Tiles first … first + count − 1 of a seed as NumPy arrays, and the label of each."""
    return volume.tiles(OperandShape.of_instruction(instruction), instruction.m, instruction.n, seed, first, count)
