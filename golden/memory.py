"""Checks that operands and results fit in memory: a broadcast array is small, but its contiguous copy may not be."""

import os
import sys
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from golden.formats import Format


@cache
def machine_bytes() -> int:
    """Memory of this machine (bytes); an upper limit if the system does not report it, as on Windows."""
    if not hasattr(os, "sysconf"):
        return sys.maxsize
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def check_memory(what: str, size: int) -> None:
    """Raise MemoryError if `size` bytes are more than this machine has."""
    if size > machine_bytes():
        found = f"{size / 2**30:.3g} GiB, and this machine has {machine_bytes() / 2**30:.3g}"
        raise MemoryError(f"{what} would take {found}; compute fewer rows at a time")


def check_operands(operands: Sequence[Any], result: Format) -> None:
    """Raise MemoryError if contiguous copies of a, b, c, the scales, and d (format `result`) do not fit in memory."""
    copies = [array for array in operands if isinstance(array, np.ndarray) and not array.flags.c_contiguous]
    results = operands[2].size if isinstance(operands[2], np.ndarray) else 0
    size = sum(array.size * array.itemsize for array in copies) + results * result.storage_bits // 8
    check_memory("d and contiguous copies of the operands", size)
