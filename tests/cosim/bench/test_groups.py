"""Every mismatch is counted in its group, and the first ones of each group are recorded in full, with place and time."""

import json

import pytest

from cosim.bench.mismatch import RECORDED, Arrival, Group, joined
from cosim.bench.scoreboard import Outcome, Scoreboard
from cosim.bench.stimulus import UnitSpecification
from cosim.runner.job import Simulated, read
from golden import Cls
from tests.cosim.bench.test_scoreboard import E_UNIT, T_UNIT, report, run_through, scoreboard
from tests.cosim.bench.test_stimulus import answered


def one_up(code: int) -> int:
    return code + 1 if T_UNIT.operation.d.decode(code).cls is Cls.NORMAL else code


@pytest.mark.slow
def test_every_mismatch_is_in_one_group() -> None:
    result = run_through(scoreboard(vectors=3000), lambda row, code: one_up(code))
    assert sum(group.count for group in result.groups) == result.mismatches > 1000
    assert len({group.key for group in result.groups}) == len(result.groups)
    assert {group.stimulus_class for group in result.groups} <= set(result.classes)
    counts = [group.count for group in result.groups]
    assert counts == sorted(counts, reverse=True)


@pytest.mark.slow
def test_records_are_bounded_and_begin_with_the_first() -> None:
    board = scoreboard(vectors=3000)
    result = run_through(board, lambda row, code: one_up(code))
    assert {len(group.mismatches) for group in result.groups if group.count > RECORDED} == {RECORDED}
    for group in result.groups:
        first, *_ = group.mismatches
        assert [each.vector for each in group.mismatches] == sorted(each.vector for each in group.mismatches)
        assert group.first.startswith(f"vector {first.vector} ({group.stimulus_class})")
        assert {each.group for each in group.mismatches} == {group.key}
    earliest = min((group.mismatches[0] for group in result.groups), key=lambda each: each.vector)
    assert result.first_mismatch is not None
    assert result.first_mismatch.startswith(f"vector {earliest.vector} (")


def test_record_holds_operands_and_codes() -> None:
    board = scoreboard()
    (group,) = run_through(board, lambda row, code: code ^ (row == 9)).groups
    (mismatch,) = group.mismatches
    row = board.all[9].elements[0].row
    operands, expected = board.products.stimulus.operands, board.products.expected[row]
    assert (mismatch.vector, mismatch.place, mismatch.products) == (9, "", "")
    assert (list(mismatch.a), list(mismatch.b)) == (operands.a[row].tolist(), operands.b[row].tolist())
    assert (mismatch.c, mismatch.scale_a, mismatch.scale_b) == (operands.c[row], None, None)
    assert (mismatch.got, mismatch.expected) == (expected ^ 1, expected)


def test_record_says_when_a_result_came() -> None:
    board = scoreboard(vectors=20)
    for number, vector in enumerate(board.all):
        board.send(vector)
        board.now = lambda number=number: Arrival(number * 3, number * 6000.0)  # type: ignore[misc]
        board.receive(vector.elements[0].products.expected[vector.elements[0].row] ^ (number == 7))
    (mismatch,) = board.outcome().groups[0].mismatches
    assert (mismatch.vector, mismatch.cycle, mismatch.time) == (7, 21, 42000.0)


def test_waived_results_are_in_no_group() -> None:
    board = scoreboard(E_UNIT)
    assert run_through(board).groups == ()


@pytest.mark.slow
def test_rows_that_agree_are_recorded_where_others_differ() -> None:
    result = run_through(scoreboard(vectors=2000), lambda row, code: code ^ (row % 2))
    assert {row.vector % 2 for row in result.agreeing} == {0}
    assert all(row.got == row.expected for row in result.agreeing)
    few = {name for name, count in result.classes.items() if count < 20}  # of which all rows may be odd ones
    assert set(result.classes) - few <= {row.stimulus_class for row in result.agreeing} <= set(result.classes)
    assert len(few) < len(result.classes) / 2
    assert run_through(scoreboard()).agreeing == ()


def test_groups_survive_json_and_rows_that_agree_stay_inside() -> None:
    board = scoreboard(vectors=300)
    result = run_through(board, lambda row, code: "X" * 32 if row == 5 else one_up(code))
    simulated = Simulated(outcome=board.outcome(), seconds=0.5)
    assert Simulated.from_json(simulated.to_json()) == simulated
    shown = json.loads(json.dumps(result.as_dict()))
    assert "agreeing" not in shown
    assert [group["count"] for group in shown["groups"]] == [group.count for group in result.groups]
    assert [read(Group, group) for group in shown["groups"]] == list(result.groups)


@pytest.mark.slow
def test_groups_of_two_simulations_are_one_where_they_have_the_same_in_common() -> None:
    boards = [Scoreboard(UnitSpecification(T_UNIT), 1500, seed=3 + first, first=first) for first in (0, 1500)]
    halves = [answered(board, lambda vector, code: one_up(code)).outcome() for board in boards]
    whole = Outcome.joined(halves)
    assert sum(group.count for group in whole.groups) == whole.mismatches == sum(half.mismatches for half in halves)
    assert len({group.key for group in whole.groups}) == len(whole.groups)
    assert all(len(group.mismatches) == min(group.count, RECORDED) for group in whole.groups)
    numbers = {each.vector for group in halves[1].groups for each in group.mismatches}
    assert min(numbers) >= 1500
    assert joined(()) == ()


def test_surplus_results_are_no_mismatches() -> None:
    board = scoreboard()
    run_through(board)
    board.receive(0)
    assert report(board).groups == ()
