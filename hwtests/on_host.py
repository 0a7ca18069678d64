"""Comparison at volume for a device whose arrays are NumPy's: the host generates tiles, computes the model and counts
results."""

from collections.abc import Callable
from typing import Any

import numpy as np

from golden import Instruction
from golden.chains.chain import Chain
from golden.stimulus import Operands, OperandShape, Tiles, volume
from hwtests.device import Program
from hwtests.tally import E_ZERO_TILES, Tally, chain_with_another_e_zero, tally

NAMES = volume.NAMES
"""Name of the class or corner for each label."""


def tiles_of(instruction: Instruction, seed: int, first: int, count: int) -> tuple[Tiles, Any]:
    """Tiles first … first + count − 1 of a seed as NumPy arrays, and the label of each."""
    return volume.tiles(OperandShape.of(instruction), instruction.m, instruction.n, seed, first, count)


Dot = Callable[[Chain, Operands], Any]
"""Computes a model: called with a chain and rows, returns d of each row."""


def compare(instruction: Instruction, program: Program, seed: int, first: int, count: int, dot: Dot) -> Tally:
    """Compare tiles first … first + count − 1 of a seed; return the counts and the first differences."""
    tiles, labels = tiles_of(instruction, seed, first, count)
    other = chain_with_another_e_zero(instruction.chain)
    return tally(
        instruction, tiles, labels, NAMES, first, program.run(tiles), model(instruction.chain, tiles, dot),
        None if other is None else model(other, every(tiles, E_ZERO_TILES), dot),
    )  # fmt: skip


def every(tiles: Tiles, step: int) -> Tiles:
    """Every `step`-th of the tiles."""
    return Tiles(*(None if array is None else array[::step] for array in vars(tiles).values()))


def model(chain: Chain, tiles: Tiles, dot: Dot) -> Any:
    """Compute D [tiles, m, n] by a model."""
    arrays = tiles.rows(np)
    rows = [None if x is None else np.ascontiguousarray(x.reshape(tiles.c.size, -1)) for x in arrays]
    a, b, c, scale_a, scale_b = rows
    assert a is not None
    assert b is not None
    assert c is not None
    return dot(chain, Operands(a, b, c.reshape(-1), scale_a, scale_b)).reshape(tiles.c.shape)
