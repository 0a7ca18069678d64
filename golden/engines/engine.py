"""Engines that run one chain over a batch of dot products. The reference engine, exact and in Python, is the definition.

`run` calls the engine of a name. A chain of `[sums]` is computed by `run_sums` on arrays of rows, and one whose sums are
rounded between its steps as several calls and the additions of their results.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from math import fsum
from typing import Any, NamedTuple

import numpy as np

from golden.arithmetic.formats import Format
from golden.arithmetic.rounding import overflows_to_largest
from golden.arithmetic.specials import quiet_nan
from golden.arrays import BitArray, bits_dtype, is_device_array
from golden.cache import tell_once
from golden.chains.chain import Chain, fp16_codes
from golden.chains.sum_chain import Node, Sum, place_of, program, summed
from golden.checks import check_choice
from golden.native import engine as native
from golden.native.library import TooWide
from golden.native.parameters import is_one_call

TABLED = 16
"""Largest width of a format whose values are looked up in a table (bits)."""


def run_sums(chain: Chain, batch: "Batch") -> BitArray:
    """Compute d of a program of sums. Where terms are cut before they are added, the reference computes it: they have
    exponents that float64 does not show."""
    o, table = chain.operation, chain.sums
    assert table is not None
    if table.align is not None:
        return run_reference(chain, batch)
    if batch.columns:
        return np.stack([run_sums(chain, _row_of(batch, i)) for i in range(len(batch.a))])
    with np.errstate(all="ignore"):
        x, y, z = values_of(o.a, batch.a), values_of(o.b, batch.b), values_of(o.c, batch.c)
        places = {"c": z, "0": np.zeros_like(z)} | {f"p{k}": products for k, products in enumerate((x * y).T)}
        for name, codes in (("scale_a", batch.scale_a), ("scale_b", batch.scale_b)):
            if codes is not None and o.scale_format is not None and name in o.scale_operands:
                places |= {f"{name}{n}": column for n, column in enumerate(values_of(o.scale_format, codes).T)}
        return codes_of(o.d, summed(program(o, table, batch.a.shape[-1]), places, ManyRows()))


class ManyRows:
    """The arithmetic of `golden.chains.sum_chain.Arithmetic` on arrays of rows, as float64; products of significands of at
    most 24 bits are exact."""

    def times(self, x: Any, y: Any) -> Any:
        return x * y

    def negative(self, x: Any) -> Any:
        return -x

    def sum(self, terms: Sequence[Any], step: Sum) -> Any:
        node = step.node
        if len(terms) == 1:
            return rounded(terms[0], node)
        total, error = _pair(*terms) if len(terms) == 2 else _many(terms)
        negative = np.logical_or if node.mode == "RD" else np.logical_and
        zero = np.where(negative.reduce([np.signbit(term) for term in terms]), -0.0, 0.0)
        return rounded(np.where(total == 0, zero, to_odd(total, error)), node)

    def by_magnitude(self, terms: Sequence[Any], descending: bool) -> list[Any]:
        rows = np.stack(terms, axis=1)
        size = np.where(np.isnan(rows), np.inf, np.abs(rows))
        order = np.argsort(-size if descending else size, axis=1, kind="stable")
        return list(np.take_along_axis(rows, order, axis=1).T)


def _pair(x: Any, y: Any) -> tuple[Any, Any]:
    """The sum of two numbers rounded to nearest, and its error."""
    total = x + y
    back = total - x
    return total, (x - (total - back)) + (y - back)


def _many(terms: Sequence[Any]) -> tuple[Any, Any]:
    """The sum of many numbers rounded to nearest, and its error."""
    rows = np.stack(terms, axis=1)
    total, error = rows.sum(axis=1), np.zeros(len(rows))  # the sum is that of infinities and NaN
    finite = np.isfinite(rows).all(axis=1)
    near = np.array([fsum(row) for row in rows[finite]], np.float64)
    total[finite] = near
    error[finite] = [fsum([*row, -s]) for row, s in zip(rows[finite], near, strict=True)]
    return total, error


def to_odd(total: Any, error: Any) -> Any:
    """Convert a sum rounded to nearest, and its error, to the sum rounded to odd."""
    even = total.view(np.uint64) & np.uint64(1) == 0
    inexact = np.isfinite(error) & (error != 0)
    towards = np.where(error > 0, np.inf, -np.inf)
    return np.where(inexact & even, np.nextafter(total, towards), total)


def rounded(value: Any, node: Node) -> Any:
    """Numbers in a node's format; zeros, infinities and NaN stay."""
    fmt, mode = node.format, node.mode
    _, exp = np.frexp(value)
    last = np.maximum(exp - 1, fmt.e_min) - fmt.man_bits
    scaled = np.ldexp(np.abs(value), -last)
    cut, negative = np.trunc(scaled), np.signbit(value)
    rest = scaled - cut
    up = {
        "RZ": np.zeros_like(negative), "RNE": (rest > 0.5) | ((rest == 0.5) & (cut % 2 == 1)), "RD": negative & (rest > 0),
        "RU": ~negative & (rest > 0), "RO": (rest > 0) & (cut % 2 == 0), "RNA": rest >= 0.5,
    }[mode]  # fmt: skip
    result = np.ldexp(cut + up, last)
    largest = np.ldexp(2 - 2.0**-fmt.man_bits, fmt.e_max)
    beyond = [largest if overflows_to_largest("by-mode", mode, sign) else np.inf for sign in (False, True)]
    result = np.where(result > largest, np.where(negative, beyond[1], beyond[0]), result)
    return np.where(np.isfinite(value), np.copysign(result, value), value)


@cache
def _table(operand: Format) -> Any:
    return np.array([place_of(operand, code).shown for code in range(operand.codes)], np.float64)


def values_of(operand: Format, codes: BitArray) -> Any:
    """The values of codes as float64."""
    if operand.width <= TABLED:
        return _table(operand)[codes]
    fields = codes.astype(np.int64) >> operand.pad_bits
    man, stored = fields & (1 << operand.man_bits) - 1, fields >> operand.man_bits & (1 << operand.exp_bits) - 1
    sig = man + np.where(stored > 0, 1 << operand.man_bits, 0)
    magnitude = np.ldexp(sig.astype(np.float64), np.maximum(stored, 1) - operand.bias - operand.man_bits)
    magnitude = np.where(stored == (1 << operand.exp_bits) - 1, np.where(man > 0, np.nan, np.inf), magnitude)
    return np.where(fields >> operand.man_bits + operand.exp_bits & 1, -magnitude, magnitude)


def codes_of(d: Format, values: Any) -> BitArray:
    """The codes of values in d's format, of IEEE 754's kind, rounded to nearest even if the format does not hold them."""
    exact = rounded(values, Node("RNE", d))
    magnitude = np.where(np.isfinite(exact), np.abs(exact), 0.0)
    _, exp = np.frexp(magnitude)
    lead = np.where(magnitude > 0, np.maximum(exp - 1, d.e_min), d.e_min)
    codes = np.ldexp(magnitude, d.man_bits - lead).astype(np.int64) + (lead - d.e_min << d.man_bits)
    codes = np.where(np.isinf(exact), (1 << d.exp_bits) - 1 << d.man_bits, codes)
    codes |= np.signbit(exact).astype(np.int64) << d.man_bits + d.exp_bits
    return np.where(np.isnan(values), quiet_nan(d), codes).astype(bits_dtype(d))


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


def _row_of(batch: Batch, i: int) -> Batch:
    """The dot products of a row of A with all columns of B."""
    a, scale_a = (
        None if codes is None else np.broadcast_to(codes[i], (batch.columns, codes.shape[-1]))
        for codes in (batch.a, batch.scale_a)
    )
    return Batch(a, batch.b, batch.c[i], scale_a, batch.scale_b)  # type: ignore[arg-type]  # a is there


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
    """The cuda engine: the C++ library's headers, compiled for a GPU; operands and d are on it."""
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
        on_device: whether the arrays are on a GPU.
    """
    return "cuda" if on_device else "native" if native.is_available() else "reference"


def run(engine: str | None, chain: Chain, batch: Batch) -> BitArray:
    """Run a batch on the named engine; None selects the fastest one available, and the reference, with one warning, for sums
    that are too wide for it.

    Returns:
        d, bit patterns in the shape of c.

    Raises:
        ValueError: an unknown engine, or one that is not installed or cannot run these arrays or this chain.
    """
    on_device = is_device_array(batch.c)
    if engine is None:
        try:
            return run(fastest_engine(on_device), chain, batch)
        except TooWide as error:
            tell_once(f"{error}; engine 'reference' computes {chain.operation.name} of {chain.a} and {chain.b} here, slowly")
            return run("reference", chain, batch)
    check_choice("engine", engine, ENGINES)
    if on_device and engine != "cuda":
        raise ValueError(f"engine {engine!r} takes NumPy arrays; got arrays on a GPU, which engine 'cuda' takes")
    if engine != "reference" and chain.operation.carried is not chain.operation:
        if engine == "cuda":
            raise ValueError(f"engine 'cuda' takes elements with fields; got a={chain.a}, b={chain.b}")
        a, b = chain.operation.carried_codes(batch.a, batch.b)
        return run(engine, chain.carried, batch._replace(a=a, b=b))
    if engine == "native" and chain.sums is not None:
        return run_sums(chain, batch)
    if engine == "reference" or is_one_call(chain):
        return ENGINES[engine](chain, batch)
    if engine == "cuda":
        raise ValueError("engine 'cuda' runs only the chains of GPUs; give NumPy arrays")
    return run_in_calls(ENGINES[engine], chain, batch)


def run_flagged(engine: str | None, chain: Chain, batch: Batch) -> tuple[BitArray, BitArray]:
    """Run a batch with exception flags, on the reference engine or the native one; None selects the latter if installed.

    Returns:
        d and the flags (uint8) in the shape of c.

    Raises:
        ValueError: another engine, or a chain whose flags are not defined.
    """
    if engine is None:
        engine = fastest_engine(is_device_array(batch.c))
    check_choice("engine for flags", engine, ("reference", "native"))
    chain.check_flags()
    if engine == "native":
        return native.compute_flagged(chain, *batch[:3])
    rows = zip(batch.a.tolist(), batch.b.tolist(), batch.c.tolist(), strict=True)
    found = np.array([chain.flagged(*row) for row in rows], np.uint64).reshape(-1, 2)
    return found[:, 0].astype(bits_dtype(chain.operation.d)), found[:, 1].astype(np.uint8)


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
