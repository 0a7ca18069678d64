"""Programs of additions (`golden.sum_chain`) on many rows at a time, in NumPy: float64 with its errors, rounded to odd.

A sum of two float64 numbers and its error are exact together (Knuth's TwoSum). Rounded to odd in 53 bits, the sum can be
rounded again to any format of up to 51 bits as if it had been exact.
"""

from collections.abc import Sequence
from functools import cache
from math import fsum
from typing import Any

import numpy as np

from golden.arrays import BitArray, bits_dtype
from golden.formats import Format
from golden.operations import Operation
from golden.sum_chain import Node, SumTable, quiet_nan_of, summed, value_of

TABLED = 16
"""Largest width of a format whose values are looked up in a table (bits)."""


def run_sums(o: Operation, table: SumTable, a: BitArray, b: BitArray, c: BitArray) -> BitArray:
    """Compute d [rows] from a, b [rows, K] and c [rows]; the operation `o` names their formats."""
    with np.errstate(all="ignore"):
        x, y, z = values_of(o.a, a), values_of(o.b, b), values_of(o.c, c)
        total = summed(table, list(x.T), list(y.T), z, ManyRows())
        return codes_of(o.d, total)


class ManyRows:
    """The arithmetic of `golden.sum_chain.Arithmetic` on arrays of rows."""

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
