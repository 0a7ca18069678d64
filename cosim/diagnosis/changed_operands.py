"""Changes of the operands: elements swapped or missing, signs and subnormals lost. The golden model computes the rest."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from cosim.diagnosis.changed_model import Change, Codes, Model, in_place, of_class, with_operands
from cosim.diagnosis.fields import is_subnormal, is_zero, sign_bit, with_exponent_one, zeros_of_sign
from golden.chain import product_order

MAX_PAIRS = 32
"""Longest vector whose pairs of elements are all tried (elements)."""


def operand_changes(model: Model, K: int) -> Iterator[Change]:
    """Every change of operands that is tried.

    Args:
        K: elements of a and b.
    """
    yield from _exchanged(model)
    yield from _missing(model, K)
    yield from _signs(model, K)
    yield from _zeros_and_subnormals(model)
    yield from _scales(model)
    yield from _orders(model, K)


def _exchanged(model: Model) -> Iterator[Change]:
    """The bits of a and b exchanged, which matters if their formats differ."""
    if model.a.width == model.b.width and model.a is not model.b:
        yield Change("a and b are exchanged", lambda rows: model.results(replace(rows, a=rows.b, b=rows.a)))


def _missing(model: Model, K: int) -> Iterator[Change]:
    for k in range(K):
        yield with_operands(model, f"product {k} is missing", a=in_place(k, lambda x: x * 0), b=in_place(k, lambda x: x * 0))
    yield with_operands(model, "c is missing", c=lambda c: c * 0)
    if K > 1:
        yield with_operands(model, "every product is missing", a=lambda a: a * 0, b=lambda b: b * 0)


def _orders(model: Model, K: int) -> Iterator[Change]:
    """Elements in another order: two of them swapped, or a whole vector in an order that occurs in real designs."""
    for words, order in {**_whole_orders(K), **_pairs(K)}.items():
        if has_places(model, K):
            yield with_operands(model, words.format("a"), a=_in_order(order))
            yield with_operands(model, words.format("b"), b=_in_order(order))
            yield with_operands(model, words.format("a and b"), a=_in_order(order), b=_in_order(order))
        else:
            yield with_operands(model, words.format("a, or of b,"), a=_in_order(order))


def _pairs(K: int) -> dict[str, tuple[int, ...]]:
    """Orders with two elements swapped, for vectors up to a limited length."""
    found = {}
    for i in range(K if K <= MAX_PAIRS else 0):
        for j in range(i + 1, K):
            order = list(range(K))
            order[i], order[j] = j, i
            found[f"elements {i} and {j} of {{}} are swapped"] = tuple(order)
    return found


def _whole_orders(K: int) -> dict[str, tuple[int, ...]]:
    """Orders of all elements, for vectors where such an order is more than one swap."""
    ks = tuple(range(K))
    orders = {"the elements of {} are reversed": ks[::-1], "the elements of {} are rotated by one": (*ks[1:], 0)}
    if K >= 4:
        orders |= {
            "the elements of {} are rotated by one the other way": (K - 1, *ks[:-1]),
            "the elements of {} are taken even ones first": tuple(product_order("even-odd", K)),
            "the elements of {} are taken in pairs of every four": tuple(product_order("pairs-of-four", K)),
        }
    steps = (step for step in (1, 2, 4, 8, 16, 32) if K % (2 * step) == 0)
    orders |= {f"the elements k and k xor {step} of {{}} are swapped": tuple(k ^ step for k in ks) for step in steps}
    return {words: order for words, order in orders.items() if sum(k != at for k, at in enumerate(order)) > 2}


def has_places(model: Model, K: int) -> bool:
    """Return whether the place of a product matters: for its scales, its group, its step or its pair."""
    return model.operation.length < K or model.operation.structure.has_places


def _in_order(order: tuple[int, ...]) -> Callable[[Codes], Codes]:
    """Elements in another order."""
    return lambda codes: codes[:, list(order)]


def _signs(model: Model, K: int) -> Iterator[Change]:
    a, b, c = sign_bit(model.a), sign_bit(model.b), sign_bit(model.operation.c)
    yield with_operands(model, "the sign of c is ignored", c=lambda codes: codes & ~codes.dtype.type(c))
    yield with_operands(model, "c is subtracted", c=lambda codes: codes ^ codes.dtype.type(c))
    yield with_operands(model, "the signs of a are ignored", a=lambda codes: codes & ~codes.dtype.type(a))
    yield with_operands(model, "the signs of b are ignored", b=lambda codes: codes & ~codes.dtype.type(b))
    yield with_operands(model, "the products are subtracted", a=lambda codes: codes ^ codes.dtype.type(a))
    for k in range(K):
        one_a = in_place(k, lambda codes: codes & ~codes.dtype.type(a))
        one_b = in_place(k, lambda codes: codes & ~codes.dtype.type(b))
        yield with_operands(model, f"the sign of product {k} is ignored", a=one_a, b=one_b)
        yield with_operands(model, f"the sign of a[{k}] is ignored", a=one_a)
        yield with_operands(model, f"the sign of b[{k}] is ignored", b=one_b)
        flipped = in_place(k, lambda codes: codes ^ codes.dtype.type(a))
        yield with_operands(model, f"product {k} is subtracted", a=flipped)


def _zeros_and_subnormals(model: Model) -> Iterator[Change]:
    a, b, c = model.a, model.b, model.operation.c
    flushed: dict[str, Any] = {"a": of_class(a, is_subnormal, zeros_of_sign), "b": of_class(b, is_subnormal, zeros_of_sign),
                               "c": of_class(c, is_subnormal, zeros_of_sign)}  # fmt: skip
    for names in (("a", "b"), ("a",), ("b",), ("c",)):
        operands = " and ".join(names)
        yield with_operands(model, f"subnormal {operands} are flushed", **{name: flushed[name] for name in names})
    for name, operand in (("a", a), ("b", b), ("c", c)):
        hidden = of_class(operand, is_zero, with_exponent_one)
        yield with_operands(
            model, f"a zero {name} keeps its hidden bit: it counts as the smallest normal number", **{name: hidden}
        )
        hidden = of_class(operand, is_subnormal, with_exponent_one)
        yield with_operands(model, f"a subnormal {name} has its hidden bit set", **{name: hidden})


def _scales(model: Model) -> Iterator[Change]:
    scale = model.operation.scale_format
    if scale is None:
        return
    one = scale.encode(1)
    for name in ("scale_a", "scale_b"):
        yield with_operands(model, f"{name} is ignored", **{name: lambda codes: codes * 0 + codes.dtype.type(one)})
        yield with_operands(model, f"{name} is that of the first block", **{name: lambda codes: codes[:, :1] + codes * 0})
        yield with_operands(model, f"{name} is that of the block before", **{name: lambda codes: np.roll(codes, 1, axis=1)})
        yield with_operands(model, f"{name} is that of the block after", **{name: lambda codes: np.roll(codes, -1, axis=1)})
        for apart in (-1, 1):
            top = scale.codes - 1
            moved = lambda codes, apart=apart, top=top: np.where(  # noqa: E731
                codes == top, codes, np.clip(codes.astype(np.int64) + apart, 0, top - 1)
            ).astype(codes.dtype)
            yield with_operands(model, f"the code of {name} is {'one more' if apart > 0 else 'one less'}", **{name: moved})
