"""Changes of a format: an operand read, or the result written, in another format of the same width."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from golden import Format, Operation
from golden.arithmetic.conversion import CONVERSIONS, FP64_CONVERSIONS
from golden.arithmetic.formats import FORMATS, FP16, FP32
from golden.variants.variant import Model, Rows, Variant

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
    """The other formats of the same width."""
    return [other for other in FORMATS.values() if other.width == own.width and other is not own]


def _read(model: Model, names: tuple[str, ...], own: Format) -> Iterator[Variant[Rows]]:
    for other in _others(own):
        verb = "are" if len(names) > 1 else "is"
        words = f"{' and '.join(names)} {verb} read as {other}, not {own}"
        yield from _changed(model, words, dict.fromkeys(names, other))


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
        yield from _changed(model, f"d is written as {other}, not {own}", {"rho": name})
        if operation.c is own:
            words = f"c is read and d is written as {other}, not {own}"
            yield from _changed(model, words, {"c": other, "rho": name})
            if model.a is model.b is own:
                words = f"a, b and c are read and d is written as {other}, not {own}"
                yield from _changed(model, words, {"a": other, "b": other, "c": other, "rho": name})


def _changed(model: Model, words: str, keys: Mapping[str, Any]) -> Iterator[Variant[Rows]]:
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
    engine = None if _computed_by_all_engines(other) else "reference"
    yield Variant(words, lambda rows: other.results(rows, engine))


def _computed_by_all_engines(model: Model) -> bool:
    """Whether every engine computes the model. Only the reference computes an FMA of several formats, and a converted chain
    whose c and d have a format that no instruction has."""
    converted = model.chain.fp16_order is not None
    return not model.operation.structure.is_multiply_add and not (converted and model.operation.c not in (FP16, FP32))


def _free(operation: Operation) -> Operation:
    """A copy of the operation that is not bound by the rule that all its formats are equal."""
    return operation.with_steps(_validate=lambda self: None) if operation.structure.is_multiply_add else operation
