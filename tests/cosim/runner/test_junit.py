"""JUnit XML: a test case for each design, failures with the first mismatch of each group, read by another parser."""

from collections.abc import Callable
from dataclasses import replace
from xml.dom import minidom

import pytest

from cosim import Report
from cosim.runner.junit import junit_xml
from tests.cosim.runner.reports import HOSTILE, explained, failed, hostile, nothing_done, passed

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
