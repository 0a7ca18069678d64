"""Evaluation of terms for many rows of operands at once."""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import xor
from typing import Any

import numpy as np
from bitwuzla import Kind, Term

from mmau.prove.evaluation import in_order, number, width

Column = Any
"""An array with a number for each row: of Python's integers, or of int64 if all terms have at most `NARROW` bits."""

NARROW = 62


def columns(roots: Sequence[Term], values: Mapping[Term, Column]) -> dict[Term, Column]:
    """The values of terms and of all their subterms, row by row.

    Args:
        values: the values of each variable, for one variable at least, all of one dtype.

    Raises:
        ValueError: an unknown operation, or a term that is too wide for int64.
    """
    found, first = dict[Term, Column](), next(iter(values.values()))
    for term in in_order(roots):
        if first.dtype != object and width(term) > NARROW:
            raise ValueError(f"int64 holds terms of at most {NARROW} bits, got {width(term)}")
        if term.is_const():
            found[term] = values[term]
        elif term.is_value():
            found[term] = np.full(len(first), number(term), dtype=first.dtype)
        else:
            children = term.children()
            found[term] = _applied(term, [found[child] for child in children], children).astype(first.dtype, copy=False)
    return found


def signed(column: Column, bits: int) -> Column:
    """The numbers of a column, read in two's complement of `bits` bits."""
    return column - ((column >> (bits - 1)) << bits)


def _applied(term: Term, operands: list[Column], children: Any) -> Column:
    kind, bits = term.kind(), max(1, width(term))
    if kind in _CHAINED:
        value = operands[0]
        for operand in operands[1:]:
            value = _CHAINED[kind](value, operand)
    elif kind in _COMPARED:
        x, y = operands
        if kind in _SIGNED:
            x, y = signed(x, width(children[0])), signed(y, width(children[0]))
        value = _COMPARED[kind](x, y).astype(bool).astype(operands[0].dtype)
    elif kind == Kind.ITE:
        value = np.where(operands[0].astype(bool), operands[1], operands[2])
    elif kind in (Kind.BV_NOT, Kind.NOT):
        value = ~operands[0]
    elif kind == Kind.BV_NEG:
        value = -operands[0]
    elif kind == Kind.BV_CONCAT:
        value = operands[0]
        for child, operand in zip(children[1:], operands[1:], strict=True):
            value = (value << width(child)) | operand
    elif kind == Kind.BV_EXTRACT:
        value = operands[0] >> term.indices()[1]
    elif kind == Kind.BV_ZERO_EXTEND:
        value = operands[0]
    elif kind == Kind.BV_SIGN_EXTEND:
        value = signed(operands[0], width(children[0]))
    elif kind in (Kind.BV_SHL, Kind.BV_SHR, Kind.BV_ASHR):
        places = np.minimum(operands[1], bits)
        operand = signed(operands[0], bits) if kind == Kind.BV_ASHR else operands[0]
        value = operand << places if kind == Kind.BV_SHL else operand >> places
    elif kind == Kind.BV_REDOR:
        value = (operands[0] != 0).astype(operands[0].dtype)
    elif kind == Kind.BV_REDAND:
        value = (operands[0] == (1 << width(children[0])) - 1).astype(operands[0].dtype)
    elif kind == Kind.BV_REDXOR:
        value = reduce(xor, (operands[0] >> k for k in range(width(children[0]))))
    else:
        raise ValueError(f"{kind} has no value here")
    return value & ((1 << bits) - 1)


_CHAINED: Mapping[Kind, Callable[[Any, Any], Any]] = {
    Kind.BV_ADD: lambda x, y: x + y, Kind.BV_SUB: lambda x, y: x - y, Kind.BV_MUL: lambda x, y: x * y,
    Kind.BV_AND: lambda x, y: x & y, Kind.BV_OR: lambda x, y: x | y, Kind.BV_XOR: lambda x, y: x ^ y,
    Kind.AND: lambda x, y: x & y, Kind.OR: lambda x, y: x | y, Kind.BV_XNOR: lambda x, y: ~(x ^ y),
    Kind.IMPLIES: lambda x, y: ~x | y,
}  # fmt: skip

_COMPARED: Mapping[Kind, Callable[[Any, Any], Any]] = {
    Kind.EQUAL: lambda x, y: x == y, Kind.DISTINCT: lambda x, y: x != y,
    Kind.BV_ULT: lambda x, y: x < y, Kind.BV_ULE: lambda x, y: x <= y,
    Kind.BV_UGT: lambda x, y: x > y, Kind.BV_UGE: lambda x, y: x >= y,
    Kind.BV_SLT: lambda x, y: x < y, Kind.BV_SLE: lambda x, y: x <= y,
    Kind.BV_SGT: lambda x, y: x > y, Kind.BV_SGE: lambda x, y: x >= y,
}  # fmt: skip

_SIGNED = {Kind.BV_SLT, Kind.BV_SLE, Kind.BV_SGT, Kind.BV_SGE}
