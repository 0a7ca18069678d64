"""The smallest row of operands that still fails: a search asks, for many rows at once, which simpler rows fail too.

The caller defines what fails: a design that differs from its model, a device, two models that differ, an arithmetic that
lacks a property. The search yields rows and takes their verdicts, so that a simulation may await them:

>>> from golden.formats import FP16, FP32
>>> from golden.stimulus import OperandShape, Row
>>> shape = OperandShape(a=FP16, b=FP16, c=FP32, d=FP32, K=2)
>>> smallest(Row((0x3D55, 0x4155), (0x4155, 0xC000), 0x42F60000), shape, lambda rows: [row.b[1] >> 15 for row in rows])
Row(a=(0, 0), b=(0, 32768), c=0, scale_a=(), scale_b=())
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any

import numpy.typing as npt

from golden.simpler_rows import cost, rows_one_change_away, rows_two_changes_away, rows_with_fewer_terms, together
from golden.stimulus.row import Row, operands_of, rows_of
from golden.stimulus.shape import Operands, OperandShape

MAX_ASKED = 20_000
"""Largest number of rows that one search asks for."""

BATCH = 512
"""Largest number of rows that a search asks for at once."""

NEAR = (rows_with_fewer_terms, rows_one_change_away, rows_two_changes_away)
"""Generators of simpler rows, in the order in which a round tries them; the round ends with the first generator that has a
failing row."""

Search = Generator[Sequence[Row], Iterable[Any], Row]
"""A search as a generator: it yields batches of rows (at least one row), is sent for each row whether it fails, and returns
the smallest row found."""


def search(row: Row, shape: OperandShape) -> Search:
    """A search for the smallest row that fails: fewest terms that are not zero, then simplest values.

    In each round the simpler rows are asked for, the simplest first, until some of a batch fail. The simplest of these is
    where the next round starts, or several of their changes made together, where that fails too.

    Args:
        row: a row that fails.
    """
    asked = 0

    def failing(rows: Sequence[Row]) -> Generator[Sequence[Row], Iterable[Any], list[Row]]:
        nonlocal asked
        rows = rows[: MAX_ASKED - asked]
        asked += len(rows)
        verdicts: Iterable[Any] = (yield rows) if rows else ()
        return [each for each, fails in zip(rows, verdicts, strict=True) if fails]

    while True:
        found = list[Row]()
        for near in NEAR:
            candidates = [] if found else _simpler(near(row, shape), row, shape)
            for start in range(0, len(candidates), BATCH):
                found = found or (yield from failing(candidates[start : start + BATCH]))
        if not found:
            return row
        joined = [together(row, found[: 1 << n]) for n in range(1, len(found).bit_length() + 1)]
        simpler = {each: None for each in joined if cost(each, shape) < cost(found[0], shape)}
        row = min([found[0], *(yield from failing(list(simpler)))], key=lambda each: cost(each, shape))


def _simpler(rows: Iterable[Row], row: Row, shape: OperandShape) -> list[Row]:
    """The rows that are simpler than a given one, the simplest first."""
    costs = {each: cost(each, shape) for each in dict.fromkeys(rows)}
    least = cost(row, shape)
    return sorted((each for each in costs if costs[each] < least), key=lambda each: costs[each])


def smallest(row: Row, shape: OperandShape, fails: Callable[[Sequence[Row]], Iterable[Any]]) -> Row:
    """The smallest row found that fails.

    Args:
        row: a row that fails.
        fails: for rows, at least one and at most `BATCH`, which of them fail.
    """
    candidates = search(row, shape)
    try:
        rows = next(candidates)
        while True:
            rows = candidates.send(fails(rows))
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


def smallest_operands(row: Operands, shape: OperandShape, fails: Callable[[Operands], npt.NDArray[Any]]) -> Operands:
    """The smallest operands found that fail.

    Args:
        row: operands [1, K] that fail.
        fails: for operands [rows, K], which rows fail, as an array of bool [rows].
    """
    (first,) = rows_of(row)
    return operands_of([smallest(first, shape, lambda rows: fails(operands_of(rows, shape)))], shape)
