"""Changes of what goes in: elements swapped or missing, signs and subnormals lost. Golden's own model computes the rest."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from cosim.diagnosis.fields import is_subnormal, is_zero, sign_bit, with_exponent_one, zeros_of_sign
from cosim.diagnosis.model import Change, Codes, Model, Rows
from golden import Format

MAX_PAIRS = 32
"""Longest vector whose pairs of elements are all tried (elements)."""


def operand_changes(model: Model, K: int) -> Iterator[Change]:
    """Every change of operands that is tried.

    Args:
        K: elements of a and b.
    """
    yield from _missing(model, K)
    yield from _whole_vectors(model, K)
    yield from _signs(model, K)
    yield from _zeros_and_subnormals(model)
    yield from _scales(model)
    yield from _pairs(model, K)


def _missing(model: Model, K: int) -> Iterator[Change]:
    for k in range(K):
        yield _change(model, f"product {k} is missing", a=_element(k, lambda x: x * 0), b=_element(k, lambda x: x * 0))
    yield _change(model, "c is missing", c=lambda c: c * 0)


def _whole_vectors(model: Model, K: int) -> Iterator[Change]:
    ks = np.arange(K)
    orders = {"reversed": ks[::-1], "rotated by one": np.roll(ks, 1), "rotated by one the other way": np.roll(ks, -1)}
    orders |= {f"swapped, k with k xor {step}": ks ^ step for step in (1, 2, 4, 8, 16, 32) if K % (2 * step) == 0}
    for words, order in orders.items():
        if K > 1 and (order != ks).any():
            yield _change(model, f"the elements of a are {words}, those of b are not", a=_in_order(order))
            if _has_places(model):
                yield _change(model, f"the elements of b are {words}, those of a are not", b=_in_order(order))


def _pairs(model: Model, K: int) -> Iterator[Change]:
    for i in range(K if K <= MAX_PAIRS else 0):
        for j in range(i + 1, K):
            order = np.arange(K)
            order[[i, j]] = j, i
            of = "a" if _has_places(model) else "a, or of b,"
            yield _change(model, f"elements {i} and {j} of {of} are swapped", a=_in_order(order))
            if _has_places(model):
                yield _change(model, f"elements {i} and {j} of b are swapped", b=_in_order(order))
                yield _change(model, f"products {i} and {j} are swapped", a=_in_order(order), b=_in_order(order))


def _has_places(model: Model) -> bool:
    """Whether it matters at which place a product stands: for its scales, its group, its step or its pair."""
    operation = model.operation
    return operation.scale_format is not None or operation.name in ("GTR-FDPA", "FTZ-AddMul", "FMA")


def _in_order(order: Any) -> Callable[[Codes], Codes]:
    """Elements in another order."""
    return lambda codes: codes[:, order]


def _signs(model: Model, K: int) -> Iterator[Change]:
    a, b, c = sign_bit(model.a), sign_bit(model.b), sign_bit(model.operation.c)
    yield _change(model, "the sign of c is ignored", c=lambda codes: codes & ~codes.dtype.type(c))
    yield _change(model, "c is subtracted", c=lambda codes: codes ^ codes.dtype.type(c))
    yield _change(model, "the signs of a are ignored", a=lambda codes: codes & ~codes.dtype.type(a))
    yield _change(model, "the signs of b are ignored", b=lambda codes: codes & ~codes.dtype.type(b))
    yield _change(model, "the products are subtracted", a=lambda codes: codes ^ codes.dtype.type(a))
    for k in range(K):
        one_a = _element(k, lambda codes: codes & ~codes.dtype.type(a))
        one_b = _element(k, lambda codes: codes & ~codes.dtype.type(b))
        yield _change(model, f"the sign of product {k} is ignored", a=one_a, b=one_b)
        yield _change(model, f"the sign of a[{k}] is ignored", a=one_a)
        yield _change(model, f"the sign of b[{k}] is ignored", b=one_b)
        flipped = _element(k, lambda codes: codes ^ codes.dtype.type(a))
        yield _change(model, f"product {k} is subtracted", a=flipped)


def _zeros_and_subnormals(model: Model) -> Iterator[Change]:
    a, b, c = model.a, model.b, model.operation.c
    flushed: dict[str, Any] = {"a": _where(a, is_subnormal, zeros_of_sign), "b": _where(b, is_subnormal, zeros_of_sign),
                               "c": _where(c, is_subnormal, zeros_of_sign)}  # fmt: skip
    for names in (("a", "b"), ("a",), ("b",), ("c",)):
        operands = " and ".join(names)
        yield _change(model, f"subnormal {operands} are flushed", **{name: flushed[name] for name in names})
    for name, operand in (("a", a), ("b", b), ("c", c)):
        hidden = _where(operand, is_zero, with_exponent_one)
        yield _change(
            model, f"a zero {name} keeps its hidden bit: it counts as the smallest normal number", **{name: hidden}
        )
        hidden = _where(operand, is_subnormal, with_exponent_one)
        yield _change(model, f"a subnormal {name} has its hidden bit set", **{name: hidden})


def _scales(model: Model) -> Iterator[Change]:
    scale = model.operation.scale_format
    if scale is None:
        return
    one = scale.encode(1)
    for name in ("scale_a", "scale_b"):
        yield _change(model, f"{name} is ignored", **{name: lambda codes: codes * 0 + codes.dtype.type(one)})
        yield _change(model, f"{name} is that of the first block", **{name: lambda codes: codes[:, :1] + codes * 0})
        yield _change(model, f"{name} is that of the block before", **{name: lambda codes: np.roll(codes, 1, axis=1)})
        yield _change(model, f"{name} is that of the block after", **{name: lambda codes: np.roll(codes, -1, axis=1)})
        for apart in (-1, 1):
            top = scale.codes - 1
            moved = lambda codes, apart=apart, top=top: np.where(  # noqa: E731
                codes == top, codes, np.clip(codes.astype(np.int64) + apart, 0, top - 1)
            ).astype(codes.dtype)
            yield _change(model, f"the code of {name} is {'one more' if apart > 0 else 'one less'}", **{name: moved})


def _element(k: int, change: Callable[[Codes], Codes]) -> Callable[[Codes], Codes]:
    """A change of element k alone."""

    def of_all(codes: Codes) -> Codes:
        changed = codes.copy()
        changed[:, k] = change(codes[:, k])
        return changed

    return of_all


def _where(
    operand: Format, mask: Callable[[Codes, Format], Any], change: Callable[[Codes, Format], Codes]
) -> Callable[[Codes], Codes]:
    return lambda codes: np.where(mask(codes, operand), change(codes, operand), codes)


def _change(model: Model, words: str, **operands: Callable[[Codes], Codes]) -> Change:
    def results(rows: Rows) -> Codes:
        changed = {name: change(getattr(rows, name)) for name, change in operands.items()}
        return model.results(replace(rows, **changed))

    return Change(words, results)
