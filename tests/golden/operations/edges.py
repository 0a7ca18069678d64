"""Rows about the smallest normal number, where results are tiny by one rule and not by the other."""

import numpy as np

from golden.operations.exact_sum import ExactSum


def near_the_ends(rng: np.random.Generator, operation: ExactSum, rows: int) -> list[np.ndarray]:
    """Codes of a, b and c whose products and sums lie about the smallest normal number, or cancel."""
    codes = []
    for form in (operation.a, operation.b, operation.c):
        dtype = np.dtype(f"u{form.storage_bits // 8}")
        mantissas = rng.integers(0, 1 << form.man_bits, rows, np.uint64)
        edge = rng.integers(0, 3, rows)
        mantissas = np.where(edge == 0, (1 << form.man_bits) - 1 - (mantissas & np.uint64(3)), mantissas)
        mantissas = np.where(edge == 1, mantissas & np.uint64(3), mantissas)
        exps = rng.integers(0, form.man_bits + 3, rows, np.uint64)
        codes.append(
            (
                rng.integers(0, 2, rows, np.uint64) << np.uint64(form.width - 1)
                | exps << np.uint64(form.man_bits)
                | mantissas
            ).astype(dtype)
        )
    # a stays small; b lies about 1, so that the product lies where a does
    middle = operation.b.bias - operation.b.man_bits // 2
    if operation.name != "ADD":
        codes[1] = codes[1] + np.asarray(middle << operation.b.man_bits, codes[1].dtype)
    return codes
