"""Rows for the native engine's proofs, and the comparison with the reference."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from golden.native.library import library
from golden.stimulus import CLASSES, GeneratorDraws, Operands, OperandShape

needs_native = pytest.mark.skipif(library() is None, reason="the native library is not installed")

INSTRUCTION_SETS = ("portable", "x86-64-v3", "x86-64-v4")
"""The values of MMAU_ISA."""

_DISTINGUISHING_FLAGS = {"portable": set[str](), "x86-64-v3": {"avx2", "fma", "f16c"}, "x86-64-v4": {"avx512f", "avx512vl"}}


def has_instruction_set(name: str) -> bool:
    """Whether this processor has the instruction set according to /proc/cpuinfo, independently of the library."""
    flags: set[str] = set()
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("flags"):
            flags = set(line.split(":", 1)[1].split())
            break
    return _DISTINGUISHING_FLAGS[name] <= flags


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
    codes = [None if column is None else hexadecimal(column[row].tolist()) for column in operands]
    return Difference(different.size, expected.size, row, codes, f"{expected[row]:#x}", f"{got[row]:#x}")


def hexadecimal(codes: Any) -> Any:
    return [f"{code:#x}" for code in codes] if isinstance(codes, list) else f"{codes:#x}"


def first_difference(model: Any, operands: Sequence[Any]) -> str:
    """Where the engines differ, as a sentence, or nothing."""
    found = compare(model, operands)
    return "" if found is None else str(found)
