"""Mismatches: the distance from the expected result, the group of each, and the records of the first ones of every group."""

import json
from dataclasses import replace
from itertools import pairwise

import pytest

from cosim.bench.mismatch import RECORDED, Arrival, ComparedRow, Group, Mismatch, distance_kind, joined, ulp_distance
from cosim.bench.scoreboard import Outcome, Scoreboard
from cosim.bench.stimulus import specification_of
from cosim.runner.job import Simulated, read
from golden import Cls, Format
from golden.arithmetic.formats import E8M13, FP16, FP32
from rtl import UnitDesign
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
    boards = [Scoreboard(specification_of(UnitDesign(T_UNIT)), 1500, seed=3 + first, first=first) for first in (0, 1500)]
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


ROW = ComparedRow(
    vector=7, place="", products="", stimulus_class="normal", a=(1, 2), b=(3, 4), c=5, scale_a=None, scale_b=None,
    got=0x3F80_0001, expected=0x3F80_0000, cycle=12, time=24000.0,
)  # fmt: skip


@pytest.mark.parametrize(
    ("got", "expected", "result", "ulp", "kind"),
    [
        (0x3F80_0001, 0x3F80_0000, FP32, 1, "+1 ulp"),
        (0x3F7F_FFFF, 0x3F80_0000, FP32, -1, "-1 ulp"),  # below a power of two
        (0xBF80_0001, 0xBF80_0000, FP32, -1, "-1 ulp"),  # the larger magnitude is the lower number
        (0x0000_0001, 0x8000_0001, FP32, 2, "+2 ulp"),  # across zero
        (0x3F80_0003, 0x3F80_0000, FP32, 3, "+3 to +8 ulp"),
        (0x3F80_0000, 0x3F80_0008, FP32, -8, "-3 to -8 ulp"),
        (0x3F80_0009, 0x3F80_0000, FP32, 9, "+9 to +64 ulp"),
        (0x3F80_0400, 0x3F80_0000, FP32, 1024, "+65 to +1,024 ulp"),
        (0x3F80_0401, 0x3F80_0000, FP32, 1025, "beyond +1,024 ulp"),
        (0x8000_0000, 0x0000_0000, FP32, 0, "sign of zero"),
        (0x7F7F_FFFF, 0x7F80_0000, FP32, None, "a number for infinity"),
        (0xFF80_0000, 0x7F80_0000, FP32, None, "sign of infinity"),
        (0x7F80_0000, 0x7F7F_FFFF, FP32, None, "infinity for a number"),
        (0x7F80_0000, 0x7FC0_0000, FP32, None, "infinity for NaN"),
        (0x7FC0_0001, 0x7FC0_0000, FP32, None, "another NaN"),
        (0x7FC0_0000, 0x3F80_0000, FP32, None, "NaN for a number"),
        ("X" * 32, 0x3F80_0000, FP32, None, "undefined bits"),
        (0x3C01, 0x3C00, FP16, 1, "+1 ulp"),
        (0x3F80_0400, 0x3F80_0000, E8M13, 1, "+1 ulp"),  # ten low bits are always zero
        (0x3F80_0001, 0x3F80_0000, E8M13, 1, "+1 ulp"),
        (0x3F7F_FFFF, 0x3F80_0000, E8M13, -1, "-1 ulp"),
    ],
)
def test_distance(got: int | str, expected: int, result: Format, ulp: int | None, kind: str) -> None:
    assert ulp_distance(got, expected, result) == ulp
    assert distance_kind(got, expected, result) == kind


@pytest.mark.slow
def test_distance_is_the_number_of_steps_between_neighbours() -> None:
    """All neighbouring fp16 numbers have distance 1, in the order of their exact values."""
    codes = [code for code in range(1 << 16) if FP16.value(code) is not None and code != FP16.negative_zero]
    ordered = sorted(codes, key=lambda code: FP16.value(code) or 0)
    assert all(ulp_distance(high, low, FP16) == 1 for low, high in pairwise(ordered))


def test_group_has_the_common_properties_of_mismatches() -> None:
    mismatch = Mismatch.of(ROW, FP32)
    assert mismatch.group == ("normal", "normal", "normal", "+1 ulp")
    subnormal = Mismatch.of(replace(ROW, got=1, vector=8), FP32)
    assert subnormal.group == ("normal", "normal", "subnormal", "beyond -1,024 ulp")
    undefined = Mismatch.of(replace(ROW, got="X" * 32), FP32)
    assert (undefined.got_class, undefined.ulp, undefined.distance) == ("undefined", None, "undefined bits")


def test_mismatch_survives_json() -> None:
    mismatch = Mismatch.of(replace(ROW, scale_a=(1,), scale_b=(2,), ports={"mode": (1,)}), FP32)
    assert read(Mismatch, json.loads(json.dumps(mismatch.as_dict()))) == mismatch
