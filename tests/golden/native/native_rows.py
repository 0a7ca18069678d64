"""Which tests of the native engine can run on this machine, rows for them, and a comparison with the reference."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

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


def first_difference(model: Any, operands: Sequence[Any]) -> str:
    """Where the engines differ, as a sentence, or nothing: NaN must be the same code too, for the library writes it.

    The model is an instruction or a unit, the operands a, b, c and where there are any the scales.
    """
    expected = model.dot(*operands, engine="reference")
    got = model.dot(*operands, engine="native")
    rows = np.flatnonzero(expected != got)
    if not rows.size:
        return ""
    row = int(rows[0])
    codes = [None if column is None else _hexadecimal(column[row].tolist()) for column in operands]
    values = f"reference {expected[row]:#x}, native {got[row]:#x}"
    return f"{rows.size} of {expected.size} rows differ, row {row} first: {codes}: {values}"


def _hexadecimal(codes: Any) -> Any:
    return [f"{code:#x}" for code in codes] if isinstance(codes, list) else f"{codes:#x}"
