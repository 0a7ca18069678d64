"""Which tests of the native engine can run on this machine, and a comparison with the reference as a sentence."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from golden.native.library import library
from studies.native_difference import compare

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


def first_difference(model: Any, operands: Sequence[Any]) -> str:
    """Where the engines differ, as a sentence, or nothing."""
    found = compare(model, operands)
    return "" if found is None else str(found)
