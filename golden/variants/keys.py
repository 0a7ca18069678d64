"""Variants in which one key of the operation has another value; golden computes them on the fastest engine."""

from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from itertools import islice
from typing import Any, Literal, get_args, get_origin, get_type_hints

from golden import Operation
from golden.arithmetic.conversion import CONVERSIONS, FP64_CONVERSIONS, TWO_STEP_CONVERSIONS, conversion, conversions_to
from golden.arithmetic.rounding import OVERFLOWS
from golden.chains.chain import ORDERS
from golden.operations import OPERATIONS
from golden.operations.base import EXPONENT_LIMIT
from golden.operations.e_fdpa import ZEROS
from golden.operations.idpa import BEYOND_RANGE
from golden.text import value_as_text
from golden.variants.variant import Model, Rows, Variant

NEAR = 8
"""Largest distance from its own value at which a width or an exponent is tried."""

FLAGS = ("sticky", "flush_inputs", "flush_results")

FLAG_WORDS = {
    "sticky": ("bits lost at alignment reach the rounding as sticky", "bits lost at alignment do not reach the rounding"),
    "flush_inputs": ("subnormal operands are flushed", "subnormal operands are not flushed"),
    "flush_results": ("subnormal results are flushed", "subnormal results are not flushed"),
}
"""Boolean key to what true means and what false means, in words."""


def key_variants(model: Model) -> Iterator[Variant[Rows]]:
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


def _integers(model: Model, key: str) -> Iterator[Variant[Rows]]:
    value = getattr(model.operation, key)
    for apart in range(1, NEAR + 1):
        for other in (value - apart, value + apart):
            yield from _changed(model, f"{key} is {other}, not {value}", **{key: other})


def _rho(model: Model) -> Iterator[Variant[Rows]]:
    own = str(model.operation.rho)  # type: ignore[attr-defined]
    further = FP64_CONVERSIONS if model.operation.structure.headroom is None else TWO_STEP_CONVERSIONS
    for name, rho in (CONVERSIONS | further).items():
        if rho.d is model.operation.d and name != own:
            yield from _changed(model, f"rho is {name}, not {own}", rho=name)


def _choices(model: Model, key: str, choices: tuple[str, ...]) -> Iterator[Variant[Rows]]:
    own = getattr(model.operation, key, None)
    for other in choices if own is not None else ():
        if other != own:
            yield from _changed(model, f'{key} is "{other}", not "{own}"', **{key: other})


def _lengths(model: Model) -> Iterator[Variant[Rows]]:
    """Variants with fewer products a step, hence more steps."""
    length = model.operation.length
    for shorter in (length // 2, length // 4, 1):
        if 1 <= shorter < length and length % shorter == 0:
            words = f"a step takes {shorter} products, not {length}, and rounds after each"
            yield from _with(model, words, lambda operation, shorter=shorter: operation.with_length(shorter))


def _groups(model: Model) -> Iterator[Variant[Rows]]:
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


def _orders(model: Model) -> Iterator[Variant[Rows]]:
    chain = model.chain
    if chain.fp16_order is not None:
        for order in ORDERS:
            if order != chain.order:
                other = replace(model, chain=replace(chain, order=order))
                yield Variant(f"the steps take the products {order}, not {chain.order}", other.results)


def with_key(operation: Operation, key: str, value: Any) -> Operation | None:
    """The operation with another value of a key; None where its rules do not allow it."""
    try:
        return operation.changed(**{key: value})
    except (TypeError, ValueError):
        return None


def one_step_away(operation: Operation) -> Iterator[tuple[str, str, Operation]]:
    """The operation with each of its keys one step away: the key, the change in words, the operation.

    Integers take the nearest values that are valid, choices every other one. They follow from the types of the keys, so that
    a new operation has them without a line here. Formats and sizes that an instruction's name states are no keys here.
    """
    hints = get_type_hints(type(operation))
    for key in type(operation).unit_keys():
        value = getattr(operation, key)
        if isinstance(value, int) and not isinstance(value, bool):
            reach = range(1, max(8, value) + 1)
            ways: list[list[Any]] = [[value + direction * step for step in reach] for direction in (-1, 1)]
        else:
            ways = [[other] for other in _choices_of(key, value, hints[key])]
        for way in ways:
            valid = ((other, changed) for other in way if (changed := _of_same_size(operation, key, other)) is not None)
            for other, changed in islice(valid, 1):
                yield key, f"{value_as_text(other)} for {value_as_text(value)}", changed


def _choices_of(key: str, value: Any, hint: Any) -> list[Any]:
    """Every other value of a key that is no number."""
    if isinstance(value, bool):
        return [not value]
    if key == "rho":
        return [name for name in {**CONVERSIONS, **FP64_CONVERSIONS, **TWO_STEP_CONVERSIONS} if name != value]
    return [other for other in get_args(hint) if other != value] if get_origin(hint) is Literal else []


def _of_same_size(operation: Operation, key: str, value: Any) -> Operation | None:
    """The operation with another value of a key, if it can be one of the same instruction."""
    changed = with_key(operation, key, value)
    if changed is None or (changed.d, changed.block_size) != (operation.d, operation.block_size):
        return None
    fits = operation.length % changed.length == 0 or changed.length % operation.length == 0
    return changed if key != "L" or fits else None


def one_off(operation: Operation) -> Iterator[tuple[str, Operation]]:
    """The operation with one key changed, as a mutant: numbers one off, another rounding or truncation, flags inverted."""
    keys = operation.parameters() | {key: getattr(operation, key) for key in operation.own_keys if hasattr(operation, key)}
    others: dict[str, Iterable[Any]] = {
        "truncation": ("RZ", "RD"),
        "overflow": BEYOND_RANGE if operation.structure.is_integer else OVERFLOWS,
        "zero": ZEROS,
    }
    if "rho" in keys:
        rho = conversion(str(keys["rho"]))
        others["rho"] = [name for name in conversions_to(rho.d) if name.startswith(("RZ", "RNE", "RD", "RU"))]
    if operation.structure.group is not None and "P" in keys:
        others["P"] = range(1, operation.length + 1)
    for key, value in keys.items():
        if isinstance(value, bool):
            others[key] = (not value,)
        elif key in ("F", "F2", "e_zero", "h"):
            others[key] = (int(value) - 1, int(value) + 1)
        for other in others.get(key, ()):
            changed = None if other == value else with_key(operation, key, other)
            if changed is not None:
                yield f"{key} = {other} for {value}", changed


def alike(operation: Operation) -> Iterator[Operation]:
    """The other operations that have the same keys, with this one's values."""
    keys = {f.name: getattr(operation, f.name) for f in fields(operation)}
    for name, other in OPERATIONS.items():
        if name != operation.name and other.unit_keys() == operation.unit_keys():
            yield other(**keys)


def _changed(model: Model, words: str, **keys: Any) -> Iterator[Variant[Rows]]:
    yield from _with(model, words, lambda operation: operation.changed(**keys))


def _with(model: Model, words: str, change: Any) -> Iterator[Variant[Rows]]:
    """The variant with a change, if the operation accepts it."""
    try:
        other = model.with_operation(change(model.operation))
        if other.operation.length < model.operation.length:
            other.operation.accumulating()
    except (TypeError, ValueError):
        return
    assert type(other.operation) in OPERATIONS.values()
    yield Variant(words, other.results, operation=other.operation)
