"""The stimulus at volume, as conformance takes it: tiles by number, the same whatever the batches."""

from typing import Any

from golden import Instruction
from golden.stimulus import OperandShape, Stimulus, Tiles, volume

NAMES = volume.NAMES
"""Classes and corners, by label."""


def tiles_of(instruction: Instruction, seed: int, first: int, count: int) -> tuple[Tiles, Any]:
    """Tiles first … first + count − 1 of a seed as NumPy arrays, and the label of each."""
    shape = OperandShape.of_instruction(instruction)
    return volume.tiles(shape, instruction.m, instruction.n, seed, first, count)


def rows_of(shape: OperandShape, seed: int, first: int, count: int) -> Stimulus:
    """Rows first … first + count − 1 of a seed."""
    return volume.rows(shape, seed, first, count)
