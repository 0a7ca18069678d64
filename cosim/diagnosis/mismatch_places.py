"""Finds where mismatches are: in one element, row or column of the results, or where one lane has operands of one class."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cosim.bench.mismatch import ComparedRow
from golden import Format
from golden.arrays import bits_dtype
from golden.comparison import differing
from golden.variants import Codes, Model, Rows
from golden.variants.variant import is_infinity, is_nan, is_subnormal, is_zero


def rows_of(model: Model, compared: Sequence[ComparedRow], K: int) -> Rows:
    """Compared rows of K products as arrays. The results of these rows must have defined bits."""
    operation = model.operation
    scale = operation.scale_format

    def scales(pick: Callable[[ComparedRow], tuple[int, ...] | None]) -> Codes | None:
        if scale is None or operation.block_size is None:
            return None
        return np.array([pick(row) for row in compared], bits_dtype(scale)).reshape(-1, -(-K // operation.block_size))

    return Rows(
        a=np.array([row.a for row in compared], bits_dtype(model.a)).reshape(-1, K),
        b=np.array([row.b for row in compared], bits_dtype(model.b)).reshape(-1, K),
        c=np.array([row.c for row in compared], bits_dtype(operation.c)),
        scale_a=scales(lambda row: row.scale_a),
        scale_b=scales(lambda row: row.scale_b),
        got=np.array([row.got for row in compared], bits_dtype(operation.d)),
        expected=np.array([row.expected for row in compared], bits_dtype(operation.d)),
    )


CHANCE = 1e-3
"""Largest probability, by the rows that agreed, that all mismatches are at one place by chance, where it is named."""

CLASSES: dict[str, Callable[[Codes, Format], Any]] = {
    "zero": is_zero, "subnormal": is_subnormal, "infinite": is_infinity, "a NaN": is_nan,
}  # fmt: skip
"""The classes of operands that a lane may treat wrongly."""


@dataclass(frozen=True)
class Located:
    """A place that all mismatches share.

    Attributes:
        words: the place: "d[1][0]", "row 1 of d".
        mismatches: number of them. others: rows that agreed elsewhere.
    """

    words: str
    mismatches: int
    others: int
    places: frozenset[str]

    def text(self) -> str:
        """The place as a sentence."""
        return f"all {self.mismatches:,} mismatches are in {self.words}; elsewhere {self.others:,} rows sampled agree"


def place_of(mismatches: Sequence[ComparedRow], agreeing: Sequence[ComparedRow]) -> Located | None:
    """The single element, row or column of the results in which all mismatches are; None where there is no such place, or
    where this may be chance."""
    places = frozenset(row.place for row in (*mismatches, *agreeing))
    for words, inside in _regions(mismatches[0].place, places):
        if not all(row.place in inside for row in mismatches) or len(inside) == len(places):
            continue
        others = sum(row.place not in inside for row in agreeing)
        vectors = len({row.vector for row in mismatches})
        if others and (len(inside) / len(places)) ** (vectors - 1) <= CHANCE:
            return Located(words, len(mismatches), others, inside)
        return None
    return None


def _regions(first: str, places: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    """The element of the first mismatch, its row and its column, each with the places inside."""
    yield first, frozenset((first,))
    indices = {place: re.findall(r"\d+", place) for place in places}
    if len(indices[first]) == 2:
        for axis, name in enumerate(("row", "column")):
            number = indices[first][axis]
            yield f"{name} {number} of d", frozenset(p for p, at in indices.items() if len(at) == 2 and at[axis] == number)


def lane_of(model: Model, mismatches: Rows, agreeing: Rows) -> str | None:
    """The single lane whose operands are of one class in all mismatches, as a sentence; None where there is none, where
    several lanes are, where it may be chance, or where a row that agreed speaks against it: its lane is of that class too,
    and the result would be another one without the lane."""
    found = []
    for k in range(mismatches.a.shape[1]):
        for words, mask in CLASSES.items():
            wrong, right = (_of_class(model, rows, k, mask) for rows in (mismatches, agreeing))
            if not wrong.all() or not _is_no_chance(right, len(mismatches)):
                continue
            if not _decides(model, agreeing.of(np.flatnonzero(right)), k):
                found.append(f"all {len(mismatches):,} mismatches have lane {k} {words} (a[{k}] or b[{k}])")
    against = f"; no row of {len(agreeing):,} agreeing ones has, where the lane decides the result"
    return found[0] + against if len(found) == 1 else None


def _of_class(model: Model, rows: Rows, k: int, mask: Callable[[Codes, Format], Any]) -> Codes:
    found: Codes = mask(rows.a[:, k], model.a) | mask(rows.b[:, k], model.b)
    return found


def _is_no_chance(right: Codes, mismatches: int) -> bool:
    """Whether it is unlikely that this many rows, drawn like those that agreed, are all of the class."""
    share = (int(right.sum()) + 1) / (len(right) + 2)
    return bool(share**mismatches <= CHANCE)


def _decides(model: Model, rows: Rows, k: int) -> bool:
    """Whether the result of any row is another one without lane k."""
    if not len(rows):
        return False
    a, b = rows.a.copy(), rows.b.copy()
    a[:, k] = b[:, k] = 0
    without = model.results(replace(rows, a=a, b=b))
    return bool(differing(without, rows.expected, model.operation).any())
