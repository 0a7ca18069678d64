"""Reports as text and back: their explanation, coverage of the Verilog, contradictions of the coverage model."""

from dataclasses import replace

import pytest

from cosim import Report, summary
from cosim.bench.protocol import Timing
from cosim.bench.scoreboard import Selection
from cosim.diagnosis.explain import explanation_of
from cosim.rtl_coverage.file_coverage import FileCoverage
from cosim.runner.job import Simulated
from cosim.runner.text_report import MISSED
from rtl import UnitDesign
from tests.cosim.bench.test_scoreboard import T_UNIT
from tests.cosim.coverage.unit_coverage import contradicted
from tests.cosim.runner.reports import explained, failed, hostile, nothing_done, passed
from tests.golden.native.native_rows import needs_native


@pytest.mark.parametrize("report", [passed(), failed(), hostile(), nothing_done()], ids=lambda report: report.unit[:8])
def test_report_is_read_back_from_its_text(report: Report) -> None:
    report = replace(report, other_readings=("a line",), sources={"a.sv": "0" * 64})
    assert Report.from_json(report.to_json()) == report


def test_explained_report_is_the_one_of_a_run() -> None:
    report = failed("explained")
    explanation = explanation_of(report, report.minimised, UnitDesign(T_UNIT))
    simulated = Simulated(outcome=report, seconds=report.seconds, minimised=report.minimised)
    made = Report.of_run(UnitDesign(T_UNIT), simulated, report.simulator, report.seed, explanation)
    assert explained() == replace(made, unit=report.unit)
    assert passed().explained(UnitDesign(T_UNIT)) is passed()


def test_selection_and_timing_as_tables() -> None:
    selection = Selection(only=("subnormal",), vector=3)
    assert Selection.from_table(selection.as_table()) == selection
    timing = Timing("fixed-latency", latency=3)
    assert Timing(**timing.as_table()) == timing


def test_executed_lines_by_file_and_together() -> None:
    unit, many = passed().unit, MISSED + 2
    files = (
        FileCoverage("a.sv", {2: 5, 7: 0}, {(1, "x"): 3}),
        FileCoverage("b.sv", dict.fromkeys(range(1, many + 1), 0), {(1, "x"): 0}),
    )
    lines = summary([replace(passed(), rtl_coverage=files)], seed=1).splitlines()
    assert f"{unit}: a.sv: 1 of 2 lines hit, 1 of 1 bits toggled; missed lines: 7" in lines
    first = ", ".join(map(str, range(1, MISSED + 1)))
    assert f"{unit}: b.sv: 0 of {many} lines hit, 0 of 1 bits toggled; missed lines: {first}, and 2 more" in lines
    assert f"{unit}: 1 of {many + 2} lines hit, 1 of 2 bits toggled" in lines


def test_no_lines_are_reported_without_rtl_coverage() -> None:
    assert "lines hit" not in summary([passed()], seed=1)
    assert "rtl_coverage" not in passed().as_dict()


@needs_native
def test_a_contradiction_of_the_coverage_model_is_reported_in_full() -> None:
    report = passed()
    wrong, message = contradicted(report.coverage[0])
    lines = summary([replace(report, coverage=(wrong,))], seed=1).splitlines()
    assert f"{report.unit}: THE COVERAGE MODEL IS WRONG: {message}" in lines
    assert "COVERAGE MODEL" not in summary([report], seed=1)
    assert replace(report, coverage=(wrong,)).as_dict()["coverage"][0]["contradicted"] == (message,)
