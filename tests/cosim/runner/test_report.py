"""Reports as text and back, and the explanation of a report, which a run gives at once."""

from dataclasses import replace

import pytest

from cosim import Report
from cosim.bench.protocol import Timing
from cosim.bench.scoreboard import Selection
from cosim.diagnosis.explain import explanation_of
from cosim.runner.job import Simulated
from rtl import UnitDesign
from tests.cosim.bench.test_scoreboard import T_UNIT
from tests.cosim.runner.reports import explained, failed, hostile, nothing_done, passed


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
