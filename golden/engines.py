"""Engines: ways to run one dot product over a batch. The reference is exact and in Python; it is the definition."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from golden.arrays import BitArray, bits_dtype
from golden.chain import DotProduct
from golden.checks import check_choice
from golden.formats import Format

Batch = tuple[BitArray, BitArray, BitArray, BitArray | None, BitArray | None]
"""a, b [rows, K], c [rows], scale_a, scale_b [rows, K/K_block] or None: bit patterns."""


def run_reference(dot: DotProduct, batch: Batch, d: Format) -> BitArray:
    """The reference engine: Python integers, one row after another."""
    a, b, c, scale_a, scale_b = batch
    rows = len(c)
    none: Sequence[list[int]] = [[]] * rows
    operands = zip(
        a.tolist(),
        b.tolist(),
        c.tolist(),
        none if scale_a is None else scale_a.tolist(),
        none if scale_b is None else scale_b.tolist(),
        strict=True,
    )
    results: list[Any] = [dot(*row) for row in operands]
    return np.array(results, dtype=bits_dtype(d))


ENGINES: dict[str, Callable[[DotProduct, Batch, Format], npt.NDArray[Any]]] = {"reference": run_reference}


def run(engine: str | None, dot: DotProduct, batch: Batch, d: Format) -> BitArray:
    """Run a batch on the named engine; None picks the fastest there is.

    Raises:
        ValueError: no such engine.
    """
    name = "reference" if engine is None else engine
    check_choice("engine", name, ENGINES)
    return ENGINES[name](dot, batch, d)
