"""Ablation of a rule by recorded rows: change one key of an instruction's model by one step, count the rows that disagree.

Only vectors that show it distinguish a change that no row notices from one that changes nothing at all (`Finding.status`).
The changes follow from the types of an operation's keys, so that a new operation has them without a line here.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt

from golden import Instruction, Operation
from golden.batched_dot import batched_dot
from golden.chain import ORDERS, RUNS, Chain, ChainTable, chain_of, product_order
from golden.comparison import differing, is_nan
from golden.conversion import CONVERSIONS, FP64_CONVERSIONS, TWO_STEP_CONVERSIONS
from golden.formats import INTEGERS
from golden.recording import Recording
from golden.stimulus import Operands, OperandShape, generate
from golden.text import value_as_text

VECTORS = 20_000
"""Default vectors that are searched for one that shows a change which no row shows."""

PINNED, UNPINNED, UNSEEN, SAME = "pinned", "unpinned", "shown by no vector", "the same for every operand"

AnyChain = Chain


@dataclass(frozen=True)
class Change:
    """One statement of an instruction's rule, changed.

    Attributes:
        key: the key, or the statement in words. text: the change in words, `24 for 25`.
        chain: the changed chain; None where `result` changes the results instead.
        reverse: whether the products are taken in the reverse order.
        result: what the changed rule returns in place of results, where it differs in results alone.
    """

    key: str
    text: str
    chain: AnyChain | None = None
    reverse: bool = False
    result: Callable[[npt.NDArray[Any]], npt.NDArray[Any]] | None = None


@dataclass(frozen=True)
class Finding:
    """The outcome of a change on rows and vectors.

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
    for change in changes(i):
        rows, of_model = (sum(disagreeing(change, recording) for recording in group) for group in (silicon, computed))
        vectors = None if rows else shown_by_vectors(i, change)
        shown = rows or of_model or vectors
        if change.reverse and not shown:
            continue  # a sum of terms at one exponent has no order
        why_same = "" if shown or change.chain is None else reason_of_no_effect(i, change.chain.operation)
        findings.append(Finding(change.key, change.text, rows, of_model, vectors, why_same))
    return findings


def changes(i: Instruction) -> Iterator[Change]:
    """Every key of the operation and of the chain, one step away; the order of products; NaN and zero among the results."""
    for key, text, operation in changed_operations(i.operation):
        if not i.k % operation.length:
            yield Change(key, text, replace(i.chain, operation=operation))
    if i.fp16_order is not None:
        for order in ORDERS:
            if order != i.chain.order:
                yield Change("order of products", f"{order} for {i.chain.order}", replace(i.chain, order=order))
        first = Chain(i.operation.changed(a=i.a, b=i.b))
        yield Change("place of c", "first for last", first)
    elif i.k > 1:
        yield from other_orders(i)
        yield Change("order of products", "from the last k to the first", i.chain, reverse=True)
    if i.d.name not in INTEGERS:
        if i.operation.nan_is_fixed():
            yield Change("code of NaN results", "another code", result=lambda d: d ^ is_nan(d, i.d).astype(d.dtype))
        sign = i.d.negative_zero
        yield Change("sign of zero results", "the other sign", result=lambda d: np.where(d & (sign - 1) == 0, d ^ sign, d))


def other_orders(i: Instruction) -> Iterator[Change]:
    """The orders of a chain's table that the instruction does not have, where its steps take parts of the products."""
    if i.k == i.operation.length or i.block_size is not None:
        return
    known = [i.chain.order_over(i.k)]
    for order, run in RUNS.items():
        if i.k % max(1, 2 * run) == 0 and product_order(order, i.k) not in known:
            known.append(product_order(order, i.k))
            chain = chain_of(i.operation, ChainTable(order=order), None, i.k)
            yield Change("order of products", f"{order} for {i.order}", chain)


def changed_operations(operation: Operation) -> Iterator[tuple[str, str, Operation]]:
    """The operation with each of its keys one step away: the key, the change in words, the operation.

    Integers take the nearest values that are valid, choices every other one. Formats and sizes that an instruction's name
    states are no keys here.
    """
    hints = get_type_hints(type(operation))
    for key in type(operation).unit_keys():
        value = getattr(operation, key)
        for other in _others(operation, key, value, hints[key]):
            yield key, f"{value_as_text(other)} for {value_as_text(value)}", operation.changed(**{key: other})


def _others(operation: Operation, key: str, value: Any, hint: Any) -> Iterator[Any]:
    if isinstance(value, bool):
        candidates: list[Any] = [not value]
    elif isinstance(value, int):
        reach = max(8, value)
        for direction in (-1, 1):
            near = (value + direction * step for step in range(1, reach + 1))
            yield from (
                other for other in [next((n for n in near if _is_valid(operation, key, n)), None)] if other is not None
            )
        return
    elif key == "rho":
        candidates = [*CONVERSIONS, *FP64_CONVERSIONS, *TWO_STEP_CONVERSIONS]
    else:
        candidates = list(get_args(hint)) if get_origin(hint) is Literal else []
    yield from (other for other in candidates if other != value and _is_valid(operation, key, other))


def _is_valid(operation: Operation, key: str, value: Any) -> bool:
    """Whether the operation can have this value and still be one of the same instruction."""
    try:
        changed = operation.changed(**{key: value})
    except (TypeError, ValueError):
        return False
    same = changed.d == operation.d and changed.block_size == operation.block_size
    return same and (key != "L" or operation.length % changed.length == 0 or changed.length % operation.length == 0)


def disagreeing(change: Change, recording: Recording) -> int:
    """Rows of a recording that disagree with a changed rule."""
    if change.result is not None:
        got = change.result(recording.d)
    else:
        operands = _reversed(recording.operands, recording.instruction) if change.reverse else recording.operands
        got = replace(recording, operands=operands).dot(change.chain)
    return int(np.count_nonzero(differing(got, recording.d, recording.instruction.operation)))


def _reversed(operands: Operands, i: Instruction) -> Operands:
    """The products of each instruction along K, and with them the scales, from the last to the first."""
    times = operands.a.shape[1] // i.k

    def turned(x: Any) -> Any:
        return None if x is None else np.ascontiguousarray(x.reshape(len(x), times, -1)[:, :, ::-1]).reshape(x.shape)

    a, b, c, scale_a, scale_b = operands
    return Operands(turned(a), turned(b), c, turned(scale_a), turned(scale_b))


def shown_by_vectors(i: Instruction, change: Change) -> int:
    """How many of the default vectors show a change."""
    operands, sound = _vectors(i)
    if change.result is not None:
        got = change.result(sound)
    else:
        given = _reversed(operands, i) if change.reverse else operands
        got = batched_dot(change.chain or i.chain, i.k, (*given,), None)
    return int(np.count_nonzero(differing(got, sound, i.operation)))


@cache
def _vectors(i: Instruction) -> tuple[Operands, npt.NDArray[Any]]:
    operands = generate(OperandShape.of_instruction(i), VECTORS, 0).operands
    return operands, i.dot(*operands)


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
    """Whether e_zero, before and after a change, changes nothing: it is only a floor of e_max.

    Either no term that is not zero lies below it, or where it is e_max all bits of all terms fit in the F bits under it.
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
