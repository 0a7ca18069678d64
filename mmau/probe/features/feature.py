"""A feature of an arithmetic with the questions that show it, the rows that questions are made of, and the features that the
stimulus shows as it is: special values, the ends of the range, signs of zeros."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from golden.stimulus import CLASSES, CORNERS, GeneratorDraws, Operands, OperandShape
from golden.stimulus.codes import fractions, number, zeros
from golden.stimulus.placed_products import Products, lead_range, operands_of, window

Questions = Callable[[OperandShape, GeneratorDraws], Operands]

ASKED_FIRST = 4
"""One in this many of a feature's questions is asked at the beginning; all of them may later distinguish candidate
models."""


@dataclass(frozen=True)
class Feature:
    """A feature of an arithmetic, with the questions that show it.

    Attributes:
        name: the name of the feature.
        about: its questions, in one line.
        keys: the keys of units that the answers determine.
        questions: makes the questions from formats and lengths alone.
    """

    name: str
    about: str
    keys: tuple[str, ...]
    questions: Questions


def corner(name: str, cases: int) -> Questions:
    """At most `cases` cases of one of the stimulus' directed corners, spread over all of them."""

    def questions(shape: OperandShape, draws: GeneratorDraws) -> Operands:
        total = CORNERS[name].cases(shape)
        chosen = np.unique(np.linspace(0, total - 1, min(cases, total)).astype(np.int64))
        return CORNERS[name].make(shape, draws, chosen)

    return questions


def joined(*parts: Questions) -> Questions:
    """The questions of all parts."""

    def questions(shape: OperandShape, draws: GeneratorDraws) -> Operands:
        return concatenated([part(shape, draws) for part in parts])

    return questions


def concatenated(parts: Sequence[Operands]) -> Operands:
    """All rows of all parts, in order."""
    columns = zip(*parts, strict=True)
    return Operands(*(None if column[0] is None else np.concatenate(column) for column in columns))  # type: ignore[arg-type]


def spans(shape: OperandShape, limit: int) -> int:
    """How far the exponents of two products can lie apart, at most `limit`."""
    low, high = lead_range(shape)
    return min(limit, high - low)


def offsets(lengths: Sequence[int]) -> list[slice]:
    """The slice of each of several parts, given their lengths, in the array that joins them."""
    ends = list(accumulate(lengths))
    return [slice(end - length, end) for end, length in zip(ends, lengths, strict=True)]


def some_of(questions: Operands, draws: GeneratorDraws) -> Operands:
    """One in every `ASKED_FIRST` rows, drawn at random, in order."""
    rows = len(questions.c)
    order = np.argsort(draws.integers(0, 1 << 62, rows), kind="stable")
    return questions.rows(np.sort(order[: -(-rows // ASKED_FIRST)]))


def drawn(name: str, rows: int) -> Questions:
    """Rows of one of the stimulus' classes."""

    def questions(shape: OperandShape, draws: GeneratorDraws) -> Operands:
        return CLASSES[name](shape, draws, rows, ())

    return questions


def tiny_sums(shape: OperandShape, draws: GeneratorDraws) -> Operands:
    """No operand is zero, whose exponent would count, and all terms are about as small as the smallest results."""
    rows = 24
    low, high = lead_range(shape)
    lowest = shape.d.e_min - shape.d.man_bits
    top = np.clip(draws.integers(lowest - 4, shape.d.e_min + 8, rows), low, high)
    c = number(
        shape.c, draws.integers(0, 2, rows), np.maximum(top + draws.integers(-3, 4, rows), shape.c.e_min),
        fractions(draws, shape.c, (rows,)),
    )  # fmt: skip
    return operands_of(shape, draws, window(shape, draws, top, np.full(rows, 3)), c)


SUBNORMALS = Feature(
    "subnormals", "operands and results below the normal numbers", ("flush_inputs", "flush_results"),
    joined(corner("subnormal-results", 48), corner("c-sweep", 24), drawn("tiny", 32), tiny_sums),
)  # fmt: skip

OVERFLOW = Feature(
    "overflow", "sums and products at and beyond the largest number", ("overflow",),
    joined(corner("overflow", 40), drawn("huge", 32)),
)  # fmt: skip


ROWS = 48
"""Rows of each class of the stimulus."""


def questions(shape: OperandShape, draws: GeneratorDraws) -> Operands:
    """Rows of every class of the stimulus; rows of huge numbers lie around the ends of the range."""
    return concatenated(
        [drawn(name, ROWS)(shape, draws) for name in ("bits", "normal", "cancel", "specials", "tiny", "huge")]
    )


INTEGERS = Feature("integers", "sums inside the range of int32 and beyond it", ("L", "overflow"), questions)


MIXED = Feature(
    "mixed", "random rows of every class", (),
    joined(
        drawn("normal", 48), drawn("cancel", 48), drawn("bits", 24), corner("alignment-edge", 48),
        corner("cancellation", 24), corner("completed-products", 24), corner("cancelled-products", 24),
        corner("discrepancy", 2),
    ),
)  # fmt: skip


def zero_signs(shape: OperandShape, draws: GeneratorDraws) -> Operands:
    """Zeros of either sign alone, and products that cancel, on a c of zero of either sign."""
    rows = 24
    _, high = lead_range(shape)
    place = np.broadcast_to(np.arange(shape.K), (rows, shape.K))
    sign = np.where(np.arange(rows)[:, None] < 8, np.arange(rows)[:, None] & 1, draws.integers(0, 2, place.shape))
    cancel = (np.arange(rows)[:, None] >= 16) & (shape.K > 1)
    sign = np.where(cancel & (place < 2), place, sign)
    products = Products(np.full(place.shape, high - 2), sign, cancel & (place < 2))
    return operands_of(shape, draws, products, zeros(shape.c, draws.integers(0, 2, rows)))


SPECIAL_VALUES = Feature(
    "special values", "NaN, infinities and zeros in every place", (),
    joined(corner("special-operands", 40), corner("special-pairs", 16), zero_signs, drawn("specials", 32)),
)  # fmt: skip
