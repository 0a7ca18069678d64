"""Changes of the order of bytes and bits, within each element and within a whole port."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from cosim.diagnosis.changed_model import Change, Codes, Model, Rows
from cosim.diagnosis.changed_operands import has_places
from golden import Format

Turn = Callable[[Codes, int], Codes]
"""Puts the bits of each code in another order, given their number."""

TOGETHER = (("a", "b"), ("a",), ("b",), ("c",), ("d",), ("c", "d"), ("a", "b", "c"), ("a", "b", "c", "d"))
"""The ports whose bytes are turned at a time."""


def byte_changes(model: Model, K: int) -> Iterator[Change]:
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


def _ports_reversed(model: Model, names: tuple[str, ...]) -> Change:
    def results(rows: Rows) -> Codes:
        codes = {name: port_reversed(getattr(rows, name), _format(model, name).width) for name in names}
        return model.results(replace(rows, **codes))

    return Change(f"the bytes of the whole port {_listed(names)} are in reverse order", results)


def _turned(model: Model, words: str, names: tuple[str, ...], turn: Turn) -> Change:
    def results(rows: Rows) -> Codes:
        codes = {name: turn(getattr(rows, name), _format(model, name).width) for name in names if name != "d"}
        found = model.results(replace(rows, **codes)) if codes else rows.expected
        return turn(found, model.operation.d.width) if "d" in names else found

    return Change(words, results)


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
    """The elements [rows, K] of a port whose bytes come in reverse order; unchanged where it is no number of whole bytes."""
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
