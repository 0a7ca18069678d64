"""Tiles: the operands of many whole instructions D = A·B + C, put together from rows, on NumPy or CuPy arrays.

A row, the operands of one dot product, becomes a row of A, a column of B and an element of C. Where all three meet the
tile computes that dot product; everywhere else products of one row's A with another row's B.
"""

from dataclasses import dataclass
from typing import Any

from golden.stimulus.shape import Operands


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


def tiles_of(rows: Operands, row_of_a: Any, row_of_b: Any, row_of_c: Any) -> Tiles:
    """Tiles whose rows of A, columns of B and elements of C are taken from rows.

    Args:
        rows: a, b [rows, k], c [rows], scales [rows, k/K_block] or None.
        row_of_a, row_of_b, row_of_c: which row each takes, [tiles, m], [tiles, n] and [tiles, m, n].
    """
    scale_a = None if rows.scale_a is None else rows.scale_a[row_of_a]
    scale_b = None if rows.scale_b is None else rows.scale_b[row_of_b]
    return Tiles(rows.a[row_of_a], rows.b[row_of_b], rows.c[row_of_c], scale_a, scale_b)
