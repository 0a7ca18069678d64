"""Faults of a unit that a comparison with a tolerance lets pass."""

from collections.abc import Mapping
from functools import partial

import numpy as np

import golden
from mmau.report import markdown
from studies.answers.gpus import FP16, Floats, matrices, percent, product

K = 1024

TOLERANCES = {
    "`rtol=1e-5, atol=1e-8`, NumPy's default": partial(np.isclose, rtol=1e-5, atol=1e-8),
    "`rtol=1e-3, atol=1e-5`": partial(np.isclose, rtol=1e-3, atol=1e-5),
    "`rtol=0, atol=1e-2`": partial(np.isclose, rtol=0, atol=1e-2),
}


def passes() -> str:
    """A table, by fault, of the share of results with other bits, and of the share that each tolerance refuses."""
    right = product(_hopper(), K)
    rows = []
    for label, wrong in faults().items():
        refused = [percent(~close(wrong, right)) for close in TOLERANCES.values()]
        rows.append([label, percent(wrong.view(np.uint32) != right.view(np.uint32)), *refused])
    return markdown.table(
        ("fault", "results with other bits", *(f"refused by {each}" for each in TOLERANCES)), rows, numbers=(1, 2, 3, 4)
    )


def faults() -> Mapping[str, Floats]:
    """Results of 1,024 products with something wrong, fp16 operands of N(0, 1) and fp32 results."""
    operation = _hopper().operation
    narrow = {
        f"F = {F} in place of 25": golden.Unit(name="faulty", operation=operation.changed(F=F)) for F in (24, 20, 16, 13, 10)
    }
    nearest = {
        "rounded to nearest, not toward zero": golden.Unit(name="faulty", operation=operation.changed(rho="RNE-FP32"))
    }
    results = {label: product(unit, K) for label, unit in (narrow | nearest).items()}
    results["the order of another kernel: split-K, 2 parts"] = product(_hopper(), K, golden.GemmOrder(split_k=2))
    A, B = matrices(K)
    dropped = A.copy()
    dropped[:, -1] = 0
    results["the last of 1,024 products is missing"] = np.asarray(
        golden.gemm(_hopper(), dropped, B, np.zeros((len(A), B.shape[1]), np.float32))
    )
    return results


def _hopper() -> golden.Instruction:
    return golden.instruction(*FP16["Hopper H100"])
