"""Tiles: the operands of whole instructions D = A·B + C, assembled from rows, as NumPy or CuPy arrays.

A row, the operands of one dot product, becomes a row of A, a column of B and an element of C. The element of D where the
three meet is that dot product; all other elements combine the A of one row with the B of another.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from golden.stimulus.shape import Operands, Stimulus


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
        """The arrays that are not None, in the order of a kernel's arguments."""
        return [array for array in (self.a, self.b, self.c, self.scale_a, self.scale_b) if array is not None]

    def rows(self, xp: Any) -> Operands:
        """The operands of every element of D, as `Instruction.dot` takes them: a, b [tiles, m, n, k], c [tiles, m, n].

        Args:
            xp: the arrays' module, numpy or cupy.
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
        """The tiles start … stop − 1."""
        return Tiles(*(None if x is None else x[start:stop] for x in (self.a, self.b, self.c, self.scale_a, self.scale_b)))


def tiles_of(rows: Operands, row_of_a: Any, row_of_b: Any, row_of_c: Any) -> Tiles:
    """Tiles whose rows of A, columns of B and elements of C are taken from rows.

    Args:
        rows: a, b [rows, k], c [rows], scales [rows, k/K_block] or None.
        row_of_a, row_of_b, row_of_c: the row that each is taken from, [tiles, m], [tiles, n] and [tiles, m, n].
    """
    scale_a = None if rows.scale_a is None else rows.scale_a[row_of_a]
    scale_b = None if rows.scale_b is None else rows.scale_b[row_of_b]
    return Tiles(rows.a[row_of_a], rows.b[row_of_b], rows.c[row_of_c], scale_a, scale_b)


def places(m: int, n: int) -> int:
    """Number of rows on a diagonal of an m × n tile."""
    return min(m, n)


def on_diagonals(rows: Operands, m: int, n: int, xp: Any, shift: int = 0, below: int = 0) -> Tiles:
    """Tiles that hold each row on a diagonal: row p of a tile in place (p + below·P, (p + shift) mod P) of D, P places.

    Args:
        rows: a multiple of `places` rows.
        m, n: shape of D.
        xp: the rows' module, numpy or cupy.
        shift: number of places by which B and C move to the right. below: the group of P rows of A that holds the rows if
            m > n; the other rows of A repeat the same rows.

    Raises:
        ValueError: rows that do not fill their tiles.
    """
    count = places(m, n)
    if len(rows.c) % count:
        raise ValueError(f"rows must be a multiple of {count}, the places of a tile of {m} x {n}; got {len(rows.c)}")
    first = (xp.arange(len(rows.c) // count) * count)[:, None]
    row_of_a = first + (xp.arange(m) - below * count) % count
    row_of_b = first + (xp.arange(n) - shift) % count
    row_of_c = xp.broadcast_to(row_of_b[:, None, :], (len(first), m, n)).copy()
    return tiles_of(rows, row_of_a, row_of_b, row_of_c)


def from_diagonals(d: Any, xp: Any, shift: int = 0, below: int = 0) -> Any:
    """The results of the rows that `on_diagonals` placed: [tiles, m, n] → [rows]."""
    count = places(*d.shape[1:])
    p = xp.arange(count)
    return d[:, p + below * count, (p + shift) % count].reshape(-1)


def among_mixed(stimulus: Stimulus, m: int, n: int, rng: np.random.Generator) -> tuple[Tiles, npt.NDArray[np.uint8]]:
    """Tiles with every row of the stimulus once on a main diagonal; their other elements come from random rows.

    Returns:
        The tiles, and the class of each element [tiles·m·n]: its row's, or one past the last class if rows are mixed.
    """
    rows, count = len(stimulus), places(m, n)
    tiles = rows // count
    a, b, c = (rng.integers(rows, size=(tiles, size)) for size in (m, n, m * n))
    a[:, :count] = b[:, :count] = c[:, : count * (n + 1) : n + 1] = np.arange(rows).reshape(tiles, count)
    c = c.reshape(tiles, m, n)
    of_one_row = (a[:, :, None] == b[:, None, :]) & (b[:, None, :] == c)
    label = np.where(of_one_row, stimulus.label[c], len(stimulus.names)).astype(np.uint8).reshape(-1)
    return tiles_of(stimulus.operands, a, b, c), label
