"""The stimulus at volume, as conformance takes it: tiles by number, the same whatever the batches."""

from typing import Any

import numpy as np

from golden import Instruction
from golden.stimulus import CLASSES, CounterDraws, OperandShape, Stimulus, Tiles, volume
from golden.stimulus.integers import is_integer

NAMES = volume.NAMES
"""Classes and corners, by label."""


def tiles_of(instruction: Instruction, seed: int, first: int, count: int) -> tuple[Tiles, Any]:
    """Tiles first … first + count − 1 of a seed as NumPy arrays, and the label of each."""
    shape = OperandShape.of_instruction(instruction)
    if is_integer(shape):
        return _integer_tiles(shape, (instruction.m, instruction.n), seed, first, count)
    return volume.tiles(shape, instruction.m, instruction.n, seed, first, count)


def _integer_tiles(shape: OperandShape, tile: tuple[int, int], seed: int, first: int, count: int) -> tuple[Tiles, Any]:
    """Tiles of the integer classes, which take turns."""
    labels = np.arange(first, first + count) % len(CLASSES)
    arrays: list[Any] = [None] * 3
    for label, make in enumerate(CLASSES.values()):
        chosen = np.flatnonzero(labels == label)
        if chosen.size:
            draws = CounterDraws(np, seed, (first + chosen).astype(np.uint64))
            for place, codes in enumerate(make(shape, draws, chosen.size, tile)[:3]):
                assert codes is not None
                if arrays[place] is None:
                    arrays[place] = np.empty((count, *codes.shape[1:]), codes.dtype)
                arrays[place][chosen] = codes
    return Tiles(*arrays), np.array([NAMES.index(name) for name in CLASSES], np.uint8)[labels]


def rows_of(shape: OperandShape, seed: int, first: int, count: int) -> Stimulus:
    """Rows first … first + count − 1 of a seed."""
    return volume.rows(shape, seed, first, count)
