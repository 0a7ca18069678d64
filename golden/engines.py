"""Engines that run one chain over a batch of dot products. The reference engine, exact and in Python, is the definition."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from golden.arrays import BitArray, bits_dtype
from golden.chain import Chain, fp16_codes
from golden.checks import check_choice
from golden.device_arrays import is_device_array
from golden.native import cuda
from golden.native import engine as native
from golden.native.parameters import is_one_call
from golden.sum_rows import run_sums


class Batch(NamedTuple):
    """The operands of many dot products, as bit patterns.

    a, b: [rows, K]; c: [rows]; scale_a, scale_b: [rows, blocks] or None. With columns = N > 0 it is a matrix product: c is
    [M, N], a and scale_a have M rows (of A), b and scale_b have N rows (columns of B).
    """

    a: BitArray
    b: BitArray
    c: BitArray
    scale_a: BitArray | None = None
    scale_b: BitArray | None = None
    columns: int = 0


def run_reference(chain: Chain, batch: Batch) -> BitArray:
    """The reference engine: Python integers, one row after another."""
    a, b = batch.a.tolist(), batch.b.tolist()
    scale_a, scale_b = _scale_rows(batch.scale_a, len(a)), _scale_rows(batch.scale_b, len(b))
    results = []
    for row, c in enumerate(batch.c.ravel().tolist()):
        i, j = divmod(row, batch.columns) if batch.columns else (row, row)
        results.append(chain(a[i], b[j], c, scale_a[i], scale_b[j]))
    return np.array(results, dtype=bits_dtype(chain.operation.d)).reshape(batch.c.shape)


def _scale_rows(scales: BitArray | None, rows: int) -> Sequence[Sequence[int]]:
    return [()] * rows if scales is None else scales.tolist()


def run_native(chain: Chain, batch: Batch) -> BitArray:
    """The native engine: the C++ library, on all cores."""
    return native.compute(chain, *batch)


def run_cuda(chain: Chain, batch: Batch) -> BitArray:
    """The cuda engine: the C++ library's headers, compiled for a GPU; operands and d are CuPy arrays."""
    d: BitArray = cuda.compute(chain, *batch)
    return d


Engine = Callable[[Chain, Batch], BitArray]

ENGINES: dict[str, Engine] = {
    "reference": run_reference,
    "native": run_native,
    "cuda": run_cuda,
}


def fastest_engine(on_device: bool = False) -> str:
    """The default engine.

    Args:
        on_device: whether the arrays are CuPy arrays.
    """
    return "cuda" if on_device else "native" if native.is_available() else "reference"


def run(engine: str | None, chain: Chain, batch: Batch) -> BitArray:
    """Run a batch on the named engine; None selects the fastest one available.

    Returns:
        d, bit patterns in the shape of c.

    Raises:
        ValueError: an unknown engine, or one that is not installed or cannot run these arrays or this chain.
    """
    on_device = is_device_array(batch.c)
    if engine is None:
        engine = fastest_engine(on_device)
    else:
        check_choice("engine", engine, ENGINES)
    if on_device and engine != "cuda":
        raise ValueError(f"engine {engine!r} takes NumPy arrays; got CuPy arrays, which engine 'cuda' takes")
    if engine == "native" and chain.sums is not None:
        return run_sums(chain.operation, chain.sums, batch.a, batch.b, batch.c)
    if engine == "reference" or is_one_call(chain):
        return ENGINES[engine](chain, batch)
    if engine == "cuda":
        raise ValueError("engine 'cuda' runs only the chains of GPUs; give NumPy arrays")
    return run_in_calls(ENGINES[engine], chain, batch)


def run_in_calls(engine: Engine, chain: Chain, batch: Batch) -> BitArray:
    """Run a chain on an engine as several calls: plain chains, then additions of their sums."""
    a, b = batch.a, batch.b
    if chain.convert is not None:
        a, b = (fp16_codes(own)[codes] for own, codes in zip(chain.convert, (a, b), strict=True))
    a = a ^ a.dtype.type(chain.inverted)
    sums = [
        engine(Chain(chain.operation), batch._replace(a=a[:, products], b=b[:, products], c=start))
        for products, start in chain.parts(a.shape[-1], batch.c, np.full_like(batch.c, chain.zero))
    ]
    return chain.summed(sums, batch.c, partial(added, engine, chain))


def added(engine: Engine, chain: Chain, x: BitArray, y: BitArray) -> BitArray:
    """x + y, computed as the multiply-adds x·1 + y on an engine."""
    factors = x.reshape(-1, 1)
    ones = np.full_like(factors, chain.adder.d.encode(1))
    return engine(Chain(chain.adder), Batch(factors, ones, y.reshape(-1))).reshape(x.shape)
