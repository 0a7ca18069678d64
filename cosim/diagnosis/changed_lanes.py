"""Changes of one lane (a[k] and b[k]), of one element, or of one block of products and its scales."""

from collections.abc import Callable, Iterator
from typing import Any

from cosim.diagnosis.changed_model import Change, Codes, Model, in_place, of_class, with_operands
from cosim.diagnosis.fields import is_infinity, is_nan, is_subnormal, sign_bit, zeros_of_sign
from golden import Format

MAX_BITS = 1024
"""Bits of a, or of b, up to which every one is tried stuck."""


def lane_changes(model: Model, K: int) -> Iterator[Change]:
    """Every change of one lane or one block that is tried, and those of infinities and NaNs in all lanes.

    Args:
        K: elements of a and b.
    """
    for k in range(K):
        yield from _lane(model, k, K)
    yield from _specials(model, "of a or b", slice(None))
    yield from _blocks(model, K)
    for k in range(K):
        yield from _stuck(model, k, K)


def _lane(model: Model, k: int, K: int) -> Iterator[Change]:
    yield from _specials(model, f"in lane {k}", k)
    flushed: dict[str, Any] = {
        name: in_place(k, of_class(operand, is_subnormal, zeros_of_sign)) for name, operand in _operands(model)
    }
    yield with_operands(model, f"subnormals in lane {k} are flushed", **flushed)
    for name, _ in _operands(model):
        yield with_operands(model, f"{name}[{k}] is 0", **{name: in_place(k, lambda codes: codes * 0)})
        for j in dict.fromkeys((k - 1, k + 1, 0)):
            if 0 <= j < K and j != k:
                yield with_operands(model, f"{name}[{k}] is that of lane {j}", **{name: _copied(j, k)})


def _specials(model: Model, where: str, k: int | slice) -> Iterator[Change]:
    """Infinities and NaNs taken as something else."""
    for kind, mask in (("an infinity", is_infinity), ("a NaN", is_nan)):
        for value, code in (
            ("0", lambda operand: 0), ("the largest finite number", lambda operand: operand.max_finite),
            ("an infinity", lambda operand: operand.infinity), ("a NaN", lambda operand: operand.nan),
        ):  # fmt: skip
            operands = _operands(model)
            if value == kind or any(code(operand) is None for _, operand in operands):
                continue
            if all(operand.infinity is None if mask is is_infinity else operand.nan is None for _, operand in operands):
                continue
            changed: dict[str, Any] = {
                name: in_place(k, of_class(operand, mask, _signed(code(operand)))) for name, operand in operands
            }
            yield with_operands(model, f"{kind} {where} counts as {value}", **changed)


def _signed(code: int) -> Callable[[Codes, Format], Codes]:
    """A code with the sign of each."""
    return lambda codes, operand: codes & codes.dtype.type(sign_bit(operand)) | codes.dtype.type(code)


def _blocks(model: Model, K: int) -> Iterator[Change]:
    """One block: its products, its scales."""
    scale, block = model.operation.scale_format, model.operation.block_size
    if scale is None or block is None:
        return
    one = scale.encode(1)
    for n in range(-(-K // block)):
        products = slice(n * block, (n + 1) * block)
        nothing = in_place(products, lambda codes: codes * 0)
        yield with_operands(model, f"block {n} is missing: its products count as 0", a=nothing, b=nothing)
        for name in ("scale_a", "scale_b"):
            yield with_operands(
                model, f"{name}[{n}] is ignored", **{name: in_place(n, lambda codes: codes * 0 + codes.dtype.type(one))}
            )
            for j in (n - 1, n + 1):
                if 0 <= j < -(-K // block):
                    yield with_operands(model, f"{name}[{n}] is that of block {j}", **{name: _copied(j, n)})


def _stuck(model: Model, k: int, K: int) -> Iterator[Change]:
    for name, operand in _operands(model):
        for bit in range(operand.width if K * operand.width <= MAX_BITS else 0):
            yield with_operands(model, f"bit {bit} of {name}[{k}] is stuck at 0", **{name: in_place(k, _cleared(1 << bit))})
            yield with_operands(model, f"bit {bit} of {name}[{k}] is stuck at 1", **{name: in_place(k, _set(1 << bit))})


def _cleared(mask: int) -> Callable[[Codes], Codes]:
    return lambda codes: codes & ~codes.dtype.type(mask)


def _set(mask: int) -> Callable[[Codes], Codes]:
    return lambda codes: codes | codes.dtype.type(mask)


def _operands(model: Model) -> tuple[tuple[str, Format], tuple[str, Format]]:
    return ("a", model.a), ("b", model.b)


def _copied(j: int, k: int) -> Callable[[Codes], Codes]:
    """Element k as element j."""

    def of_all(codes: Codes) -> Codes:
        changed = codes.copy()
        changed[:, k] = codes[:, j]
        return changed

    return of_all
