"""Features of an arithmetic for the probe: each is the set of questions that shows it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from golden.stimulus import CORNERS, GeneratorDraws, Operands, OperandShape
from golden.stimulus.placed_products import lead_range

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
