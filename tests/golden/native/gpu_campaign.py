"""The kernels of matrix products on GPUs at volume, on the host: each kernel's own text, compiled for its plan, with threads
and barriers as on a GPU (gpu_host.py), beside the native engine, bit for bit. 10^7 elements of D of a step of every
operation; 10^6 of its chain, and of products with promotion, residue, split-K and scales at promotion: some minutes of
one core. Then 10^7 of these too, and of the other instructions.

    python -m tests.golden.native.gpu_campaign STORE [SECONDS]

appends a line to STORE for each unit that it finishes, and skips those whose line is of the same kernels, so that a second
call goes on. Exit status: 0 nothing differs so far, 1 something does.
"""

import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain as joined
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import golden
from golden import GemmOrder, Instruction
from golden.chains.chain import Chain
from golden.engines import engine
from golden.native.cuda import INCLUDE, _headers
from tests.golden.native.gpu_host import kernel_product
from tests.golden.native.test_gpu_products import EVERY, MANY_ROWS, by_the_engine, matrices

ORDERS = {
    "promoted": GemmOrder(promote_every=2),
    "residue first": GemmOrder(residue="first", k_tile=64),
    "scaled at promotion": GemmOrder(promote_every=2, scale_at="promotion", scale_block=(1, 128)),
    "split": GemmOrder(split_k=3, split_sum="workspace"),
}
"""Orders of products; K is no multiple of their instructions."""

ORDERED = (golden.instruction("sm_90", "wgmma.m64n128k32.f32.e4m3.e4m3"),
           golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32"))  # fmt: skip
"""The instructions of these products."""

SIDE = 3168
"""Rows and columns of D of a product under an order: 10^7 elements."""

FEWER_ROWS, FEWER_SIDE = 168, 1008
"""The same of 10^6."""

Unit = tuple[str, Callable[[], int]]
"""Name and work: it compares, raises AssertionError where something differs, and returns how many elements."""


def first_of_each() -> list[Instruction]:
    """Of every operation the instruction that takes most scales and products, and makes chains."""
    found: dict[str, Instruction] = {}
    for i in sorted(EVERY, key=lambda i: (not i.chain.is_plain, -(i.operation.block_size or 0), -i.k)):
        found.setdefault(i.operation.name, i)
    return list(found.values())


def units() -> Iterator[Unit]:
    """All of them: what tells most comes first."""
    first = first_of_each()
    yield from steps(first, MANY_ROWS)
    for name, work in joined(chains(first, FEWER_ROWS), orders(FEWER_SIDE)):
        yield f"{name}, 10^6", work
    others = [i for i in EVERY if i not in first]
    yield from joined(chains(first, MANY_ROWS), orders(SIDE), steps(others, MANY_ROWS), chains(others, MANY_ROWS))


def steps(instructions: Sequence[Instruction], rows: int) -> Iterator[Unit]:
    for i in instructions:
        yield f"step {i.operation.name} {i.arch} {i.name}", partial(compared, i, i.k, rows)


def chains(instructions: Sequence[Instruction], rows: int) -> Iterator[Unit]:
    """Five steps each: parts of K that are full, and a last one that is not."""
    for i in instructions:
        if i.chain.is_plain and "c" in i.operation.operands:
            K = 5 * max(i.operation.length, i.operation.block_size or 1)
            yield f"chain {i.operation.name} {i.arch} {i.name}", partial(compared, i, K, rows)


def orders(side: int) -> Iterator[Unit]:
    for model in ORDERED:
        for key, order in ORDERS.items():
            yield f"{key} {model.operation.name} {model.arch} {model.name}", partial(ordered, model, order, side)


def compared(instruction: Instruction, K: int, rows: int) -> int:
    operands = matrices(instruction, K, rows, seed=12)
    expected = by_the_engine(instruction.chain, operands)
    check_equal(kernel_product(instruction.chain, *operands), expected)
    return int(expected.size)


def check_equal(found: Any, expected: Any) -> None:
    different = int((found != expected).sum())
    assert not different, f"{different} of {found.size} differ"


def ordered(model: Instruction, order: GemmOrder, side: int) -> int:
    """golden.gemm with the kernel in the place of the cuda engine's launch."""
    rng, K = np.random.default_rng(13), 5 * model.k - 3
    a, b = (rng.integers(0, model.a.codes, shape).astype(f"uint{model.a.storage_bits}") for shape in ((side, K), (K, side)))
    c = rng.integers(0, model.c.codes, (side, side)).astype(f"uint{model.c.storage_bits}")
    scales: dict[str, Any] = {}
    if order.scale_at == "promotion":
        of = {"scale_a": (side, 3), "scale_b": (3, -(-side // 128))}  # 5 instructions, 2 a promotion
        scales = {key: rng.standard_normal(shape, np.float32) for key, shape in of.items()}
    expected = golden.gemm(model, a, b, c, **scales, engine="native", order=order)
    with (
        mock.patch(f"{__name__}.kernel_product", wraps=kernel_product) as launched,
        mock.patch.dict(engine.ENGINES, native=on_host),
    ):
        found = golden.gemm(model, a, b, c, **scales, engine="native", order=order)
    assert launched.called
    check_equal(found, expected)
    return int(expected.size)


def on_host(chain: Chain, batch: engine.Batch) -> Any:
    """A call by the kernel that a GPU would run; additions, which are rows, by the native engine."""
    return kernel_product(chain, *batch[:5]) if batch.columns else engine.run_native(chain, batch)


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
