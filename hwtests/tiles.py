"""Rows of the stimulus as tiles, as the kernels take them: each row fills one place of a tile's diagonal."""

from typing import Any

from golden import Instruction
from golden.stimulus import Operands, Tiles, tiles_of

__all__ = ["Tiles", "from_diagonals", "on_diagonals", "places"]


def places(instruction: Instruction) -> int:
    """Rows that one tile takes on a diagonal."""
    return min(instruction.m, instruction.n)


def on_diagonals(rows: Operands, instruction: Instruction, xp: Any, shift: int = 0, below: int = 0) -> Tiles:
    """Tiles that hold each row on a diagonal: row p of a tile in place (p + below·P, (p + shift) mod P) of D, P places.

    Args:
        rows: as many as a multiple of `places`.
        shift: how far B and C are moved to the right. below: which P rows of A hold the rows, where m > n; the other rows
            of A hold the same rows again.

    Raises:
        ValueError: rows that do not fill their tiles.
    """
    i, count = instruction, places(instruction)
    if len(rows.c) % count:
        raise ValueError(f"rows must be a multiple of {count}, the places of a tile of {i.name}; got {len(rows.c)}")
    first = (xp.arange(len(rows.c) // count) * count)[:, None]
    row_of_a = first + (xp.arange(i.m) - below * count) % count
    row_of_b = first + (xp.arange(i.n) - shift) % count
    row_of_c = xp.broadcast_to(row_of_b[:, None, :], (len(first), i.m, i.n)).copy()
    return tiles_of(rows, row_of_a, row_of_b, row_of_c)


def from_diagonals(d: Any, instruction: Instruction, xp: Any, shift: int = 0, below: int = 0) -> Any:
    """The results of the rows that `on_diagonals` placed: [tiles, m, n] → [rows]."""
    count = places(instruction)
    p = xp.arange(count)
    return d[:, p + below * count, (p + shift) % count].reshape(-1)
