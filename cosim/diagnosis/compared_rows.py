"""Compared rows of a run as the arrays that models compute."""

from collections.abc import Callable, Sequence

import numpy as np

from cosim.bench.mismatch import ComparedRow
from golden.arrays import bits_dtype
from golden.variants import Codes, Model, Rows


def rows_of(model: Model, compared: Sequence[ComparedRow], K: int) -> Rows:
    """Compared rows of K products as arrays. The results of these rows must have defined bits."""
    operation = model.operation
    scale = operation.scale_format

    def scales(pick: Callable[[ComparedRow], tuple[int, ...] | None]) -> Codes | None:
        if scale is None or operation.block_size is None:
            return None
        return np.array([pick(row) for row in compared], bits_dtype(scale)).reshape(-1, -(-K // operation.block_size))

    return Rows(
        a=np.array([row.a for row in compared], bits_dtype(model.a)).reshape(-1, K),
        b=np.array([row.b for row in compared], bits_dtype(model.b)).reshape(-1, K),
        c=np.array([row.c for row in compared], bits_dtype(operation.c)),
        scale_a=scales(lambda row: row.scale_a),
        scale_b=scales(lambda row: row.scale_b),
        got=np.array([row.got for row in compared], bits_dtype(operation.d)),
        expected=np.array([row.expected for row in compared], bits_dtype(operation.d)),
    )
