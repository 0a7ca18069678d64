"""Reports as text and back, and as JUnit XML, which another parser reads."""

from collections.abc import Callable
from dataclasses import replace
from xml.dom import minidom

import pytest

from cosim import Report, summary
from cosim.bench.protocol import Timing
from cosim.bench.scoreboard import Selection
from cosim.diagnosis.explain import explanation_of
from cosim.rtl_coverage.file_coverage import FileCoverage
from cosim.runner.job import Simulated
from cosim.runner.junit import junit_xml
from cosim.runner.text_report import MISSED
from rtl import UnitDesign
from tests.cosim.bench.test_scoreboard import T_UNIT
from tests.cosim.coverage.unit_coverage import contradicted
from tests.cosim.runner.reports import HOSTILE, explained, failed, hostile, nothing_done, passed
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


CHILDREN = {
    "testsuites": ["testsuite"],
    "testsuite": ["properties", "testcase"],
    "properties": ["property"],
    "property": [],
    "testcase": ["failure", "error", "system-out"],
    "failure": [],
    "error": [],
    "system-out": [],
}
"""The child elements that JUnit's schema allows, in order; a test case has at most one failure or error and one output."""

ATTRIBUTES = {
    "testsuites": [],
    "testsuite": ["name", "tests", "failures", "errors", "time"],
    "properties": [],
    "property": ["name", "value"],
    "testcase": ["name", "classname", "time"],
    "failure": ["message", "type"],
    "error": ["message", "type"],
    "system-out": [],
}


def read(document: bytes) -> minidom.Element:
    """Check a document against the schema, check its sums, and return its root."""
    root = minidom.parseString(document).documentElement
    assert root is not None
    assert root.tagName == "testsuites"
    check(root)
    for suite in root.getElementsByTagName("testsuite"):
        for attribute, kind in (("tests", "testcase"), ("failures", "failure"), ("errors", "error")):
            assert int(suite.getAttribute(attribute)) == len(suite.getElementsByTagName(kind))
    return root


def check(element: minidom.Element) -> None:
    names = [child.tagName for child in element.childNodes if isinstance(child, minidom.Element)]
    order = CHILDREN[element.tagName]
    assert names == sorted(names, key=order.index)
    if element.tagName == "testcase":
        assert len(set(names)) == len(names)
        assert not {"failure", "error"} <= set(names)
    assert sorted(element.attributes.keys()) == sorted(ATTRIBUTES[element.tagName])
    if element.hasAttribute("time"):
        assert float(element.getAttribute("time")) >= 0
    for child in element.childNodes:
        if isinstance(child, minidom.Element):
            check(child)


def text(element: minidom.Element) -> str:
    return "".join(child.data for child in element.childNodes if isinstance(child, minidom.Text))


def test_case_for_each_design() -> None:
    root = read(junit_xml([passed(), failed()], {"absent": "cannot be built: %Error: x.sv:1: no\nlog: /tmp/x.log"}, seed=7))
    cases = root.getElementsByTagName("testcase")
    assert [case.getAttribute("name") for case in cases] == ["t", "failing", "absent"]
    assert [len(case.getElementsByTagName("failure")) for case in cases] == [0, 1, 0]
    (error,) = root.getElementsByTagName("error")
    assert (error.getAttribute("message"), error.parentNode) == ("cannot be built: %Error: x.sv:1: no", cases[2])
    (seed,) = root.getElementsByTagName("property")
    assert (seed.getAttribute("name"), seed.getAttribute("value")) == ("seed", "7")
    assert "200 sent, 200 received, 0 differ" in text(cases[0].getElementsByTagName("system-out")[0])


def test_case_that_passes_has_its_other_readings() -> None:
    report = replace(passed(), other_readings=("a\x01 line", "another"), waived={"zero_sign = ignore": 3})
    (shown,) = read(junit_xml([report], {}, seed=0)).getElementsByTagName("system-out")
    assert text(shown).splitlines()[1:] == ["waived, zero_sign = ignore: 3", "a\ufffd line", "another"]


def test_failure_has_every_reason_and_the_first_of_each_group() -> None:
    report = failed()
    (failure,) = read(junit_xml([report], {}, seed=0)).getElementsByTagName("failure")
    assert failure.getAttribute("message") == report.failures[0]
    assert len(report.groups) > 5
    for part in (*report.failures, *(group.first for group in report.groups)):
        assert part in text(failure)


@pytest.mark.slow
def test_failure_has_the_diagnosis() -> None:
    report = explained()
    assert report.explanation is not None
    (failure,) = read(junit_xml([report], {}, seed=0)).getElementsByTagName("failure")
    assert report.explanation.diagnoses[""].lines()[0] in text(failure)


@pytest.mark.parametrize("report", [hostile, nothing_done])
def test_any_text_makes_a_document(report: Callable[[], Report]) -> None:
    root = read(junit_xml([report()], {HOSTILE: HOSTILE, "empty": ""}, seed=0))
    assert root.getElementsByTagName("testcase")[1].getAttribute("name").startswith("<b>&\"'")
    assert root.getElementsByTagName("b") == []
