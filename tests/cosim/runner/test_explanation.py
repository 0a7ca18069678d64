"""The explanation of mismatches in a report's text, HTML page and JSON."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import cosim
import golden
from cosim import Report, summary
from cosim.bench.mismatch import Group, Minimised
from cosim.bench.scoreboard import Outcome, Scoreboard
from cosim.bench.stimulus import TileSpecification, specification_of
from cosim.diagnosis.explain import DIAGNOSED, TRACED, explanation_of, to_diagnose
from cosim.runner.html_report import report_page
from cosim.runner.job import Simulated
from golden import Unit
from golden.arithmetic.formats import BF16, FP32
from golden.operations import TFDPA
from rtl import MultiFormatDesign, TileDesign, UnitDesign
from tests.cosim.bench.test_scoreboard import T_UNIT, run_through, scoreboard
from tests.cosim.bench.test_stimulus import answered
from tests.cosim.runner.reports import failed, passed, with_explanation
from tests.cosim.runner.test_html_report import Reader
from tests.mmau.prove.user_design.design_by_hand import PRODUCT, clocked

CHANGE = "F is 24, not 25"


def one_less(vectors: int = 1500) -> Report:
    """A design whose F is one less than its unit's."""
    board = scoreboard(vectors=vectors)
    other = Unit(name="other", operation=T_UNIT.operation.changed(F=24))
    given = other.dot(*board.products.stimulus.operands).tolist()
    return run_through(board, lambda number, _: given[board.all[number].elements[0].row])


@pytest.mark.simulator
@pytest.mark.long
@pytest.mark.attack("diagnoses of wrong designs")
def test_operand_that_comes_a_cycle_late_is_named_in_spite_of_pauses(tmp_path: Path) -> None:
    body = "logic [31:0] k; always_ff @(posedge clk) begin k <= c; d <= r - c + k; end"
    report = cosim.run(PRODUCT, vectors=2000, dut=clocked(body, "").described(tmp_path), mode="volume")
    assert report.explanation is not None
    assert report.explanation.verdict()[0].startswith("diagnosis: c is that of 1 vector before (")


def test_run_that_passes_has_no_explanation() -> None:
    assert explanation_of(passed(), None, UnitDesign(T_UNIT)) is None


@pytest.mark.slow
def test_text_page_and_json_hold_diagnosis_trace_and_results() -> None:
    report = with_explanation(one_less())
    assert report.explanation is not None
    cause = report.explanation.diagnoses[""].cause
    assert cause is not None
    assert (cause.change, cause.explained) == (CHANGE, report.mismatches)
    assert all(group.diagnoses == {CHANGE: len(group.mismatches)} for group in report.groups)
    text, page = summary([report], 3), Reader(report_page([report], {}, 3))
    row = report.explanation.shown.row
    for shown in (text, page.text):
        assert f"diagnosis: {CHANGE}: explains all {report.mismatches:,} mismatches and all " in shown
        assert "not minimised" in shown
        assert "e_max = " in shown
        assert f"got          {FP32.describe(int(row.got))}" in shown
        assert f"expected     {FP32.describe(row.expected)}" in shown
    assert page.text.count("The model's steps for it") == min(len(report.groups), TRACED)
    table = json.loads(json.dumps(report.as_dict()))
    assert table["explanation"]["diagnoses"][""]["causes"][0]["change"] == CHANGE
    assert table["explanation"]["trace"]["d"] == row.expected
    assert table["explanation"]["first"]["row"]["got"] == row.got
    assert [row["vector"] for row in table["differing"]] == [row.vector for row in report.differing]
    assert len(table["differing"]) == report.mismatches
    assert "agreeing" not in table


@pytest.mark.slow
def test_trace_is_that_of_the_minimised_mismatch() -> None:
    report = one_less()
    row = replace(report.differing[0], a=(0x3C00, 0), b=(0x3C00, 0), c=0, got=0, expected=0x3F800000)
    minimised = Minimised(row=row, reproduced=True, asked=5, note="minimised")
    explanation = explanation_of(report, minimised, UnitDesign(T_UNIT))
    assert explanation is not None
    assert explanation.trace.d == 0x3F800000
    assert "first mismatch, minimised" in explanation.lines()


def test_minimised_mismatch_survives_json() -> None:
    report = one_less(300)
    minimised = Minimised(row=report.differing[0], reproduced=True, asked=5, note="minimised")
    joined = Outcome.joined([report, report])
    simulated = Simulated(outcome=joined, seconds=1.0, minimised=minimised)
    assert Simulated.from_json(simulated.to_json()) == simulated
    assert len(joined.differing) == 2 * len(report.differing)


@pytest.mark.slow
def test_undefined_results_are_left_out_of_the_diagnosis() -> None:
    report = with_explanation(failed())
    assert report.explanation is not None
    assert report.explanation.diagnoses[""].undefined == 1
    undefined: list[Group] = [group for group in report.groups if group.got_class == "undefined"]
    assert [group.diagnosis for group in undefined] == [""]


@pytest.mark.slow
def test_each_format_of_a_datapath_has_its_own_diagnosis() -> None:
    other = Unit(name="other", operation=TFDPA(a=BF16, b=BF16, c=FP32, L=2, F=25, rho="RZ-FP32", e_zero=-133))
    units = (T_UNIT, other)
    board = Scoreboard(specification_of(MultiFormatDesign(tuple(units))), 600, seed=3)
    answered(board, lambda vector, code: code ^ (vector.elements[0].products.name == "format 1 (other)") << 31)
    report = Report.of(UnitDesign(T_UNIT), board.outcome(), "none", 3, 1.0)
    explanation = explanation_of(report, None, MultiFormatDesign(units))
    assert explanation is not None
    assert list(explanation.diagnoses) == ["format 1 (other)"]
    assert explanation.lines()[0].startswith("format 1 (other): diagnosis: the sign of d is inverted: explains all")


def test_elements_of_a_tile_are_diagnosed() -> None:
    instruction = replace(golden.instruction("sm_70", "mma.m8n8k4.f32.f16.f16.f32"), m=2, n=2)
    board = answered(
        Scoreboard(TileSpecification(instruction), 40, seed=3), lambda vector, d: d | sum(1 << 32 * n for n in range(4))
    )
    report = Report.of(UnitDesign(T_UNIT), board.outcome(), "none", 3, 1.0)
    explanation = explanation_of(report, None, TileDesign(instruction, golden.Implementation(stages=1)))
    assert explanation is not None
    assert explanation.diagnoses[""].cause is not None
    assert explanation.diagnoses[""].cause.change == "bit 0 of d is stuck at 1"


@pytest.mark.slow
def test_number_of_diagnosed_elements_is_reported() -> None:
    board = scoreboard(vectors=2 * DIAGNOSED)
    report = with_explanation(run_through(board, lambda row, code: code ^ 0x8000_0000))
    assert report.explanation is not None
    assert len(report.differing) == 2 * DIAGNOSED
    diagnosed = len(to_diagnose(report.differing, report.groups))
    assert DIAGNOSED <= diagnosed < report.explanation.elements == 2 * DIAGNOSED
    text = f"  diagnosed {diagnosed:,} of the {2 * DIAGNOSED:,} elements that differ"
    assert f"{text}, the first ones of every group among them" in report.explanation.lines()
    assert np.all([row.got != row.expected for row in report.differing])
