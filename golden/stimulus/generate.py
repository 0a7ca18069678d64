"""The stream of rows for a shape and a seed: rounds, half of whose rows are from the classes and half from the corners."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from golden.checks import check_int, check_least, check_type
from golden.stimulus.built_sums import built, inner_shape
from golden.stimulus.classes import CLASSES
from golden.stimulus.codes import GeneratorDraws, IntArray
from golden.stimulus.corners import CORNERS
from golden.stimulus.shape import OperandShape, Stimulus, concatenated, fitted

ROUND_ROWS = 16384
"""Number of rows generated at once; so many that NumPy's overhead per call does not count."""

NAMES = (*CLASSES, *CORNERS)
"""Every generator's name, in the order of `Stimulus.label`."""

ORDER = 38
"""Seed number for the order of the rows, among those of the generators. It is fixed, so that a new corner changes no other
corner's rows."""


def generate(shape: OperandShape, count: int, seed: int) -> Stimulus:
    """Generate `count` rows: half of them in the six classes, half in the corners.

    The rows depend on shape, count and seed alone. The corners' rows go through all cases of level 1 in random order, then
    through those of level 2, then begin again: from `complete_rows(shape, level)` on, every case of a level is among them.
    If products can take the place of c (`built_sums`), the cases of a step with such a c are among them too.

    Raises:
        TypeError: another type. ValueError: a count below 1, or a negative seed.
    """
    return concatenated(list(chunks(shape, count, seed, count)))


def chunks(shape: OperandShape, count: int, seed: int, rows: int) -> Iterator[Stimulus]:
    """The rows of `generate(shape, count, seed)` in order, `rows` at a time (the last chunk may be shorter).

    Raises:
        TypeError: another type. ValueError: a count or rows below 1, or a negative seed.
    """
    check_type("shape", shape, OperandShape)
    for what, value, least in (("count", count, 1), ("rows", rows, 1), ("seed", seed, 0)):
        check_least(what, value, least)
    if shape.carried is not shape:
        for chunk in chunks(shape.carried, count, seed, rows):
            yield replace(chunk, operands=chunk.operands._replace(**shape.coded(*chunk.operands[:3])))
        return
    walk = _walk(shape, seed)
    pending: list[Stimulus] = []
    for start in range(0, count, ROUND_ROWS):
        pending.append(_round(shape, start, min(ROUND_ROWS, count - start), seed, walk))
        ended = start + ROUND_ROWS >= count
        while sum(map(len, pending)) >= rows or (ended and pending):
            whole = concatenated(pending)
            yield whole.rows(slice(rows))
            pending = [whole.rows(slice(rows, None))] if len(whole) > rows else []


def complete_rows(shape: OperandShape, level: int = 2) -> int:
    """The smallest count at which every case of every corner of a level appears.

    Raises:
        TypeError: another type. ValueError: a level that is neither 1 nor 2.
    """
    check_type("shape", shape, OperandShape)
    check_int("level", level, 1, 2)
    shapes = [of for of in (shape.carried, inner_shape(shape.carried)) if of is not None]
    return 2 * sum(corner.directed(of) if level == 1 else corner.cases(of) for corner in CORNERS.values() for of in shapes)


def _walk(shape: OperandShape, seed: int) -> IntArray:
    """All cases of all corners, (label, case, whether of the inner shape) each [3, cases]: those of level 1 first, both
    levels in random order."""
    rng = np.random.default_rng(np.random.SeedSequence([seed, ORDER]))
    levels: tuple[list[IntArray], list[IntArray]] = ([], [])
    for is_built, of in enumerate((shape, inner_shape(shape))):
        for label, name in enumerate(NAMES):
            if name in CORNERS and of is not None:
                directed, cases = CORNERS[name].directed(of), CORNERS[name].cases(of)
                for level, case in zip(levels, (np.arange(directed), np.arange(directed, cases)), strict=True):
                    level.append(np.stack([np.full(len(case), label), case, np.full(len(case), is_built)]))
    return np.concatenate([rng.permutation(np.concatenate(level, axis=1), axis=1) for level in levels], axis=1)


def _round(shape: OperandShape, start: int, rows: int, seed: int, walk: IntArray) -> Stimulus:
    """The round that begins at row `start`, a multiple of ROUND_ROWS."""
    number, of_corners = start // ROUND_ROWS, rows // 2
    labels, cases, is_built = walk[:, np.arange(start // 2, start // 2 + of_corners) % walk.shape[1]]
    ends = [(rows - of_corners) * (n + 1) // len(CLASSES) for n in range(len(CLASSES))]
    of_class = dict(zip(CLASSES, (end - begin for begin, end in pairwise([0, *ends])), strict=True))
    parts = []
    for label, name in enumerate(NAMES):
        draws = GeneratorDraws(np.random.default_rng(np.random.SeedSequence([seed, label + (label >= ORDER), number])))
        case, inside = (cases[(labels == label) & (is_built == of)] for of in (0, 1))
        made = []
        if of_class.get(name):
            made.append(CLASSES[name](shape, draws, of_class[name], ()))
        if len(case):
            made.append(CORNERS[name].make(shape, draws, case))
        if len(inside):
            made.append(built(shape, draws, CORNERS[name], inside))
        for operands in made:
            operands = fitted(shape, operands, as_products=name != "bits")
            parts.append(Stimulus(operands, np.full(len(operands.c), label, np.uint8), NAMES))
    order = np.random.default_rng(np.random.SeedSequence([seed, ORDER, number])).permutation(rows)
    return concatenated(parts).rows(order)
