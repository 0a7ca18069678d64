"""The stimulus at volume: row r of seed s has the same operands on every machine and in any batch, at native speed.

    >>> from golden.arithmetic.formats import FP16, FP32
    >>> from golden.stimulus import OperandShape, volume
    >>> shape = OperandShape(a=FP16, b=FP16, c=FP32, d=FP32, K=8)
    >>> volume.rows(shape, seed=1, first=10**9, count=1000).operands.a.shape
    (1000, 8)

C++ headers (golden/native/include/mmau/stimulus) make the rows, in the native library and on a device, from a table of
corners that is made here. docs/guides/stimulus.md says what the rows are, docs/evidence/stimulus-mutants.md what they find.
"""

from golden.stimulus.volume.fill import (
    CLASSES,
    NAMES,
    CornerTable,
    corner_table,
    kernel_source,
    parameters,
    rows,
    takes,
    tiles,
)

__all__ = ["CLASSES", "NAMES", "CornerTable", "corner_table", "kernel_source", "parameters", "rows", "takes", "tiles"]
