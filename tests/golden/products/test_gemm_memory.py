"""The memory that a matrix product takes beside its operands."""

import tracemalloc
from typing import Any

import numpy as np
import pytest

import golden
from golden.engines.engine import Batch

pytestmark = pytest.mark.slow

MMA = golden.instruction("sm_80", "mma.m16n8k16.f32.f16.f16.f32")

ORDERS = {
    "plain": golden.GemmOrder(),
    "bf16": golden.GemmOrder(output="bf16"),
    "split": golden.GemmOrder(split_k=4, split_sum="workspace", output="bf16"),
    "promoted": golden.GemmOrder(promote_every=64),
    "stripes": golden.GemmOrder(stripes=(2, 32), epilogue=("bias",)),
}


@pytest.mark.parametrize("name", ORDERS)
def test_product_of_4096_takes_at_most_twice_its_operands(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Operands, D and everything between them; only the sums themselves, which take minutes, are left out."""

    def run(engine: Any, chain: Any, batch: Batch) -> Any:
        return np.zeros(batch.c.shape, batch.c.dtype)

    monkeypatch.setattr("golden.products.tiled.run", run)
    monkeypatch.setattr("golden.products.additions.run", run)
    a, b, c = np.zeros((4096, 4096), np.float16), np.zeros((4096, 4096), np.float16), np.zeros((4096, 4096), np.float32)
    bias = np.zeros(4096, np.float32) if name == "stripes" else None
    tracemalloc.start()
    golden.gemm(MMA, a, b, c, order=ORDERS[name], bias=bias)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    operands = a.nbytes + b.nbytes + c.nbytes
    assert peak + operands <= 2 * operands
