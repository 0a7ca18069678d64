"""Variants in which one key of the operation has another value, or an operand or the result another format of the same
width; golden computes them on the fastest engine."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from itertools import islice
from typing import Any, Literal, get_args, get_origin, get_type_hints

from golden import Format, Operation
from golden.arithmetic.coded_format import CodedFormat
from golden.arithmetic.conversion import (
    CONVERSIONS,
    FP64_CONVERSIONS,
    TWO_STEP_CONVERSIONS,
    conversion,
    rounding_to,
    spelled,
)
from golden.arithmetic.formats import FORMATS, FP16, FP32, IntegerFormat
from golden.arithmetic.rounding import MODES, OVERFLOWS
from golden.chains.chain import ORDERS
from golden.chains.sum_chain import C_PLACES, TREES
from golden.operations import OPERATIONS
from golden.operations.base import EXPONENT_LIMIT
from golden.operations.e_fdpa import ZEROS
from golden.operations.exact_sum import FLAG_KEYS
from golden.operations.idpa import BEYOND_RANGE
from golden.text import value_as_text
from golden.variants.variant import Model, Rows, Variant, of_model

READ = (("a", "b"), ("a",), ("b",), ("c",))
"""Groups of operands that are read in another format together."""


def format_variants(model: Model) -> Iterator[Variant[Rows]]:
    """Operands in each other format of their width, one by one and together; d, and all that share d's format."""
    for names in READ:
        own = {name: _own(model, name) for name in names}
        if len(set(map(str, own.values()))) == 1:
            yield from _read(model, names, own[names[0]])
    yield from _written(model)


def _own(model: Model, name: str) -> Format:
    """The format of an operand; for a and b the format in which the rows hold them."""
    found: Format = {"a": model.a, "b": model.b}.get(name, model.operation.c)
    return found


def _others(own: Format) -> list[Format]:
    """The other formats of the same width, integers beside integers; beside an element without fields both."""
    kinds = (True, False) if isinstance(own, CodedFormat) else (isinstance(own, IntegerFormat),)
    others = (other for other in FORMATS.values() if isinstance(other, IntegerFormat) in kinds)
    return [other for other in others if other.width == own.width and other is not own]


def _read(model: Model, names: tuple[str, ...], own: Format) -> Iterator[Variant[Rows]]:
    for other in _others(own):
        verb = "are" if len(names) > 1 else "is"
        words = f"{' and '.join(names)} {verb} read as {other}, not {own}"
        yield from _with_format(model, words, dict.fromkeys(names, other))


def _written(model: Model) -> Iterator[Variant[Rows]]:
    """d in another format, by a conversion that rounds as the own one does, alone and with the operands of its format."""
    operation = model.operation
    own = operation.d
    rho = {**CONVERSIONS, **FP64_CONVERSIONS}.get(str(getattr(operation, "rho", "")))
    if rho is None:
        return
    for other in _others(own):
        name = f"{rho.mode}-{str(other).upper()}"
        if name not in CONVERSIONS:
            continue
        yield from _with_format(model, f"d is written as {other}, not {own}", {"rho": name})
        if operation.c is own:
            words = f"c is read and d is written as {other}, not {own}"
            yield from _with_format(model, words, {"c": other, "rho": name})
            if model.a is model.b is own:
                words = f"a, b and c are read and d is written as {other}, not {own}"
                yield from _with_format(model, words, {"a": other, "b": other, "c": other, "rho": name})


def _with_format(model: Model, words: str, keys: Mapping[str, Any]) -> Iterator[Variant[Rows]]:
    """The variant of the model with changed keys, if golden can compute it."""
    try:
        if model.chain.fp16_order is not None and keys.keys() & {"a", "b"}:
            a, b = model.chain.a, model.chain.b
            other = replace(model, chain=replace(model.chain, convert=(keys.get("a", a), keys.get("b", b))))
        else:
            other = model.with_operation(_free(model.operation).changed(**keys))
        other.operation.accumulating()
    except (TypeError, ValueError):
        return
    if _is_of_an_instruction(other):
        yield of_model(words, other)
    else:
        yield Variant(words, lambda rows: other.results(rows, "reference"))


def _is_of_an_instruction(model: Model) -> bool:
    """Whether c and d of a converted chain have a format that an instruction has; only the reference computes others."""
    return model.chain.fp16_order is None or model.operation.c in (FP16, FP32)


def _free(operation: Operation) -> Operation:
    """A copy of the operation that is not bound by the rule that all its formats are equal."""
    return operation.with_steps(_validate=lambda self: None) if operation.structure.is_multiply_add else operation


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


def sum_variants(model: Model) -> Iterator[Variant[Rows]]:
    """Every key of a table [sums] with each other value to try: the nodes in other modes first."""
    table = model.chain.sums
    assert table is not None
    others: dict[str, list[Any]] = {}
    for key in ("product", "node", "scaled", "outer"):
        _, _, fields_of_node = str(getattr(table, key)).partition("-")
        others[key] = [f"{mode}-{fields_of_node}" for mode in MODES] if fields_of_node else []
    others |= {"truncation": ["RZ", "RD", "RO"], "tree": list(TREES), "c": list(C_PLACES)}
    if table.align is not None:
        others |= {key: [getattr(table.align, key) + apart for apart in (-1, 1, -2, 2)] for key in ("F", "e_zero")}
    for key, values in others.items():
        own = getattr(table, key)
        for other in values:
            if other == own:
                continue
            with suppress(TypeError, ValueError):  # not every table has every key, nor every value
                changed = replace(table, **{key: other})
                yield of_model(f"{key} is {other}, not {own}", replace(model, chain=replace(model.chain, sums=changed)))


def _integers(model: Model, key: str) -> Iterator[Variant[Rows]]:
    value = getattr(model.operation, key)
    for apart in range(1, NEAR + 1):
        for other in (value - apart, value + apart):
            yield from _changed(model, f"{key} is {other}, not {value}", **{key: other})


def _rho(model: Model) -> Iterator[Variant[Rows]]:
    own = str(model.operation.rho)  # type: ignore[attr-defined]
    further = FP64_CONVERSIONS if model.operation.structure.headroom is None else TWO_STEP_CONVERSIONS
    d = model.operation.d
    known = {name: rho for name, rho in (CONVERSIONS | further).items() if rho.d == d}
    for name, rho in (known or {rho.name: rho for rho in (rounding_to(mode, d) for mode in MODES)}).items():
        if name != own:
            yield from _changed(model, f"rho is {name}, not {own}", rho=name if known else rho)


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
                yield of_model(f"the steps take the products {order}, not {chain.order}", other)


def with_key(operation: Operation, key: str, value: Any) -> Operation | None:
    """The operation with another value of a key; None where its rules do not allow it."""
    try:
        return operation.changed(**{key: value})
    except (TypeError, ValueError):
        return None


def one_step_away(operation: Operation) -> Iterator[tuple[str, str, Operation]]:
    """The operation with each of its keys one step away: the key, the change in words, the operation.

    Integers take the nearest values that are valid, choices every other one. They follow from the types of the keys, so that
    a new operation has them without a line here. Formats and sizes that an instruction's name states are no keys here, nor
    are those that change no result.
    """
    hints = get_type_hints(type(operation))
    for key in (key for key in type(operation).unit_keys() if key not in FLAG_KEYS):
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
        own = [spelled(rounding_to(mode, conversion(value).rounding_format)) for mode in MODES]
        return [rho for rho in dict.fromkeys((*CONVERSIONS, *FP64_CONVERSIONS, *TWO_STEP_CONVERSIONS, *own)) if rho != value]
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
    own = [key for key in operation.own_keys if hasattr(operation, key) and key not in FLAG_KEYS]
    keys = {key: value for key, value in operation.parameters().items() if key not in FLAG_KEYS}
    keys |= {key: getattr(operation, key) for key in own}
    others: dict[str, Iterable[Any]] = {
        "truncation": ("RZ", "RD"),
        "overflow": BEYOND_RANGE if operation.structure.is_integer else OVERFLOWS,
        "zero": ZEROS,
    }
    if "rho" in keys:
        rho = operation.structure.rho
        assert rho is not None
        others["rho"] = [spelled(rounding_to(mode, rho.d)) for mode in MODES if mode not in ("RO", "RNA")]
    if operation.structure.group is not None and "P" in keys:
        others["P"] = range(1, operation.length + 1)
    for key, value in keys.items():
        if isinstance(value, bool):
            others[key] = (not value,)
        elif key in ("F", "F2", "e_zero", "h"):
            others[key] = (int(value) - 1, int(value) + 1)
        for other in others.get(key, ()):
            changed = None if str(other) == str(value) else with_key(operation, key, other)
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
    yield replace(of_model(words, other), operation=other.operation)
