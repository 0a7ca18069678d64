"""How kernels spend K, walked in plain Python: which products each accumulator takes; the additions after it on rationals.

Written from numerics.md, section 12, beside `gemm_twin`. Of golden/ it sees the attributes of parameter objects alone.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from tests.golden.converted_twin import fp8_as_fp16_work
from tests.golden.products.gemm_twin import added, narrowed, widened
from tests.twin import twin
from tests.twin.twin_numbers import decode, encode

ABSENT = -1
"""The index of a product that pads K: +0·+0."""


class Walk(NamedTuple):
    """Which products a kernel takes: parts of K, stripes of a part, instructions of a stripe, products of an instruction."""

    parts: list[list[list[list[int]]]]


def walked(
    K: int, k: int, S: int = 1, tile: int | None = None, stripes: tuple[int, int] | None = None,
    reverse: int | None = None, block: Sequence[int] | None = None,
) -> Walk:  # fmt: skip
    """The walk over K products of a kernel with S parts, each of whole tiles."""
    whole = -(-K // k) * k
    if block is not None:
        while whole % k or whole % len(block):
            whole += 1
    length = whole if tile is None else -(-K // (S * tile)) * tile
    parts = []
    for first in range(0, whole, length):
        last = min(first + length, whole)
        accumulators: list[list[int]] = []
        if stripes is not None:
            number, width = stripes
            for stripe in range(number):
                mine = [product for product in range(first, last) if (product - first) // width % number == stripe]
                if mine:
                    accumulators.append(mine)
        elif reverse is not None:
            tiles = [list(range(begin, min(begin + reverse, last))) for begin in range(first, last, reverse)]
            accumulators.append([product for one in reversed(tiles) for product in one])
        else:
            accumulators.append(list(range(first, last)))
        parts.append([[_real(mine[at : at + k], K, block) for at in range(0, len(mine), k)] for mine in accumulators])
    return Walk(parts)


def padded_walk(
    K: int, k: int, S: int = 1, tile: int | None = None, residue: int | None = None, stripes: tuple[int, int] | None = None
) -> Walk:  # fmt: skip
    """The walk of a kernel each of whose S parts is padded by itself: at its end to whole instructions, or at its beginning
    to a whole tile of `residue` products."""
    length = K if tile is None else -(-K // (S * tile)) * tile
    parts = []
    for first in range(0, K, length):
        mine = list(range(first, min(first + length, K)))
        if residue is not None:
            head = len(mine) % residue
            mine = mine[:head] + [ABSENT] * (residue - head if head else 0) + mine[head:]
        while len(mine) % k:
            mine.append(ABSENT)
        number, width = stripes or (1, len(mine))
        accumulators = [
            [product for at, product in enumerate(mine) if at // width % number == stripe] for stripe in range(number)
        ]
        parts.append([[one[at : at + k] for at in range(0, len(one), k)] for one in accumulators if one])
    return Walk(parts)


def _real(places: list[int], K: int, block: Sequence[int] | None) -> list[int]:
    """The products that stand in places of K, under the permutation of a block."""
    if block is not None:
        places = [place - place % len(block) + block[place % len(block)] for place in places]
    return [product if product < K else ABSENT for product in places]


def accumulated(model: Any, row: Any, instructions: list[list[int]], c: int) -> int:
    """One accumulator: instruction after instruction from c, d's code."""
    operation = model.operation
    size = operation.block_size
    one = None if size is None else operation.scale_format.encode(1)
    for products in instructions:
        a, b = ([0 if p == ABSENT else codes[p] for p in products] for codes in (row.a, row.b))
        scales: list[Any] = [(), ()]
        if size is not None:
            heads = products[::size]
            scales = [[one if p == ABSENT else codes[p // size] for p in heads] for codes in (row.scale_a, row.scale_b)]
        if getattr(model, "fp16_order", None):
            c = fp8_as_fp16_work(operation, model.a.name, model.b.name, a, b, c)
        else:
            c = twin.dot(operation, a, b, c, *scales)
            operation = operation.changed(c=operation.d.name)
    return c


def element(
    model: Any, row: Any, walk: Walk, *, split_sum: str = "fp32", output: str | None = None, starts_from_c: bool = True,
    part_order: Sequence[int] | None = None, stripe_tree: Any = None,
) -> int:  # fmt: skip
    """An element of D: stripes added, then parts, in fp32, with the roundings of `split_sum`.

    Args:
        part_order: numbers of parts in the order in which they are added. stripe_tree: pairs of pairs of numbers of
            stripes, each pair an addition.
    """
    d = model.operation.d.name
    output = output or d
    total = None
    for number in part_order or range(len(walk.parts)):
        part = walk.parts[number]
        started = [total is not None or not starts_from_c]

        def summed(stripe: int, part: Any = part, started: list[bool] = started) -> int:
            c = 0 if started[0] else row.c
            started[0] = True
            return widened(accumulated(model, row, part[stripe], c), d, "fp32")

        def added_up(tree: Any, summed: Any = summed) -> int:
            if isinstance(tree, int):
                return int(summed(tree))
            left = added_up(tree[0])
            return added(model, "fp32", left, added_up(tree[1]))

        if stripe_tree is not None:
            value = added_up(stripe_tree)
        else:
            value = summed(0)
            for stripe in range(1, len(part)):
                value = added(model, "fp32", value, summed(stripe))
        if split_sum == "workspace":
            value = through(model, value, output)
        total = value if total is None else added(model, "fp32", total, value)
        if split_sum == "in-place":
            total = through(model, total, output)
    assert total is not None
    return total


def through(model: Any, code: int, output: str) -> int:
    """A code of fp32 rounded to a format, and back in fp32."""
    return widened(rounded(model, code, output), output, "fp32")


def rounded(model: Any, code: int, output: str) -> int:
    """A code of fp32 as the nearest one of a format."""
    return narrowed(_Output(model, output), code, "fp32")


class _Output:
    """A model as `gemm_twin.narrowed` sees it, with the output's format for d."""

    def __init__(self, model: Any, output: str) -> None:
        self.operation = _Operation(model.operation.name, output)


class _Operation:
    def __init__(self, name: str, output: str) -> None:
        self.name = name
        self.d = type("Named", (), {"name": output})


def value(code: int) -> Fraction:
    """The number of a finite code of fp32."""
    number = decode("fp32", code)
    assert number.kind not in ("nan", "infinite"), number
    return number.value


def nearest(exact: Fraction) -> int:
    """RNE to fp32 of a number that is no zero."""
    return encode("fp32", exact, "RNE") if exact else 0


def epilogue(
    model: Any, total: int, steps: Sequence[str], alpha: Fraction, beta: Fraction, c: int, bias: int, out: str
) -> int:
    """A finite total after the steps, each rounded to fp32 once."""
    x = total
    for step in steps:
        match step:
            case "alpha":
                x = nearest(alpha * value(x))
            case "beta":
                x = nearest(beta * value(c) + value(x))
            case "alpha-beta":
                x = nearest(alpha * value(x) + value(nearest(beta * value(c))))
            case "bias":
                x = nearest(value(x) + value(bias))
            case "output":
                x = through(model, x, out)
    return rounded(model, x, out)
