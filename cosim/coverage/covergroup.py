"""Covergroups: properties of samples that are crossed, with a bin for each combination of their values.

A `Covergroup` counts the samples in each bin, and gives the reason for each bin that no operands can reach. `Seen` has what
samples are taken from: rows of operands, with their classes and the native engine's records of their steps.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cosim.coverage.shapes import SumShape
from golden import Operation
from golden.arithmetic.formats import Format
from golden.chains.chain import Chain, steps_for
from golden.comparison import is_nan
from golden.native.observe import Observation, SumFlag, TermFlag, observe
from golden.stimulus import Operands

IntArray = npt.NDArray[Any]

CLASSES = ("+0", "-0", "+subnormal", "-subnormal", "+normal", "-normal", "+infinity", "-infinity", "NaN")
"""The classes of a code, by the index that `classes` gives."""

ZERO, SUBNORMAL, NORMAL, INFINITE, NAN = 0, 2, 4, 6, 8
"""The index in `CLASSES` of each positive class. The negative class follows; NaN has none."""


def classes(operand: Format, codes: IntArray) -> IntArray:
    """The index in `CLASSES` of each code."""
    codes = codes.astype(np.uint64)
    mask = np.uint64((1 << operand.exp_bits + operand.man_bits) - 1)
    field = codes >> np.uint64(operand.pad_bits) & mask
    exponent = field >> np.uint64(operand.man_bits)
    sign = codes >> np.uint64(operand.width - 1) & np.uint64(1) if operand.signed else np.zeros_like(codes)
    magnitude = np.full(codes.shape, NORMAL, np.int8)
    if operand.subnormals:
        magnitude[exponent == 0] = SUBNORMAL
    if operand.has_zero:
        magnitude[field == 0] = ZERO
    if operand.infinity is not None:
        magnitude[field == operand.infinity >> operand.pad_bits] = INFINITE
    found = magnitude + sign.astype(np.int8)
    if operand.nan is not None:
        found[is_nan(codes, operand)] = NAN
    return found


class Terms(NamedTuple):
    """The terms of a sum and of its equals, one sample per row: arrays [samples, terms], valid where the sum was made.

    Attributes:
        gap: see `golden.native.observe.TERM`. nonzero, negative, cut, gone: the flags of `TERM`.
        made, something, zero: flags of each sum [samples], see `SumFlag`; zero: whether the total is zero.
        depth: how far the leading one of the total lies below the largest of an aligned term (bits).
        e_max: exponent value to which terms were aligned [samples].
    """

    gap: IntArray
    nonzero: IntArray
    negative: IntArray
    cut: IntArray
    gone: IntArray
    made: IntArray
    something: IntArray
    zero: IntArray
    depth: IntArray
    e_max: IntArray


class Seen:
    """Rows of operands, and what the native engine's general path says of their steps.

    Args:
        operation: the unit's operation. K: products of a row.
        operands: the operands of the rows.

    Raises:
        ValueError: the native engine is not installed.
    """

    def __init__(self, operation: Operation, operands: Operands) -> None:
        K = operands.a.shape[1]
        self.operation = steps_for(operation, K)
        self._operands = operands
        self.records: Observation = observe(Chain(self.operation), *operands)
        self.steps = K // self.operation.length
        self._terms: dict[str, Terms] = {}

    @cached_property
    def a(self) -> IntArray:
        """Class of each element of a [rows, steps, L]."""
        return self._elements(self.operation.a, self._operands.a)

    @cached_property
    def b(self) -> IntArray:
        """Class of each element of b [rows, steps, L]."""
        return self._elements(self.operation.b, self._operands.b)

    @cached_property
    def c(self) -> IntArray:
        """Class of c of each step [rows, steps], as a step takes it."""
        later = classes(self.operation.d, self.records.c)
        later[:, 0] = classes(self.operation.c, self.records.c[:, 0])
        return later

    @cached_property
    def d(self) -> IntArray:
        """Class of d of each step [rows, steps]."""
        return classes(self.operation.d, self.records.d)

    @property
    def codes(self) -> tuple[tuple[Format, IntArray], ...]:
        """Formats and codes of a and b [rows, steps, L] and of c of each step [rows, steps]."""
        operation, operands = self.operation, self._operands
        shape = (len(operands.c), self.steps, operation.length)
        a, b = operands.a.reshape(shape), operands.b.reshape(shape)
        return (operation.a, a), (operation.b, b), (operation.c, self.records.c)

    @cached_property
    def scales(self) -> tuple[IntArray, IntArray]:
        """Codes of both scales of each step [rows, steps, scales of a step]."""
        found = []
        for codes in (self._operands.scale_a, self._operands.scale_b):
            assert codes is not None
            assert self.operation.block_size is not None
            starts = np.arange(self.steps) * self.operation.length // self.operation.block_size
            found.append(codes[:, starts[:, None] + np.arange(self.operation.scales_per_step)])
        return found[0], found[1]

    def blocks(self) -> IntArray:
        """The index of the scale that each product of a step has [L]."""
        assert self.operation.block_size is not None
        return np.minimum(np.arange(self.operation.length) // self.operation.block_size, self.operation.scales_per_step - 1)

    def terms(self, shape: SumShape) -> Terms:
        """The terms of a sum."""
        found = self._terms.get(shape.name)
        if found is None:
            found = self._terms[shape.name] = self._gathered(shape)
        return found

    def flags(self, roundings: Sequence[int]) -> IntArray:
        """Flags of roundings, those of all rows and steps in one dimension."""
        return self.records.roundings["flags"][:, :, list(roundings)].reshape(-1)

    def leads(self, roundings: Sequence[int]) -> IntArray:
        """Exponents of the leading ones of what was rounded."""
        return self.records.roundings["lead"][:, :, list(roundings)].reshape(-1)

    def _elements(self, operand: Format, codes: IntArray) -> IntArray:
        return classes(operand, codes).reshape(len(codes), self.steps, self.operation.length)

    def _gathered(self, shape: SumShape) -> Terms:
        places = np.array(shape.terms)[:, None] + np.arange(shape.count)
        terms = self.records.terms[:, :, places].reshape(-1, shape.count)
        sums = self.records.sums[:, :, list(shape.sums)].reshape(-1)
        made = sums["flags"] & SumFlag.MADE != 0
        terms, sums = terms[made], sums[made]
        flags = terms["flags"]
        return Terms(
            gap=terms["gap"].astype(np.int32),
            nonzero=flags & TermFlag.NONZERO != 0,
            negative=flags & TermFlag.NEGATIVE != 0,
            cut=flags & TermFlag.CUT != 0,
            gone=flags & TermFlag.GONE != 0,
            made=made,
            something=sums["flags"] & SumFlag.OF_SOMETHING != 0,
            zero=sums["flags"] & SumFlag.NONZERO == 0,
            depth=sums["largest"].astype(np.int32) - sums["lead"],
            e_max=sums["e_max"].astype(np.int32),
        )


Reason = str | None
"""Why a bin cannot be hit; None where it can."""


@dataclass(frozen=True)
class Point:
    """A property of each sample, which has one of several values.

    Attributes:
        name: the property, in words. values: its possible values, in the order of their indices.
    """

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Covergroup:
    """A cross of points: a bin for each combination of their values.

    Attributes:
        name: the name of the group, unique in its model.
        points: the points that are crossed.
        sample: for each point an array of indices into its values, −1 where a sample has none; their shapes are broadcast
            against each other.
        unreachable: function of one value of each point that returns why no operands can give them together.
    """

    name: str
    points: tuple[Point, ...]
    sample: Callable[[Seen], Sequence[IntArray]]
    unreachable: Callable[..., Reason]

    @cached_property
    def combinations(self) -> list[tuple[str, ...]]:
        """The values of every bin."""
        return list(product(*(point.values for point in self.points)))

    @cached_property
    def bins(self) -> list[str]:
        """The names of the bins."""
        return [", ".join(values) for values in self.combinations]

    @cached_property
    def reasons(self) -> list[Reason]:
        """Why each bin cannot be hit, None where it can."""
        return [self.unreachable(*values) for values in self.combinations]

    def count(self, seen: Seen) -> IntArray:
        """How many samples fall into each bin."""
        indices = np.broadcast_arrays(*self.sample(seen))
        flat = np.zeros(indices[0].shape, np.int64)
        inside = np.ones(indices[0].shape, np.bool_)
        for index, point in zip(indices, self.points, strict=True):
            flat = flat * len(point.values) + index
            inside &= index >= 0
        return np.bincount(flat[inside], minlength=len(self.bins))


def reachable(*_: str) -> Reason:
    """The reason of a group whose bins can all be hit: always None."""
    return None


def chosen(*conditions: Any) -> IntArray:
    """The number of the first condition that holds, −1 where none does."""
    return np.select(conditions, list(range(len(conditions))), -1)
