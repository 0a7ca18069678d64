"""The stream of rows for a shape and a seed: rounds in which every class and every corner has its share, in random order."""

from collections.abc import Iterator
from itertools import accumulate, pairwise

import numpy as np

from golden.checks import check_least, check_type
from golden.stimulus.classes import CLASSES
from golden.stimulus.codes import IntArray
from golden.stimulus.corners import CORNERS
from golden.stimulus.draws import GeneratorDraws
from golden.stimulus.shape import OperandShape, Stimulus, concatenated

ROUND_ROWS = 16384
"""Rows that are generated at once: enough that NumPy's call overhead does not count."""

NAMES = (*CLASSES, *CORNERS)
"""Every generator's name, in the order of `Stimulus.label`."""


def generate(shape: OperandShape, count: int, seed: int) -> Stimulus:
    """`count` rows: half of them in the six classes, half in the corners.

    The rows depend on shape, count and seed alone. From `complete_rows(shape)` on, every case of every corner is among them.

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
    pending: list[Stimulus] = []
    for start in range(0, count, ROUND_ROWS):
        pending.append(_round(shape, start, min(ROUND_ROWS, count - start), seed))
        ended = start + ROUND_ROWS >= count
        while sum(map(len, pending)) >= rows or (ended and pending):
            whole = concatenated(pending)
            yield whole.rows(slice(rows))
            pending = [whole.rows(slice(rows, None))] if len(whole) > rows else []


def complete_rows(shape: OperandShape) -> int:
    """A count from which on every case of every corner appears."""
    check_type("shape", shape, OperandShape)
    cases = [corner.cases(shape) for corner in CORNERS.values()]
    shares = _shares(shape, ROUND_ROWS)[len(CLASSES) :]
    rounds = max(-(-wanted // share) for wanted, share in zip(cases, shares, strict=True) if wanted)
    return 2 * sum(cases) if rounds == 1 else rounds * ROUND_ROWS


def _shares(shape: OperandShape, rows: int) -> list[int]:
    """How many of so many rows each generator makes: half of them go evenly to the classes, half to the corners, in
    proportion to their cases."""
    cases = [corner.cases(shape) for corner in CORNERS.values()]
    weights = [sum(cases)] * len(CLASSES) + [len(CLASSES) * n for n in cases]
    ends = [end * rows // sum(weights) for end in accumulate(weights)]
    return [end - start for start, end in pairwise([0, *ends])]


def _round(shape: OperandShape, start: int, rows: int, seed: int) -> Stimulus:
    """The round that begins at row `start`, a multiple of ROUND_ROWS."""
    number = start // ROUND_ROWS
    shares_before = [number * share for share in _shares(shape, ROUND_ROWS)]
    parts = []
    for label, (name, share) in enumerate(zip(NAMES, _shares(shape, rows), strict=True)):
        if not share:
            continue
        draws = GeneratorDraws(np.random.default_rng(np.random.SeedSequence([seed, label, number])))
        if name in CLASSES:
            operands = CLASSES[name](shape, draws, share, ())
        else:
            cases = _cases(seed, label, CORNERS[name].cases(shape), shares_before[label], share)
            operands = CORNERS[name].make(shape, draws, cases)
        parts.append(Stimulus(operands, np.full(share, label, np.uint8), NAMES))
    order = np.random.default_rng(np.random.SeedSequence([seed, len(NAMES), number])).permutation(rows)
    return concatenated(parts).rows(order)


def _cases(seed: int, label: int, cases: int, start: int, rows: int) -> IntArray:
    """The next cases of an endless walk through all of them, each pass in the same random order."""
    order = np.random.default_rng(np.random.SeedSequence([seed, label])).permutation(cases)
    walk: IntArray = order[np.arange(start, start + rows) % cases]
    return walk
