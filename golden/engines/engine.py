"""Engines that run one chain over a batch of dot products. The reference engine, exact and in Python, is the definition."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from math import fsum
from typing import Any, NamedTuple

import numpy as np

from golden.arithmetic.formats import Format
from golden.arrays import BitArray, bits_dtype, is_device_array
from golden.chains.chain import Chain, fp16_codes
from golden.chains.sum_chain import Node, SumTable, quiet_nan_of, summed, value_of
from golden.checks import check_choice
from golden.native import engine as native
from golden.native.parameters import is_one_call
from golden.operations import Operation

TABLED = 16
"""Largest width of a format whose values are looked up in a table (bits)."""


def run_sums(o: Operation, table: SumTable, a: BitArray, b: BitArray, c: BitArray) -> BitArray:
    """Compute d [rows] from a, b [rows, K] and c [rows]; the operation `o` names their formats."""
    with np.errstate(all="ignore"):
        x, y, z = values_of(o.a, a), values_of(o.b, b), values_of(o.c, c)
        total = summed(table, list(x.T), list(y.T), z, ManyRows())
        return codes_of(o.d, total)


class ManyRows:
    """The arithmetic of `golden.chains.sum_chain.Arithmetic` on arrays of rows."""

    def zero(self, like: Any) -> Any:
        return np.zeros_like(like)

    def product(self, x: Any, y: Any, node: Node | None) -> Any:
        return x * y if node is None else rounded(x * y, node)

    def add(self, x: Any, y: Any, node: Node) -> Any:
        total = x + y
        back = total - x
        error = (x - (total - back)) + (y - back)
        return rounded(to_odd(total, error), node)

    def exact(self, terms: Sequence[Any], node: Node) -> Any:
        rows = np.stack(terms, axis=1)
        total = rows.sum(axis=1)  # of infinities and NaN, and the sign of a zero
        finite = np.isfinite(rows).all(axis=1)
        near = np.array([fsum(row) for row in rows[finite]], np.float64)
        error = np.array([fsum([*row, -s]) for row, s in zip(rows[finite], near, strict=True)], np.float64)
        negative_zeros = np.signbit(rows[finite]).all(axis=1) & (near == 0)
        total[finite] = np.where(negative_zeros, -0.0, to_odd(near, error))
        return rounded(total, node)

    def by_magnitude(self, terms: Sequence[Any], descending: bool) -> list[Any]:
        rows = np.stack(terms, axis=1)
        size = np.where(np.isnan(rows), np.inf, np.abs(rows))
        order = np.argsort(-size if descending else size, axis=1, kind="stable")
        return list(np.take_along_axis(rows, order, axis=1).T)


def to_odd(total: Any, error: Any) -> Any:
    """Convert a sum rounded to nearest, and its error, to the sum rounded to odd."""
    even = total.view(np.uint64) & np.uint64(1) == 0
    inexact = np.isfinite(error) & (error != 0)
    towards = np.where(error > 0, np.inf, -np.inf)
    return np.where(inexact & even, np.nextafter(total, towards), total)


def rounded(value: Any, node: Node) -> Any:
    """Numbers in a node's format; zeros, infinities and NaN stay."""
    _, exp = np.frexp(value)
    last = np.maximum(exp - 1, node.e_min) - node.man_bits
    scaled = np.ldexp(value, -last)
    whole = np.rint(scaled) if node.mode == "RNE" else np.trunc(scaled)
    result = np.ldexp(whole, last)
    largest = np.ldexp(2 - 2.0**-node.man_bits, node.e_max)
    beyond = np.inf if node.mode == "RNE" else largest
    result = np.where(np.abs(result) > largest, np.copysign(beyond, value), result)
    return np.where(np.isfinite(value), np.copysign(result, value), value)


@cache
def _table(operand: Format) -> Any:
    return np.array([value_of(operand, code) for code in range(operand.codes)], np.float64)


def values_of(operand: Format, codes: BitArray) -> Any:
    """The values of codes as float64."""
    if operand.width <= TABLED:
        return _table(operand)[codes]
    if operand.name == "tf32":
        return codes.astype(np.uint32).view(np.float32).astype(np.float64)
    return codes.view(np.float32).astype(np.float64)


def codes_of(d: Format, values: Any) -> BitArray:
    """The codes of values in d's format, rounded to nearest even if the format does not hold them."""
    rule = Node("RNE", d.man_bits, d.e_min, d.e_max)
    exact = rounded(values, rule)
    if d.name == "fp16":
        codes = exact.astype(np.float16).view(np.uint16)
    else:
        codes = exact.astype(np.float32).view(np.uint32)
        codes = codes >> np.uint32(16) if d.name == "bf16" else codes
    return np.where(np.isnan(values), quiet_nan_of(d), codes).astype(bits_dtype(d))


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
    from golden.native import cuda  # a machine without a GPU does without

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
