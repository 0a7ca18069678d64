"""Tiles: the operands of many whole instructions D = A·B + C, as the kernels take them, on NumPy or CuPy arrays.

A row, the operands of one dot product, becomes a tile in which it fills one place of a diagonal; the other places of the
tile then hold products of one row's A with another row's B, which are compared too.
"""

from dataclasses import dataclass
from typing import Any

from golden import Instruction
from golden.stimulus import Operands


@dataclass(frozen=True)
class Tiles:
    """a [tiles, m, k], b [tiles, n, k], c [tiles, m, n], scales [tiles, m or n, k/K_block] or None: bit patterns."""

    a: Any
    b: Any
    c: Any
    scale_a: Any = None
    scale_b: Any = None

    def __len__(self) -> int:
        return len(self.c)

    def arrays(self) -> list[Any]:
        """The arrays that there are, in the order in which kernels take them."""
        return [array for array in (self.a, self.b, self.c, self.scale_a, self.scale_b) if array is not None]

    def rows(self, xp: Any) -> Operands:
        """The operands of every element of D, as `Instruction.dot` takes them: a, b [tiles, m, n, k], c [tiles, m, n].

        Args:
            xp: numpy or cupy, whichever made the arrays.
        """
        m, n = self.c.shape[1:]

        def along_columns(array: Any) -> Any:
            return None if array is None else xp.broadcast_to(array[:, :, None, :], (len(self), m, n, array.shape[-1]))

        def along_rows(array: Any) -> Any:
            return None if array is None else xp.broadcast_to(array[:, None, :, :], (len(self), m, n, array.shape[-1]))

        return Operands(
            along_columns(self.a), along_rows(self.b), self.c, along_columns(self.scale_a), along_rows(self.scale_b)
        )

    def part(self, start: int, stop: int) -> "Tiles":
        """Some of the tiles."""
        return Tiles(*(None if x is None else x[start:stop] for x in (self.a, self.b, self.c, self.scale_a, self.scale_b)))


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
    tiles = len(rows.c) // count
    row_of_a = (xp.arange(i.m) - below * count) % count
    row_of_b = (xp.arange(i.n) - shift) % count

    def gathered(array: Any, order: Any) -> Any:
        return None if array is None else array.reshape(tiles, count, -1)[:, order]

    return Tiles(
        gathered(rows.a, row_of_a),
        gathered(rows.b, row_of_b),
        xp.broadcast_to(rows.c.reshape(tiles, count)[:, None, row_of_b], (tiles, i.m, i.n)).copy(),
        gathered(rows.scale_a, row_of_a),
        gathered(rows.scale_b, row_of_b),
    )


def from_diagonals(d: Any, instruction: Instruction, xp: Any, shift: int = 0, below: int = 0) -> Any:
    """The results of the rows that `on_diagonals` placed: [tiles, m, n] → [rows]."""
    count = places(instruction)
    p = xp.arange(count)
    return d[:, p + below * count, (p + shift) % count].reshape(-1)
