"""Rows for the native engine's proofs, and the comparison with the reference."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from golden.native.library import library
from golden.stimulus import CLASSES, Operands, OperandShape

needs_native = pytest.mark.skipif(library() is None, reason="the native library is not installed")


def class_rows(shape: OperandShape, rows: int, seed: int) -> Operands:
    """So many rows of each of the six classes, as the arguments of `.dot`."""
    made = [make(shape, np.random.default_rng([seed, number]), rows) for number, make in enumerate(CLASSES.values())]
    a, b, c, *scales = zip(*made, strict=True)
    return Operands(*map(np.concatenate, (a, b, c)), *(None if s[0] is None else np.concatenate(s) for s in scales))


def first_difference(model: Any, operands: Sequence[Any]) -> str:
    """Where the engines differ, or nothing. NaN must be the same code too, for the library writes the reference's.

    The model is an instruction or a unit, the operands a, b, c and where there are any the scales.
    """
    expected = model.dot(*operands, engine="reference")
    got = model.dot(*operands, engine="native")
    different = np.flatnonzero(expected != got)
    if not different.size:
        return ""
    row = different[0]
    inputs = [None if column is None else column[row] for column in operands]
    return (
        f"{different.size} of {expected.size} rows, first {row}: {inputs} reference {expected[row]:#x} native {got[row]:#x}"
    )
