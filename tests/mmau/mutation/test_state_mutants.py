"""Faults of state and protocol around any design: the vectors find all of them, and what they miss is named."""

from pathlib import Path

import pytest

from cosim.bench.scoreboard import Selection
from golden.arithmetic.formats import FP32
from mmau.mutation.missed_faults import judged_states, missed_lines
from mmau.mutation.state_mutants import KINDS, Around
from rtl import UnitDesign
from tests.cosim.dut.test_third_party import parts

CLOCKED = {"a": 16, "b": 16, "c": 32, "d": 32, "clk": 1, "rst": 1} | dict.fromkeys(
    ("in_valid", "in_ready", "out_valid", "out_ready"), 1
)


def test_a_clocked_design_has_faults_of_every_kind() -> None:
    mutants = Around(CLOCKED, FP32).mutants()
    assert {mutant.kind for mutant in mutants} == set(KINDS)
    assert [mutant.number for mutant in mutants] == list(range(1, len(mutants) + 1))
    text = Around(CLOCKED, FP32).wrapper("inside", mutants)
    assert all(f"mutant == {mutant.number} ?" in text for mutant in mutants)


def test_a_combinational_design_has_stuck_bits_alone() -> None:
    widths = {name: CLOCKED[name] for name in "abcd"}
    assert {mutant.kind for mutant in Around(widths, FP32).mutants()} == {"stuck bit"}


def test_what_is_missed_is_named() -> None:
    rows = [
        {"kind": "timeout", "words": "a result is cleared", "status": "survived"},
        {"kind": "history", "words": "a zero after a zero is wrong", "status": "killed"},
    ]
    assert missed_lines(rows) == [
        "mutants: 1 of 2 found: 1 of 1 history, 0 of 1 timeout",
        "  missed: timeout: a result is cleared (survived)",
    ]


@pytest.mark.simulator
@pytest.mark.long
@pytest.mark.parametrize("name", ["stream", "arrays"])
@pytest.mark.attack("state and handshake of designs, in cosim")
def test_every_fault_around_a_user_design_is_found(name: str, tmp_path: Path) -> None:
    unit, dut = parts(name)
    mutants = judged_states(UnitDesign(unit), dut, 20_000, 0, tmp_path)
    assert len(mutants) > 10
    assert [row for row in mutants if row["status"] != "killed"] == []


@pytest.mark.simulator
@pytest.mark.long
def test_too_few_vectors_miss_faults(tmp_path: Path) -> None:
    unit, dut = parts("stream")
    missed = {row["kind"] for row in judged_states(UnitDesign(unit), dut, 30, 0, tmp_path) if row["status"] != "killed"}
    assert {"timeout", "counter"} <= missed


@pytest.mark.simulator
@pytest.mark.attack("state and handshake of designs, in cosim")
def test_faults_get_the_selected_vectors_alone(tmp_path: Path) -> None:
    unit, dut = parts("lanes")
    found = judged_states(UnitDesign(unit), dut, 500, 0, tmp_path, selection=Selection(vector=7))
    assert sum(row["status"] == "killed" for row in found) < len(found) / 2
