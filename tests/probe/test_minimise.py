"""Small rows: what can go goes, what cannot stays."""

import numpy as np

from golden.formats import FP16, FP32
from golden.stimulus import Operands, OperandShape, generate
from probe.minimise import minimised

SHAPE = OperandShape(a=FP16, b=FP16, c=FP32, d=FP32, K=4)


def test_only_what_is_needed_stays() -> None:
    row = generate(SHAPE, 64, 0).operands.rows(slice(3, 4))
    row.a[0], row.b[0] = 0x3D55, 0x4155
    small = minimised(row, SHAPE, lambda rows: (rows.a[:, 2] > 0) & (rows.b[:, 2] > 0))
    assert small.a[0].tolist() == [0, 0, FP16.encode(1), 0]
    assert small.b[0].tolist() == [0, 0, FP16.encode(1), 0]
    assert small.c.tolist() == [0]


def test_the_row_that_is_left_still_differs() -> None:
    rows = generate(SHAPE, 64, 1).operands

    def differs(operands: Operands) -> np.ndarray:
        return np.count_nonzero(operands.a, axis=1) >= 2

    for n in range(8):
        row = rows.rows(slice(n, n + 1))
        if differs(row)[0]:
            small = minimised(row, SHAPE, differs)
            assert np.count_nonzero(small.a) == 2
