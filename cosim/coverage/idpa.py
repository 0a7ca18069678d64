"""Covergroups of operations on integers: operands, products, and their sum relative to both ends of the range."""

from collections.abc import Callable
from itertools import product as pairs
from typing import Any

import numpy as np

from cosim.coverage.covergroup import Covergroup, IntArray, Point, Reason, Seen, chosen, reachable
from cosim.coverage.shapes import Kind, SumShape
from cosim.coverage.sums import cancellation_group, sign_group
from golden import Operation
from golden.arithmetic.formats import IntegerFormat
from golden.stimulus.integer_classes import numbers

CLASSES = ("0", "1", "-1", "largest", "smallest", "other positive", "other negative")
"""Classes of an integer; the smallest one of an unsigned format is its 0."""

SIGNS = ("0 of a", "0 of b", "0 of both", "plus times plus", "plus times minus", "minus times plus", "minus times minus")


def integer_groups(operation: Any, steps: int) -> list[Covergroup]:
    """Every covergroup of IDPA."""
    L = operation.L
    a, b, c = (_integer(each) for each in (operation.a, operation.b, operation.c))
    sums = _sum_shape(operation, a, b)
    groups = [
        class_group("a", a, L, lambda seen: _numbers(seen)[0]),
        class_group("b", b, L, lambda seen: _numbers(seen)[1]),
        class_group("c", c, 1, lambda seen: _numbers(seen)[2][:, :1, None]),
        *([step_group(c, steps)] if steps > 1 else []),
        product_sign_group(a, b, L),
        extreme_group(a, b, L),
        size_group(operation, a, b),
        sign_group(sums),
        cancellation_group(sums),
        range_group(operation, a, b, c),
        class_group("d", c, 1, lambda seen: numbers(c, seen.records.d)[:, :, None]),
    ]
    return [_without_negative_products(group, a, b) if group.name == "products and c: signs" else group for group in groups]


def _integer(operand: object) -> IntegerFormat:
    assert isinstance(operand, IntegerFormat)
    return operand


def _sum_shape(operation: Operation, a: IntegerFormat, b: IntegerFormat) -> SumShape:
    """The sum as a shape. The bits of c that can cancel are those of the sum of all largest products, and one more."""
    L = operation.length
    largest = max(abs(x * y) for x, y in pairs((a.lowest, a.max_finite), (b.lowest, b.max_finite)))
    product = Kind("product", "products", L, 0, 0, 0, None, largest.bit_length() - 1)
    deepest = (L * largest + 1).bit_length() - 1
    c = Kind("c", "c", 1, 0, 0, 0, None, deepest - (L == 1))  # of two terms one bit more can cancel
    return SumShape("products and c", (0,), (0,), (product, c))


def _numbers(seen: Seen) -> tuple[IntArray, IntArray, IntArray]:
    """a and b [rows, steps, L], and c of each step [rows, steps]."""
    a, b, c = (numbers(_integer(operand), codes) for operand, codes in seen.codes)
    return a, b, c


def _combined(operation: Any, x: IntArray, y: IntArray) -> IntArray:
    """The amount that the operation adds for each pair."""
    found: IntArray = x * y if operation.combination == "multiply" else x ^ y
    return found


def _classes(operand: IntegerFormat, values: IntArray) -> IntArray:
    """The index of each value's class in `CLASSES`."""
    largest, smallest = values == operand.max_finite, values == operand.lowest
    return chosen(values == 0, values == 1, values == -1, largest, smallest, values > 0, values < 0)


def _not_in_format(operand: IntegerFormat, cls: str) -> Reason:
    if operand.max_finite == 1 and cls in ("largest", "other positive"):
        return f"the largest {operand} is 1"
    if operand.signed or cls not in ("-1", "other negative", "smallest"):
        return None
    return f"the smallest {operand} is 0" if cls == "smallest" else f"{operand} has no sign"


def class_group(name: str, operand: IntegerFormat, places: int, found: Callable[[Seen], IntArray]) -> Covergroup:
    """The class of an operand, in each place."""
    where = Point("place", tuple(f"{name}[{k}]" if places > 1 else name for k in range(places)))
    return Covergroup(
        f"class of {name}",
        (where, Point("class", CLASSES)),
        lambda seen: (np.arange(places), _classes(operand, found(seen))),
        lambda _, cls: _not_in_format(operand, cls),
    )


def step_group(c: IntegerFormat, steps: int) -> Covergroup:
    """The class of c at the first, a middle and the last step of a chain."""
    names = ("first step", "middle step", "last step")

    def sample(seen: Seen) -> tuple[IntArray, IntArray]:
        which = np.ones(steps, np.int64)
        which[0], which[-1] = 0, 2
        return which, _classes(c, _numbers(seen)[2])

    def unreachable(step: str, _: str) -> Reason:
        return "a chain of two steps has none between" if step == "middle step" and steps < 3 else None

    return Covergroup("c of each step", (Point("step", names), Point("class of c", CLASSES)), sample, unreachable)


def _place(L: int) -> Point:
    return Point("product", tuple(f"product {k}" for k in range(L)))


def product_sign_group(a: IntegerFormat, b: IntegerFormat, L: int) -> Covergroup:
    """The covergroup of the zero factors of each product, or else of the signs of both factors."""

    def sample(seen: Seen) -> tuple[IntArray, IntArray]:
        x, y, _ = _numbers(seen)
        signs = [(x > 0) & (y > 0), (x > 0) & (y < 0), (x < 0) & (y > 0), (x < 0) & (y < 0)]
        which = chosen((x == 0) & (y == 0), x == 0, y == 0, *signs)
        return np.arange(L), np.array([2, 0, 1, 3, 4, 5, 6])[which]

    def unreachable(_: str, signs: str) -> Reason:
        for operand, minus in ((a, signs.startswith("minus")), (b, signs.endswith("minus"))):
            if minus and not operand.signed:
                return f"{operand} has no sign"
        return None

    return Covergroup("signs of each product", (_place(L), Point("factors", SIGNS)), sample, unreachable)


def extreme_group(a: IntegerFormat, b: IntegerFormat, L: int) -> Covergroup:
    """Both ends of a with both ends of b, in each product."""
    names = tuple(f"{x} a, {y} b" for x, y in pairs(("smallest", "largest"), repeat=2))

    def sample(seen: Seen) -> tuple[IntArray, IntArray]:
        x, y, _ = _numbers(seen)
        ends = pairs((a.lowest, a.max_finite), (b.lowest, b.max_finite))
        return np.arange(L), chosen(*((x == of_a) & (y == of_b) for of_a, of_b in ends))

    return Covergroup("ends of each product", (_place(L), Point("factors", names)), sample, reachable)


def size_group(operation: Any, a: IntegerFormat, b: IntegerFormat) -> Covergroup:
    """The covergroup of the place of each product's leading one, and of its sign."""
    bits = a.width + b.width
    names = tuple(f"leading one at bit {bit}" for bit in range(bits))

    def sample(seen: Seen) -> tuple[IntArray, IntArray, IntArray]:
        x, y, _ = _numbers(seen)
        product = _combined(operation, x, y)
        lead = np.frexp(np.abs(product).astype(np.float64))[1] - 1  # −1 of zero
        return np.arange(operation.L), lead, (product < 0).astype(np.int64)

    def unreachable(_: str, name: str, sign: str) -> Reason:
        ends = [x * y for x, y in pairs((a.lowest, a.max_finite), (b.lowest, b.max_finite))]
        largest = max(max(ends) if sign == "+" else -min(ends), 0)
        if names.index(name) < largest.bit_length():
            return None
        return f"no product is beyond {max(ends) if sign == '+' else min(min(ends), 0)}"

    points = (_place(operation.L), Point("magnitude", names), Point("sign", ("+", "-")))
    return Covergroup("size of each product", points, sample, unreachable)


def _without_negative_products(group: Covergroup, a: IntegerFormat, b: IntegerFormat) -> Covergroup:
    """The signs of the terms; all products may be zero."""

    def unreachable(products: str, _: str) -> Reason:
        negative = products in ("minus", "both signs")
        return _no_negative_product(a, b) if negative else None

    return Covergroup(group.name, group.points, group.sample, unreachable)


def _no_negative_product(a: IntegerFormat, b: IntegerFormat) -> Reason:
    return None if a.signed or b.signed else f"products of {a} and {b} have no sign"


def range_group(operation: Any, a: IntegerFormat, b: IntegerFormat, c: IntegerFormat) -> Covergroup:
    """The exact sum compared with both ends of the range: it reaches an end exactly, misses it by one, or exceeds it by some
    amount."""
    names = (
        "far below the smallest", "one below the smallest", "the smallest", "one above the smallest", "negative", "0",
        "positive", "one below the largest", "the largest", "one above the largest", "far above the largest",
    )  # fmt: skip
    lowest, largest = c.lowest, c.max_finite
    edges = (lowest - 1, lowest, lowest + 1, lowest + 2, 0, 1, largest - 1, largest, largest + 1, largest + 2)

    def sample(seen: Seen) -> tuple[IntArray]:
        x, y, z = _numbers(seen)
        return (np.searchsorted(edges, _combined(operation, x, y).sum(axis=-1) + z, side="right"),)

    def unreachable(name: str) -> Reason:
        return _no_negative_product(a, b) if name.endswith("below the smallest") else None

    return Covergroup("range of the sum", (Point("exact sum", names),), sample, unreachable)
