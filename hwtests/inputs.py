"""The stimulus at volume, as conformance takes it: tiles by number, the same whatever the batches."""

from typing import Any

from golden import Instruction
from golden.stimulus import Operands, OperandShape, Stimulus, Tiles, volume

NAMES = volume.NAMES
"""Classes and corners, by label."""


def tiles_of(instruction: Instruction, seed: int, first: int, count: int) -> tuple[Tiles, Any]:
    """Tiles first … first + count − 1 of a seed as NumPy arrays, and the label of each."""
    shape = OperandShape.of_instruction(instruction)
    return volume.tiles(shape, instruction.m, instruction.n, seed, first, count)


def rows_of(shape: OperandShape, seed: int, first: int, count: int) -> Stimulus:
    """Rows first … first + count − 1 of a seed."""
    return volume.rows(shape, seed, first, count)


def row_of(tiles: Tiles, tile: int, row: int, column: int) -> Operands:
    """The operands of one element of D, as a single row."""
    places = (row, column, (row, column), row, column)
    arrays = (tiles.a, tiles.b, tiles.c, tiles.scale_a, tiles.scale_b)
    taken = [None if array is None else array[tile][at][None] for array, at in zip(arrays, places, strict=True)]
    return Operands(*taken)  # type: ignore[arg-type]
