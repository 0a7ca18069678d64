"""Changes of one parameter's value, which golden computes with `operation.changed` on the fastest engine."""

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

from cosim.diagnosis.changed_model import Change, Model
from golden import Operation
from golden.chain import ORDERS
from golden.conversion import CONVERSIONS, FP64_CONVERSIONS, TWO_STEP_CONVERSIONS
from golden.operations import OPERATIONS
from golden.operations.base import EXPONENT_LIMIT

NEAR = 8
"""Largest distance from its value at which a width or an exponent is tried."""

FLAGS = ("sticky", "flush_inputs", "flush_results")

FLAG_WORDS = {
    "sticky": ("bits lost at alignment reach the rounding as sticky", "bits lost at alignment do not reach the rounding"),
    "flush_inputs": ("subnormal operands are flushed", "subnormal operands are not flushed"),
    "flush_results": ("subnormal results are flushed", "subnormal results are not flushed"),
}
"""From each boolean key to the meanings of true and false."""


def parameter_changes(model: Model) -> Iterator[Change]:
    """Every parameter of the operation with each other value to try, the nearest first."""
    operation = model.operation
    for key in ("F", "F2", "h"):
        if hasattr(operation, key):
            yield from _integers(model, key)
    if hasattr(operation, "e_zero"):
        yield from _integers(model, "e_zero")
        yield from _changed(model, "e_zero is ignored: no floor of e_max", e_zero=-EXPONENT_LIMIT)
    if hasattr(operation, "rho"):
        yield from _rho(model)
    yield from _choices(model, "truncation", ("RZ", "RD", "RO"))
    for key in FLAGS:
        if hasattr(operation, key):
            on = bool(getattr(operation, key))
            yield from _changed(model, FLAG_WORDS[key][on], **{key: not on})
    yield from _choices(model, "overflow", ("infinity", "saturate", "by-mode"))
    yield from _lengths(model)
    yield from _groups(model)
    yield from _orders(model)


def _integers(model: Model, key: str) -> Iterator[Change]:
    value = getattr(model.operation, key)
    for apart in range(1, NEAR + 1):
        for other in (value - apart, value + apart):
            yield from _changed(model, f"{key} is {other}, not {value}", **{key: other})


def _rho(model: Model) -> Iterator[Change]:
    own = str(model.operation.rho)  # type: ignore[attr-defined]
    further = FP64_CONVERSIONS if model.operation.structure.headroom is None else TWO_STEP_CONVERSIONS
    for name, rho in (CONVERSIONS | further).items():
        if rho.d is model.operation.d and name != own:
            yield from _changed(model, f"rho is {name}, not {own}", rho=name)


def _choices(model: Model, key: str, choices: tuple[str, ...]) -> Iterator[Change]:
    own = getattr(model.operation, key, None)
    for other in choices if own is not None else ():
        if other != own:
            yield from _changed(model, f'{key} is "{other}", not "{own}"', **{key: other})


def _lengths(model: Model) -> Iterator[Change]:
    """Fewer products a step, more steps."""
    length = model.operation.length
    for shorter in (length // 2, length // 4, 1):
        if 1 <= shorter < length and length % shorter == 0:
            words = f"a step takes {shorter} products, not {length}, and rounds after each"
            yield from _with(model, words, lambda operation, shorter=shorter: operation.with_length(shorter))


def _groups(model: Model) -> Iterator[Change]:
    operation = model.operation
    if hasattr(operation, "G"):
        for G in (1, 2, 4, 8, 16, 32, 64):
            if operation.G != G:
                yield from _changed(model, f"groups have {G} products, not {operation.G}", G=G)
    structure, length = operation.structure, operation.length
    if structure.group is not None and not structure.scales_groups:
        for P in (P for P in range(1, length + 1) if length % P == 0 and structure.group != P):
            yield from _changed(model, f"{P} neighbouring products are added first, not {structure.group}", P=P)
    if structure.last.cut is not None:
        words = "one group, not two" if len(structure.sums) > 2 else "two groups, not one"
        for other in alike(operation):
            yield from _with(model, f"even and odd products are {words}", lambda _, other=other: other)


def _orders(model: Model) -> Iterator[Change]:
    chain = model.chain
    if chain.fp16_order is not None:
        for order in ORDERS:
            if order != chain.order:
                other = replace(model, chain=replace(chain, order=order))
                yield Change(f"the steps take the products {order}, not {chain.order}", other.results)


def alike(operation: Operation) -> Iterator[Operation]:
    """The other operations that have the same keys, with this one's values."""
    keys = {f.name: getattr(operation, f.name) for f in fields(operation)}
    for name, other in OPERATIONS.items():
        if name != operation.name and other.unit_keys() == operation.unit_keys():
            yield other(**keys)


def _changed(model: Model, words: str, **keys: Any) -> Iterator[Change]:
    yield from _with(model, words, lambda operation: operation.changed(**keys))


def _with(model: Model, words: str, change: Any) -> Iterator[Change]:
    """The change, if the operation can have it."""
    try:
        other = model.with_operation(change(model.operation))
        if other.operation.length < model.operation.length:
            other.operation.accumulating()
    except (TypeError, ValueError):
        return
    assert type(other.operation) in OPERATIONS.values()
    yield Change(words, other.results)
