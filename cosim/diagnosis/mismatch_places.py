"""Finds where mismatches are, whatever the arithmetic.

`place_of`: in one element, row or column of the results. `lane_of`: where one lane has operands of one class. `moved`: the
right values at wrong places, those of some vectors earlier or later, or of another element. `late_operand`: one operand is
that of another vector, as if it took more or fewer cycles than the others.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cosim.bench.mismatch import ComparedRow
from golden import Format, Instruction, Unit
from golden.arrays import bits_dtype
from golden.comparison import differing
from golden.variants import Codes, Model, Rows
from golden.variants.variant import is_infinity, is_nan, is_subnormal, is_zero

FARTHEST = 16
"""Largest shift that is tried (vectors)."""

SHARE = 0.9
"""Smallest share of the mismatches that a shift explains: pauses and resets break a few."""

DISTINCT = 8
"""Smallest number of different results that a shift must explain: a constant result is no shift."""


@dataclass(frozen=True)
class Shift:
    """A shift of all results.

    Attributes:
        vectors: number of vectors by which each result was expected earlier; negative where it was expected later.
        explained: mismatches that the shift explains. mismatches: mismatches for which the other vector is known.
        right: results that are right and that the shift would make wrong.
    """

    vectors: int
    explained: int
    mismatches: int
    right: int = 0

    def text(self, latency: int | None) -> str:
        """The shift as a sentence.

        Args:
            latency: the design's latency by its description (cycles), None where results have a valid signal.
        """
        count = abs(self.vectors)
        far = "a vector" if count == 1 else f"{count} vectors"
        when = "earlier" if self.vectors > 0 else "later"
        each = "each" if self.is_of_all else "each wrong"
        found = f"{each} result equals the one expected {far} {when} ({self.explained:,} of {self.mismatches:,} mismatches)"
        if not self.is_of_all:
            return f"{found}; {self.right:,} others sampled are right"
        if latency is None or latency + self.vectors < 0:
            return found
        return f"{found}: the latency is {latency + self.vectors}, not {latency}"

    @property
    def is_of_all(self) -> bool:
        """Whether the shift holds for hardly fewer results than all."""
        return self.right <= (1 - SHARE) * (self.right + self.explained)


def shift_of(differing: Sequence[ComparedRow], agreeing: Sequence[ComparedRow]) -> Shift | None:
    """The smallest shift that explains the mismatches; None if there is none."""
    expected = {(row.vector, row.place): row.expected for row in (*differing, *agreeing)}
    wrong = {row.place for row in differing}
    for vectors in sorted({*range(-FARTHEST, FARTHEST + 1)} - {0}, key=abs):
        others = [(row.got, expected.get((row.vector - vectors, row.place))) for row in differing]
        known = [(got, other) for got, other in others if other is not None]
        same = [got for got, other in known if got == other]
        if len(known) >= len(differing) // 2 and len(same) > SHARE * len(known) and len(set(same)) >= DISTINCT:
            there = [(row, expected.get((row.vector - vectors, row.place))) for row in agreeing if row.place in wrong]
            right = sum(other is not None and row.got != other for row, other in there)
            return Shift(vectors, len(same), len(known), right)
    return None


def moved(differing: Sequence[ComparedRow], agreeing: Sequence[ComparedRow]) -> str | None:
    """The order in which the elements of all results arrive, as a sentence; None where no other order explains the
    mismatches."""
    expected = {(row.vector, row.place): row.expected for row in (*differing, *agreeing)}
    places = sorted({row.place for row in (*differing, *agreeing)}, key=_indices)
    for words, order in _orders(places):
        wrong, right = (
            [(row.got, expected.get((row.vector, order[row.place]))) for row in rows if order[row.place] != row.place]
            for rows in (differing, agreeing)
        )
        known = [(got, other) for got, other in wrong if other is not None]
        same = {got for got, other in known if got == other}
        is_of_all = len(known) == sum(got == other for got, other in known) and len(wrong) == len(differing)
        if is_of_all and len(same) >= DISTINCT and all(other in (None, got) for got, other in right):
            return f"{words}: it explains {len(known):,} of {len(known):,} mismatches whose other element is known"
    return None


def _indices(place: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", place)]


def _orders(places: Sequence[str]) -> Iterator[tuple[str, Mapping[str, str]]]:
    """The orders that are tried: for each place the one whose result it shows."""
    at = {tuple(_indices(place)): place for place in places}
    if len(at) != len(places) or len(places) < 2:
        return
    if all(len(index) == 2 and (index[1], index[0]) in at for index in at):
        yield "the rows and columns of d are exchanged", {place: at[j, i] for (i, j), place in at.items()}
    yield "the elements of d are in reverse order", dict(zip(places, reversed(places), strict=True))
    if len(places) > 2:
        yield "the elements of d are rotated by one", dict(zip(places, [*places[1:], places[0]], strict=True))
        yield (
            "the elements of d are rotated by one the other way",
            dict(zip(places, [places[-1], *places[:-1]], strict=True)),
        )
    if len(places) > 2 and len(places) % 2 == 0:
        pairs = [places[number ^ 1] for number in range(len(places))]
        yield "neighbours of d are exchanged", dict(zip(places, pairs, strict=True))


FARTHEST_OPERAND = 4
"""Largest distance (vectors) of another vector whose operand is tried."""

LEAST = 0.7
"""Smallest share of the mismatches that the other operand must explain. The rest may lie in a pause of the stream, where an
operand belongs to no vector."""

PROBE = 24
"""Mismatches on which every operand is tried first."""

OPERANDS = (("a",), ("b",), ("c",), ("scale_a",), ("scale_b",), ("a", "b"))


def late_operand(model: Unit | Instruction, wrong: Sequence[ComparedRow], agreeing: Sequence[ComparedRow]) -> str | None:
    """The operand that comes from another vector, as a sentence; None where no single one explains the mismatches.

    Args:
        wrong: rows that differ. agreeing: rows that do not.
    """
    wrong, agreeing = ([row for row in rows if isinstance(row.got, int)] for rows in (wrong, agreeing))
    at = {(row.vector, row.place): row for row in (*wrong, *agreeing)}
    if not wrong:
        return None
    K = len(wrong[0].a)
    of_unit = Model.of(model, K)
    for far in sorted({*range(-FARTHEST_OPERAND, FARTHEST_OPERAND + 1)} - {0}, key=abs):
        for names in OPERANDS:
            if getattr(wrong[0], names[0]) is None:
                continue

            def agree(rows: Sequence[ComparedRow], far: int = far, names: tuple[str, ...] = names) -> tuple[Any, int]:
                """For which rows the results are right with the other operand; how many have one that is known."""
                pairs = [(row, at[key]) for row in rows if (key := (row.vector - far, row.place)) in at]
                if not pairs:
                    return np.zeros(0, bool), 0
                mixed = rows_of(
                    of_unit, [replace(row, **{name: getattr(other, name) for name in names}) for row, other in pairs], K
                )
                return ~differing(of_unit.results(mixed), mixed.got, of_unit.operation), len(pairs)

            same, known = agree(wrong[:PROBE])
            if same.sum() <= LEAST / 2 * known:
                continue
            (same, known), (kept, sampled) = agree(wrong), agree(agreeing)
            if known >= max(DISTINCT, len(wrong) // 2) and same.sum() > LEAST * known and kept.sum() >= LEAST * sampled:
                words = " and ".join(names)
                which = f"{abs(far)} vector{'s' if abs(far) > 1 else ''} {'before' if far > 0 else 'after'}"
                verb = "are those" if len(names) > 1 else "is that"
                return f"{words} {verb} of {which} ({int(same.sum()):,} of {known:,} mismatches)"
    return None


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
