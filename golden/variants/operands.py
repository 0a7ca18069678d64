"""Variants of the operands, of all lanes or of one: elements swapped, missing or stuck, signs and subnormals lost, bytes in
another order. The golden model computes the rest."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from golden import Format
from golden.chains.chain import product_order
from golden.variants.variant import (
    Codes,
    Model,
    Rows,
    Variant,
    in_place,
    is_infinity,
    is_nan,
    is_subnormal,
    is_zero,
    of_class,
    of_model,
    sign_bit,
    with_exponent_one,
    with_operands,
    zeros_of_sign,
)

MAX_PAIRS = 32
"""Largest number of elements of a vector for which the swap of every pair is tried."""


def operand_variants(model: Model, K: int) -> Iterator[Variant[Rows]]:
    """Every variant of operands that is tried.

    Args:
        K: elements of a and b.
    """
    yield from _exchanged(model)
    yield from _missing(model, K)
    yield from _signs(model, K)
    yield from _zeros_and_subnormals(model)
    yield from _scales(model)
    yield from _orders(model, K)


def _exchanged(model: Model) -> Iterator[Variant[Rows]]:
    """The bits of a and b exchanged, which matters if their formats differ."""
    if model.a.width == model.b.width and model.a is not model.b:
        yield of_model("a and b are exchanged", model.inside(lambda rows, d: d(replace(rows, a=rows.b, b=rows.a))))


def _missing(model: Model, K: int) -> Iterator[Variant[Rows]]:
    for k in range(K):
        yield with_operands(model, f"product {k} is missing", a=in_place(k, lambda x: x * 0), b=in_place(k, lambda x: x * 0))
    yield with_operands(model, "c is missing", c=lambda c: c * 0)
    if K > 1:
        yield with_operands(model, "every product is missing", a=lambda a: a * 0, b=lambda b: b * 0)


def _orders(model: Model, K: int) -> Iterator[Variant[Rows]]:
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
    """A change that puts the elements of each row in another order."""
    return lambda codes: codes[:, list(order)]


def _signs(model: Model, K: int) -> Iterator[Variant[Rows]]:
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


def _zeros_and_subnormals(model: Model) -> Iterator[Variant[Rows]]:
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


def _scales(model: Model) -> Iterator[Variant[Rows]]:
    scale = model.operation.scale_format
    if scale is None:
        return
    one = scale.encode(1)
    for name in model.operation.scale_operands:
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


MAX_BITS = 1024
"""Largest number of bits of a, or of b, for which each bit is tried stuck."""


def lane_variants(model: Model, K: int) -> Iterator[Variant[Rows]]:
    """Every variant of one lane or one block that is tried, and those of infinities and NaNs in all lanes.

    Args:
        K: elements of a and b.
    """
    for k in range(K if K > 1 else 0):
        yield from _lane(model, k, K)
    yield from _specials(model, "of a or b", slice(None))
    yield from _blocks(model, K)
    for k in range(K):
        yield from _stuck(model, k, K)


def _lane(model: Model, k: int, K: int) -> Iterator[Variant[Rows]]:
    yield from _specials(model, f"in lane {k}", k)
    flushed: dict[str, Any] = {
        name: in_place(k, of_class(operand, is_subnormal, zeros_of_sign)) for name, operand in _both(model)
    }
    yield with_operands(model, f"subnormals in lane {k} are flushed", **flushed)
    for name, _ in _both(model):
        yield with_operands(model, f"{name}[{k}] is 0", **{name: in_place(k, lambda codes: codes * 0)})
        for j in dict.fromkeys((k - 1, k + 1, 0)):
            if 0 <= j < K and j != k:
                yield with_operands(model, f"{name}[{k}] is that of lane {j}", **{name: _copied(j, k)})


def _specials(model: Model, where: str, k: int | slice) -> Iterator[Variant[Rows]]:
    """Infinities and NaNs taken as something else."""
    for kind, mask in (("an infinity", is_infinity), ("a NaN", is_nan)):
        for value, code in (
            ("0", lambda operand: 0), ("the largest finite number", lambda operand: operand.max_finite),
            ("an infinity", lambda operand: operand.infinity), ("a NaN", lambda operand: operand.nan),
        ):  # fmt: skip
            operands = _both(model)
            if value == kind or any(code(operand) is None for _, operand in operands):
                continue
            if all(operand.infinity is None if mask is is_infinity else operand.nan is None for _, operand in operands):
                continue
            changed: dict[str, Any] = {
                name: in_place(k, of_class(operand, mask, _signed(code(operand)))) for name, operand in operands
            }
            yield with_operands(model, f"{kind} {where} counts as {value}", **changed)


def _signed(code: int) -> Callable[[Codes, Format], Codes]:
    """A change that replaces every code by a given one with the sign of the old."""
    return lambda codes, operand: codes & codes.dtype.type(sign_bit(operand)) | codes.dtype.type(code)


def _blocks(model: Model, K: int) -> Iterator[Variant[Rows]]:
    """One block: its products, its scales."""
    scale, block = model.operation.scale_format, model.operation.block_size
    if scale is None or block is None:
        return
    one = scale.encode(1)
    for n in range(-(-K // block)):
        products = slice(n * block, (n + 1) * block)
        nothing = in_place(products, lambda codes: codes * 0)
        yield with_operands(model, f"block {n} is missing: its products count as 0", a=nothing, b=nothing)
        for name in model.operation.scale_operands:
            yield with_operands(
                model, f"{name}[{n}] is ignored", **{name: in_place(n, lambda codes: codes * 0 + codes.dtype.type(one))}
            )
            for j in (n - 1, n + 1):
                if 0 <= j < -(-K // block):
                    yield with_operands(model, f"{name}[{n}] is that of block {j}", **{name: _copied(j, n)})


def _stuck(model: Model, k: int, K: int) -> Iterator[Variant[Rows]]:
    for name, operand in _both(model):
        for bit in range(operand.width if K * operand.width <= MAX_BITS else 0):
            yield with_operands(model, f"bit {bit} of {name}[{k}] is stuck at 0", **{name: in_place(k, _cleared(1 << bit))})
            yield with_operands(model, f"bit {bit} of {name}[{k}] is stuck at 1", **{name: in_place(k, _set(1 << bit))})


def _cleared(mask: int) -> Callable[[Codes], Codes]:
    return lambda codes: codes & ~codes.dtype.type(mask)


def _set(mask: int) -> Callable[[Codes], Codes]:
    return lambda codes: codes | codes.dtype.type(mask)


def _both(model: Model) -> tuple[tuple[str, Format], tuple[str, Format]]:
    return ("a", model.a), ("b", model.b)


def _copied(j: int, k: int) -> Callable[[Codes], Codes]:
    """A change that replaces element k by element j."""

    def of_all(codes: Codes) -> Codes:
        changed = codes.copy()
        changed[:, k] = codes[:, j]
        return changed

    return of_all


Turn = Callable[[Codes, int], Codes]
"""A function (codes, number of bits) that puts the bits of each code in another order."""

TOGETHER = (("a", "b"), ("a",), ("b",), ("c",), ("d",), ("c", "d"), ("a", "b", "c"), ("a", "b", "c", "d"))
"""Groups of ports whose bytes are reversed together."""


def byte_variants(model: Model, K: int) -> Iterator[Variant[Rows]]:
    """Bytes and bits in reverse order: in each element of the ports, and in the whole ports of a and b.

    Args:
        K: elements of a and b.
    """
    for names in TOGETHER:
        if all(_format(model, name).width % 8 == 0 and _format(model, name).width > 8 for name in names):
            words = f"the bytes of each element of {_listed(names)} are in reverse order"
            yield _turned(model, words, names, _bytes_reversed)
        yield _turned(model, f"the bits of each element of {_listed(names)} are in reverse order", names, _bits_reversed)
    for names in (("a", "b"), ("a",), ("b",)) if has_places(model, K) else (("a",), ("b",)):
        yield _ports_reversed(model, names)


def _ports_reversed(model: Model, names: tuple[str, ...]) -> Variant[Rows]:
    turned = {name: partial(port_reversed, width=_format(model, name).width) for name in names}
    return with_operands(model, f"the bytes of the whole port {_listed(names)} are in reverse order", **turned)


def _turned(model: Model, words: str, names: tuple[str, ...], turn: Turn) -> Variant[Rows]:
    def around(rows: Rows, results: Callable[[Rows], Codes]) -> Codes:
        codes = {name: turn(getattr(rows, name), _format(model, name).width) for name in names if name != "d"}
        found = results(replace(rows, **codes))
        return turn(found, model.operation.d.width) if "d" in names else found

    return of_model(words, model.inside(around))


def _format(model: Model, name: str) -> Format:
    found: Format = {"a": model.a, "b": model.b, "c": model.operation.c, "d": model.operation.d}[name]
    return found


def _listed(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _bytes_reversed(codes: Codes, width: int) -> Codes:
    of_bytes = _bits(codes, width).reshape(*codes.shape, width // 8, 8)
    return _packed(of_bytes[..., ::-1, :].reshape(*codes.shape, width), codes)


def _bits_reversed(codes: Codes, width: int) -> Codes:
    return _packed(_bits(codes, width)[..., ::-1], codes)


def port_reversed(codes: Codes, width: int) -> Codes:
    """The elements [rows, K] of a port whose bytes come in reverse order; unchanged if the port is not a whole number of
    bytes wide."""
    rows, K = codes.shape
    if K * width % 8:
        return codes
    return _packed(_bits(codes, width).reshape(rows, -1, 8)[:, ::-1].reshape(rows, K, width), codes)


def _bits(codes: Codes, width: int) -> Codes:
    """The bits of each code, the lowest first, along a new last dimension."""
    places = np.arange(width, dtype=codes.dtype)
    found: Codes = codes[..., None] >> places & codes.dtype.type(1)
    return found


def _packed(bits: Codes, like: Codes) -> Codes:
    """The codes of bits, the lowest first, in the dtype of `like`."""
    places = np.arange(bits.shape[-1], dtype=like.dtype)
    found: Codes = np.bitwise_or.reduce(bits.astype(like.dtype) << places, axis=-1)
    return found
