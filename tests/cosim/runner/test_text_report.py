"""Reports as text: coverage of the Verilog, and contradictions of the coverage model."""

from dataclasses import replace

from cosim import summary
from cosim.rtl_coverage.file_coverage import FileCoverage
from cosim.runner.text_report import MISSED
from tests.cosim.coverage.unit_coverage import contradicted
from tests.cosim.runner.reports import passed
from tests.golden.native.native_rows import needs_native


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
