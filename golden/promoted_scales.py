"""Block scales that are applied in fp32 where a sum is promoted, as DeepGEMM and row-wise scaled kernels do."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from golden.additions import Additions
from golden.arrays import BitArray, check_shape, to_bits
from golden.formats import FP32


@dataclass(frozen=True)
class PromotedScales:
    """Scales, in fp32, of the groups of instructions between promotions.

    Attributes:
        a, b: codes of fp32, [⌈M/rows⌉, groups] and [groups, ⌈N/columns⌉].
        rows, columns: number of rows of A, and of columns of B, that share a scale.
    """

    a: BitArray
    b: BitArray
    rows: int
    columns: int

    @classmethod
    def checked(
        cls, scale_a: Any, scale_b: Any, shape: tuple[int, int], groups: int, block: tuple[int, int]
    ) -> "PromotedScales":
        """Check the scales of a product of shape (M, N) and return them.

        Raises:
            TypeError: scales that are missing, or not fp32.
            ValueError: scales of another shape.
        """
        for key, scales in (("scale_a", scale_a), ("scale_b", scale_b)):
            if scales is None:
                raise TypeError(f"{key} is missing: scale_at = 'promotion' takes scales of fp32 for both A and B")
        a, b = to_bits("scale_a", scale_a, FP32), to_bits("scale_b", scale_b, FP32)
        (M, N), (rows, columns) = shape, block
        check_shape("scale_a", a, (-(-M // rows), groups), "one of fp32 for each block of rows and each promotion")
        check_shape("scale_b", b, (groups, -(-N // columns)), "one of fp32 for each promotion and each block of columns")
        return cls(a, b, rows, columns)

    def of(self, additions: Additions, group: int, rows: slice, columns: slice) -> BitArray:
        """The product of the scales of A and B for a group, rounded to fp32, for each element of a part of D."""
        i, j = np.arange(rows.start, rows.stop) // self.rows, np.arange(columns.start, columns.stop) // self.columns
        (first, i), (left, j) = (i[0], i - i[0]), (j[0], j - j[0])
        a, b = self.a[first : first + i[-1] + 1, group], self.b[group, left : left + j[-1] + 1]
        shape = (len(a), len(b))
        products = additions.multiply(
            np.ascontiguousarray(np.broadcast_to(a[:, None], shape)), np.ascontiguousarray(np.broadcast_to(b, shape))
        )
        wide = products if len(b) == len(j) else np.repeat(products, np.bincount(j), 1)
        return wide if len(a) == len(i) else np.repeat(wide, np.bincount(i), 0)
