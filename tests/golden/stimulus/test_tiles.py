"""Rows on diagonals: every row comes back from its place, with every placement."""

import numpy as np
import pytest

import golden
from golden.stimulus import Operands, OperandShape, Tiles, from_diagonals, generate, on_diagonals, places
from tests.hwtests.conform.stand_in import arithmetic

INSTRUCTIONS = [
    golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32"),
    golden.instruction("sm_90", "wgmma.m64n256k32.f16.e4m3.e5m2"),
    golden.instruction("sm_120", "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3"),
]


def one_by_one(instruction: golden.Instruction, rows: Operands) -> np.ndarray:
    """The stand-in arithmetic of each row alone."""
    single = Tiles(*(None if array is None else array.reshape(len(array), 1, -1) for array in rows))
    return arithmetic(instruction, single).reshape(-1)


@pytest.mark.parametrize("instruction", INSTRUCTIONS, ids=lambda i: i.name)
@pytest.mark.parametrize("placement", [(0, 0), (1, 0), (5, 0), (0, 1)])
def test_rows_come_back_from_their_places(instruction: golden.Instruction, placement: tuple[int, int]) -> None:
    shift, below = placement
    count = places(instruction.m, instruction.n)
    if (below + 1) * count > instruction.m:
        return
    rows = generate(OperandShape.of(instruction), 3 * count, seed=2).operands
    tiles = on_diagonals(rows, instruction.m, instruction.n, np, shift, below)
    assert tiles.c.shape == (3, instruction.m, instruction.n)
    d = arithmetic(instruction, tiles)
    np.testing.assert_array_equal(from_diagonals(d, np, shift, below), one_by_one(instruction, rows))


def test_rows_of_tiles_are_what_dot_takes() -> None:
    instruction = INSTRUCTIONS[0]
    rows = generate(OperandShape.of(instruction), 8, seed=2).operands
    tiles = on_diagonals(rows, instruction.m, instruction.n, np)
    spread = tiles.rows(np)
    for i in range(16):
        for j in range(8):
            np.testing.assert_array_equal(spread.a[0, i, j], tiles.a[0, i])
            np.testing.assert_array_equal(spread.b[0, i, j], tiles.b[0, j])
    expected = instruction(tiles.a[0], tiles.b[0].T, tiles.c[0])
    np.testing.assert_array_equal(instruction.dot(*spread)[0], expected)


def test_rows_that_do_not_fill_a_tile_are_refused() -> None:
    rows = generate(OperandShape.of(INSTRUCTIONS[0]), 9, seed=2).operands
    with pytest.raises(ValueError, match=r"^rows must be a multiple of 8, the places of a tile of 16 x 8; got 9$"):
        on_diagonals(rows, 16, 8, np)
