"""Rows for comparisons of the native engine with the reference, and the comparison."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from golden.stimulus import CLASSES, GeneratorDraws, Operands, OperandShape


def class_rows(shape: OperandShape, rows: int, seed: int) -> Operands:
    """So many rows of each of the six classes, as the arguments of `.dot`."""
    draws = [GeneratorDraws(np.random.default_rng([seed, number])) for number in range(len(CLASSES))]
    made = [make(shape, source, rows, ()) for make, source in zip(CLASSES.values(), draws, strict=True)]
    a, b, c, *scales = zip(*made, strict=True)
    return Operands(*map(np.concatenate, (a, b, c)), *(None if s[0] is None else np.concatenate(s) for s in scales))


class Difference(NamedTuple):
    """Rows in which the engines differ.

    Attributes:
        differing, rows: how many rows differ, of how many.
        row: number of the first that does.
        operands: its operands in the order of `.dot`, codes in hexadecimal.
        reference, native: its d, codes in hexadecimal.
    """

    differing: int
    rows: int
    row: int
    operands: list[Any]
    reference: str
    native: str


def compare(model: Any, operands: Sequence[Any]) -> Difference | None:
    """Where the engines differ. NaN must be the same code too, for the library writes the reference's.

    The model is an instruction or a unit, the operands a, b, c and where there are any the scales.
    """
    expected = model.dot(*operands, engine="reference")
    got = model.dot(*operands, engine="native")
    different = np.flatnonzero(expected != got)
    if not different.size:
        return None
    row = int(different[0])
    codes = [None if column is None else _hexadecimal(column[row].tolist()) for column in operands]
    return Difference(different.size, expected.size, row, codes, f"{expected[row]:#x}", f"{got[row]:#x}")


def _hexadecimal(codes: Any) -> Any:
    return [f"{code:#x}" for code in codes] if isinstance(codes, list) else f"{codes:#x}"
