"""The kernels of matrix products on GPUs at volume, on the host: 10^7 elements of D of every instruction that one call
computes, of its chains, and of products with promotion, residue, split-K and scales, beside the native engine, bit for bit.

    python -m tests.golden.native.gpu_campaign STORE [SECONDS]

appends a line to STORE for each unit that it finishes, and skips those whose line is of the same kernels, so that a second
call goes on. Exit status: 0 nothing differs so far, 1 something does.
"""

import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import golden
from golden import GemmOrder
from golden.chains.chain import Chain
from golden.engines import engine
from golden.native.cuda import INCLUDE, _headers
from tests.golden.native.gpu_host import host_product
from tests.golden.native.test_gpu_products import EVERY, MANY_ROWS, check, matrices

ORDERS = {
    "promoted": GemmOrder(promote_every=2),
    "residue first": GemmOrder(residue="first", k_tile=64),
    "split": GemmOrder(split_k=3, split_sum="workspace"),
    "scaled at promotion": GemmOrder(promote_every=2, scale_at="promotion", scale_block=(1, 128)),
}
"""Orders of products; K is no multiple of their instructions."""

SIDE = 3168
"""Rows and columns of D of a product under an order: 10^7 elements."""


def units(rows: int = MANY_ROWS, side: int = SIDE) -> Iterator[tuple[str, Callable[[], int]]]:
    """Name and work of each: it compares, raises AssertionError where something differs, and returns how many elements."""
    for i in EVERY:
        name = f"{i.arch} {i.name}"
        yield f"step {name}", partial(stepped, i, i.k, rows)
        if i.chain.is_plain and "c" in i.operation.operands:
            yield f"chain {name}", partial(stepped, i, 5 * max(i.operation.length, i.operation.block_size or 1), rows)
    for key, order in ORDERS.items():
        for model in (golden.instruction("sm_90", "wgmma.m64n128k32.f32.e4m3.e4m3"),
                      golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32")):  # fmt: skip
            yield f"{key} {model.arch} {model.name}", partial(ordered, model, order, side)


def stepped(instruction: Any, K: int, rows: int) -> int:
    operands = matrices(instruction, K, rows, seed=12)
    check(instruction.chain, operands, (False,))
    return int(operands[2].size)


def ordered(model: Any, order: GemmOrder, side: int) -> int:
    """golden.gemm with the kernel in the place of the cuda engine's launch."""
    rng, K = np.random.default_rng(13), 5 * model.k - 3
    a, b = (rng.integers(0, model.a.codes, shape).astype(f"uint{model.a.storage_bits}") for shape in ((side, K), (K, side)))
    c = rng.integers(0, model.c.codes, (side, side)).astype(f"uint{model.c.storage_bits}")
    scales: dict[str, Any] = {}
    if order.scale_at == "promotion":
        of = {"scale_a": (side, 3), "scale_b": (3, -(-side // 128))}
        scales = {key: rng.standard_normal(shape, np.float32) for key, shape in of.items()}
    expected = golden.gemm(model, a, b, c, **scales, engine="native", order=order)
    with mock.patch.dict(engine.ENGINES, native=on_host):
        found = golden.gemm(model, a, b, c, **scales, engine="native", order=order)
    assert (found == expected).all(), f"{int((found != expected).sum())} of {found.size} differ"
    return int(expected.size)


def on_host(chain: Chain, batch: engine.Batch) -> Any:
    """A call by the kernel that a GPU would run; additions, which are rows, by the native engine."""
    if not batch.columns:
        return engine.run_native(chain, batch)
    found = host_product(chain, *batch[:5], quick=True)
    return host_product(chain, *batch[:5]) if found is None else found


def kernels() -> str:
    """A digest of the headers that the kernels include."""
    return hashlib.sha256(_headers(INCLUDE, ("mmau/gpu/ways.hpp",)).encode()).hexdigest()[:16]


def main(store: Path, seconds: float = float("inf")) -> int:
    lines = [json.loads(line) for line in store.read_text().splitlines()] if store.exists() else []
    version, ends = kernels(), time.monotonic() + seconds
    known = {line["unit"]: line for line in lines if line["kernels"] == version}
    for name, work in units():
        if name in known or time.monotonic() > ends:
            continue
        line: dict[str, Any] = {"unit": name, "kernels": version, "differ": ""}
        started = time.process_time()
        try:
            line["elements"] = work()
        except AssertionError as error:
            line["differ"] = str(error)
        known[name] = line | {"cpu_seconds": round(time.process_time() - started, 1)}
        with store.open("a") as stream:
            stream.write(json.dumps(known[name]) + "\n")
        print(known[name], flush=True)
    wrong = [name for name, line in known.items() if line["differ"]]
    print(
        f"{len(known)} of {len(list(units()))} units, {sum(line.get('elements', 0) for line in known.values()):,} elements"
    )
    print("\n".join(f"differs: {name}" for name in wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *map(float, sys.argv[2:3])))
