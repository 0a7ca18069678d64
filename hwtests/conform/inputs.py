"""Random tiles of golden's six classes, made where the device is: the same code on NumPy and on CuPy arrays, bit for bit.

Tile t depends on the seed and on t alone, whatever the batches. Every element of its D is a dot product of the tile's class.
"""

from typing import Any

from golden import Instruction
from golden.stimulus import CLASSES as GENERATORS
from golden.stimulus import OperandShape, Tiles
from golden.stimulus.draws import CounterDraws

CLASSES = tuple(GENERATORS)
"""Tile t is of class t mod 6."""


def classes_of(xp: Any, first: int, count: int) -> Any:
    """The class number of each tile."""
    return xp.arange(first, first + count) % len(CLASSES)


def random_tiles(instruction: Instruction, xp: Any, seed: int, first: int, count: int) -> Tiles:
    """Tiles first … first + count − 1 of a seed.

    Args:
        xp: numpy or cupy, the module of the arrays.
    """
    shape, tile = OperandShape.of_instruction(instruction), (instruction.m, instruction.n)
    arrays: list[Any] = [None] * len(Tiles.__dataclass_fields__)
    for label, name in enumerate(CLASSES):
        start = (label - first) % len(CLASSES)
        if start >= count:
            continue
        numbers = xp.arange(first + start, first + count, len(CLASSES), dtype=xp.uint64)
        made = GENERATORS[name](shape, CounterDraws(xp, seed, numbers), len(numbers), tile)
        for position, codes in enumerate(made):
            if codes is None:
                continue
            if arrays[position] is None:
                arrays[position] = xp.empty((count, *codes.shape[1:]), codes.dtype)
            arrays[position][start :: len(CLASSES)] = codes
    return Tiles(*arrays)
