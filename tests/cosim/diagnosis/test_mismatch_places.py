"""Mismatches of one element of the results, or of one lane: named where no row that agreed contradicts it."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from cosim.bench.mismatch import ComparedRow
from cosim.diagnosis import Diagnosis
from cosim.diagnosis.mismatch_places import place_of
from golden.stimulus import Operands
from tests.cosim.diagnosis.designs import Codes, Design, compared, diagnosed, golden_results
from tests.cosim.diagnosis.faulty_designs import T, unit

pytestmark = pytest.mark.attack("designs by hand, in cosim")


narrow = unit(T, F=20)


def noise(operands: Operands, expected: Codes) -> Codes:
    """Results that no change explains."""
    pattern = operands.a[:, 0].astype(np.int64) * 40503 >> 3 & 0xFFFF | 1
    return (expected.astype(np.int64) ^ pattern).astype(expected.dtype)


def tile(design: Design, broken: Callable[[int, int], bool], count: int = 2000) -> Diagnosis:
    """The diagnosis of tiles of 2 × 2 elements of which only some are wrong."""
    sound, _ = compared(T, lambda operands, expected: (expected ^ 1).tolist(), count)
    wrong, _ = compared(T, design, count)
    at = {row.vector: row for row in wrong}
    rows = [at.get(row.vector, row) for row in sound]
    differing, agreeing = list[ComparedRow](), list[ComparedRow]()
    for row in rows:
        i, j = divmod(row.vector % 4, 2)
        placed = replace(row, vector=row.vector // 4, place=f"element [{i}][{j}]")
        if row.vector in at and broken(i, j):
            differing.append(placed)
        else:
            agreeing.append(replace(placed, got=row.expected))
    return diagnosed(T, differing, agreeing)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("broken", "where"),
    [
        (lambda i, j: (i, j) == (1, 0), "element [1][0]"),
        (lambda i, j: i == 1, "row 1 of d"),
        (lambda i, j: j == 0, "column 0 of d"),
    ],
)
def test_fault_of_one_place_is_named_there(broken: Callable[[int, int], bool], where: str) -> None:
    found = tile(narrow, broken)
    assert found.cause is not None, found.text()
    assert (found.cause.change, found.where) == ("F is 20, not 24", where)
    first, *rest = found.lines()
    assert first.startswith(f"diagnosis: in {where}: F is 20, not 24: explains all ")
    assert rest[0].startswith(f"  all {found.mismatches} mismatches are in {where}; elsewhere ")


@pytest.mark.slow
def test_fault_of_every_place_is_in_none() -> None:
    found = tile(narrow, lambda i, j: True)
    assert found.cause is not None
    assert (found.where, found.located) == (None, ())


@pytest.mark.slow
def test_fault_without_a_cause_is_located() -> None:
    def sometimes(operands: Operands, expected: Codes) -> Codes:
        return np.where(operands.a[:, 1] % 5 == 0, noise(operands, expected), expected)

    found = tile(sometimes, lambda i, j: (i, j) == (0, 1))
    assert (found.cause, found.best, found.where) == (None, (), "element [0][1]")
    assert found.located[0].startswith(f"all {found.mismatches} mismatches are in element [0][1]; elsewhere ")


@pytest.mark.slow
def test_place_without_rows_that_agreed_has_no_cause() -> None:
    wrong, right = compared(T, narrow, 400)
    differing = [replace(row, place="result 1") for row in wrong]
    found = diagnosed(T, differing, [replace(row, got=row.expected, place="result 0") for row in (*wrong, *right)])
    assert (found.cause, found.where, len(found.located)) == (None, None, 1)
    assert found.located[0].startswith(f"all {len(wrong)} mismatches are in result 1; elsewhere ")


def test_few_mismatches_at_one_place_may_be_chance() -> None:
    wrong, right = compared(T, narrow, 400)

    def placed(rows: Sequence[ComparedRow], place: str) -> list[ComparedRow]:
        return [replace(row, place=place) for row in rows]

    agreeing = [*placed(right[::2], "element [0][0]"), *placed(right[1::2], "element [0][1]")]
    assert place_of(placed(wrong[:9], "element [0][0]"), agreeing) is None
    assert place_of(placed(wrong[:12], "element [0][0]"), agreeing) is not None


def lane_noise(k: int, always: bool) -> Callable[[Operands, Codes], Codes]:
    """A design that takes an infinity in lane k for nonsense; unless `always`, only where b[k] is positive."""

    def results(operands: Operands, expected: Codes) -> Codes:
        infinite = (operands.a[:, k] & 0x7FFF == 0x7C00) | (operands.b[:, k] & 0x7FFF == 0x7C00)
        if not always:
            infinite &= operands.b[:, k] < 0x8000
        a, b = operands.a.copy(), operands.b.copy()
        a[:, k] = b[:, k] = 0
        others = golden_results(T, operands._replace(a=a, b=b))
        special = others & 0x7F800000 == 0x7F800000
        return np.where(infinite, np.where(special, others, noise(operands, others)), expected)

    return results


def test_lane_with_operands_of_one_class_is_named() -> None:
    wrong, agreeing = compared(T, lane_noise(3, True), 3000)
    found = diagnosed(T, wrong, agreeing)
    assert found.cause is None
    assert found.located == (
        f"all {len(wrong)} mismatches have lane 3 infinite (a[3] or b[3]); "
        f"no row of {len(agreeing):,} agreeing ones has, where the lane decides the result",
    )


def test_row_that_agrees_speaks_against_a_lane() -> None:
    wrong, agreeing = compared(T, lane_noise(3, False), 3000)
    found = diagnosed(T, wrong, agreeing)
    assert (found.cause, found.located) == (None, ())
