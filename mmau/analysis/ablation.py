"""Ablation of a rule by recorded rows: changes one key of an instruction's model by one step, and counts the rows that
disagree.

Only vectors that show it distinguish a change that no row notices from one that changes nothing at all (`Finding.status`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from golden import Instruction, Operation
from golden.arithmetic.formats import INTEGERS
from golden.chains.chain import ORDERS, RUNS, Chain, ChainTable, chain_of, product_order
from golden.comparison import differing, is_nan
from golden.recordings.recording import Recording, dot_along_k
from golden.stimulus import Operands, OperandShape, generate
from golden.variants import Rows, Variant
from golden.variants.keys import one_step_away

VECTORS = 20_000
"""Default number of vectors that are searched for one that shows a change which no row shows."""

PINNED, UNPINNED, UNSEEN, SAME = "pinned", "unpinned", "shown by no vector", "the same for every operand"

ORDER = "order of products"
REVERSED = "from the last k to the first"


@dataclass(frozen=True)
class Finding:
    """How many rows and vectors show that a model with one change is wrong.

    Attributes:
        silicon, computed: rows that disagree, of those recorded on silicon and of those computed by another model.
        vectors: default vectors that show the change; None where rows of silicon do, so that none was tried.
        why_same: why no operand can show it; empty where nothing says so.
    """

    key: str
    text: str
    silicon: int
    computed: int
    vectors: int | None
    why_same: str

    @property
    def status(self) -> str:
        """`pinned` by silicon; `unpinned`; or a change that may be none, or is none."""
        if self.silicon:
            return PINNED
        if self.vectors or self.computed:
            return UNPINNED
        return SAME if self.why_same else UNSEEN


def ablate(i: Instruction, silicon: Sequence[Recording], computed: Sequence[Recording] = ()) -> list[Finding]:
    """Every change of an instruction's rule, against its recordings.

    Args:
        silicon, computed: its recordings, all of which its model reproduces.
    """
    findings = []
    for variant in changes(i):
        rows, of_model = (sum(disagreeing(variant, recording) for recording in group) for group in (silicon, computed))
        vectors = None if rows else shown_by_vectors(i, variant)
        shown = rows or of_model or vectors
        if variant.words == REVERSED and not shown:
            continue  # a sum of terms at one exponent has no order
        why_same = "" if shown or variant.operation is None else reason_of_no_effect(i, variant.operation)
        findings.append(Finding(variant.key, variant.words, rows, of_model, vectors, why_same))
    return findings


def changes(i: Instruction) -> Iterator[Variant[Rows]]:
    """Every key of the operation and of the chain, one step away; the order of products; NaN and zero among the results."""
    for key, words, operation in one_step_away(i.operation):
        if not i.k % operation.length:
            yield _of_chain(i, key, words, replace(i.chain, operation=operation))
    if i.fp16_order is not None:
        for order in ORDERS:
            if order != i.chain.order:
                yield _of_chain(i, ORDER, f"{order} for {i.chain.order}", replace(i.chain, order=order))
        yield _of_chain(i, "place of c", "first for last", Chain(i.operation.changed(a=i.a, b=i.b)))
    elif i.k > 1:
        yield from other_orders(i)
        yield Variant(REVERSED, lambda rows: dot_along_k(i, _operands(_reversed(rows, i)), i.chain), ORDER)
    if i.d.name not in INTEGERS:
        if i.operation.nan_is_fixed():
            another = lambda rows: rows.expected ^ is_nan(rows.expected, i.d).astype(rows.expected.dtype)  # noqa: E731
            yield Variant("another code", another, "code of NaN results")
        yield Variant("the other sign", lambda rows: _other_zeros(rows.expected, i.d.negative_zero), "sign of zero results")


def _other_zeros(d: npt.NDArray[Any], sign: int) -> npt.NDArray[Any]:
    return np.where(d & (sign - 1) == 0, d ^ sign, d)


def _of_chain(i: Instruction, key: str, words: str, chain: Chain) -> Variant[Rows]:
    """The instruction with another chain."""
    return Variant(words, lambda rows: dot_along_k(i, _operands(rows), chain), key, chain.operation)


def _operands(rows: Rows) -> Operands:
    return Operands(rows.a, rows.b, rows.c, rows.scale_a, rows.scale_b)


def other_orders(i: Instruction) -> Iterator[Variant[Rows]]:
    """The orders of a chain's table that the instruction does not have, where its steps take parts of the products."""
    if i.k == i.operation.length or i.block_size is not None:
        return
    known = [i.chain.order_over(i.k)]
    for order, run in RUNS.items():
        if i.k % max(1, 2 * run) == 0 and product_order(order, i.k) not in known:
            known.append(product_order(order, i.k))
            chain = chain_of(i.operation, ChainTable(order=order), None, i.k)
            yield _of_chain(i, ORDER, f"{order} for {i.order}", chain)


def disagreeing(variant: Variant[Rows], recording: Recording) -> int:
    """Rows of a recording that disagree with a variant of the rule."""
    return _differing(variant, recording.instruction, Rows(*recording.operands, got=recording.d, expected=recording.d))


def shown_by_vectors(i: Instruction, variant: Variant[Rows]) -> int:
    """How many of the default vectors show a variant."""
    return _differing(variant, i, _vectors(i))


def _differing(variant: Variant[Rows], i: Instruction, rows: Rows) -> int:
    return int(np.count_nonzero(differing(variant.results(rows), rows.expected, i.operation)))


def _reversed(rows: Rows, i: Instruction) -> Rows:
    """The products of each instruction along K, and with them the scales, from the last to the first."""
    times = rows.a.shape[1] // i.k

    def turned(x: Any) -> Any:
        return None if x is None else np.ascontiguousarray(x.reshape(len(x), times, -1)[:, :, ::-1]).reshape(x.shape)

    return replace(rows, a=turned(rows.a), b=turned(rows.b), scale_a=turned(rows.scale_a), scale_b=turned(rows.scale_b))


@cache
def _vectors(i: Instruction) -> Rows:
    operands = generate(OperandShape.of(i), VECTORS, 0).operands
    d = i.dot(*operands)
    return Rows(*operands, got=d, expected=d)


def reason_of_no_effect(i: Instruction, changed: Operation) -> str:
    """Why the results of a changed operation are those of the instruction's for every operand; empty if nothing says so."""
    o = i.operation
    structure, overflow = o.structure, getattr(o, "overflow", None)
    if structure.is_integer and overflow == "wrap" and o.with_length(changed.length) == changed:
        return "a sum modulo 2^32 may be taken in parts"
    keys = changed_keys(o, changed)
    if keys == ["e_zero"] and structure.is_aligned_once and floor_is_idle(o, changed):
        return "no term that is not zero lies below the floor, or nothing is cut there"
    mode = None if structure.rho is None else structure.rho.mode
    if keys == ["sticky"] and (structure.last.truncation, mode) == ("RZ", "RZ"):
        return "RZ of a sum of terms cut by RZ depends on no lost bit"
    overflows = {overflow, getattr(changed, "overflow", None)}
    if keys == ["overflow"] and overflows == {"infinity", "by-mode"} and mode in ("RNE", "RNA"):
        return "rounding to nearest overflows to infinity in either case"
    if keys == ["flush_inputs"] and not (*structure.flushed, *changed.structure.flushed):
        return "no operand has fp32's range, whose subnormals alone are flushed"
    return ""


def changed_keys(o: Operation, changed: Operation) -> list[str]:
    """The keys whose values differ; none for operations of other kinds."""
    keys = o.unit_keys()
    return [] if keys != changed.unit_keys() else [key for key in keys if getattr(o, key) != getattr(changed, key)]


def floor_is_idle(o: Operation, changed: Operation) -> bool:
    """Whether changing e_zero changes no result, because e_zero only bounds e_max from below.

    Either no nonzero term lies below e_zero, or all bits of all terms fit into the F bits below it.
    """
    if o.scale_format is not None:
        return False
    of = o.structure.last
    assert of.floor is not None
    assert changed.structure.last.floor is not None
    floor = max(of.floor, changed.structure.last.floor)
    addends = (o.c, o.d)
    lowest = min(o.a.e_min + o.b.e_min, *(f.e_min for f in addends))
    last_bit = min(sum(f.e_min - f.man_bits for f in (o.a, o.b)), *(f.e_min - f.man_bits for f in addends))
    return lowest >= floor or last_bit >= floor - (of.terms[-1].F or 0)
