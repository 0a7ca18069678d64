"""Rows for the native engine's proofs, and the comparison with the reference."""

from typing import Any

import numpy as np
import pytest

import golden
from golden.native.library import library
from golden.stimulus import CLASSES, OperandShape

needs_native = pytest.mark.skipif(library() is None, reason="the native library is not installed")


def class_rows(shape: OperandShape, rows: int, seed: int) -> Any:
    """So many rows of each of the six classes, as the arguments of `.dot`."""
    made = [make(shape, np.random.default_rng([seed, number]), rows) for number, make in enumerate(CLASSES.values())]
    return [None if column[0] is None else np.concatenate(column) for column in zip(*made, strict=True)]


def first_difference(model: golden.Instruction | golden.Unit, operands: Any) -> str:
    """Where the engines differ, or nothing. NaN must be the same code too, for the library writes the reference's."""
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
