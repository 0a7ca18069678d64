"""Reports as JUnit XML for continuous integration, with a test case for each design."""

import re
from collections.abc import Mapping, Sequence
from xml.etree import ElementTree

from cosim.runner.report import Report

SUITE = "mmau.cli.cosim"

_NO_XML = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML does not allow."""


def junit_xml(reports: Sequence[Report], errors: Mapping[str, str], seed: int) -> bytes:
    """A test suite: a test case for each report, and one with an error for each design that could not be run.

    A failed case has one `failure` with every reason and the first mismatch of each group in full.

    Args:
        errors: the error of each design that could not be run, by its name.
    """
    failed = sum(not report.passed for report in reports)
    seconds = sum(report.seconds for report in reports)
    counts = {"tests": len(reports) + len(errors), "failures": failed, "errors": len(errors)}
    attributes = {"name": SUITE, **{key: str(count) for key, count in counts.items()}, "time": f"{seconds:.3f}"}
    suites = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(suites, "testsuite", attributes)
    properties = ElementTree.SubElement(suite, "properties")
    ElementTree.SubElement(properties, "property", {"name": "seed", "value": str(seed)})
    for report in reports:
        case = _case(suite, report.unit, report.seconds)
        if not report.passed:
            failure = ElementTree.SubElement(case, "failure", {"message": _clean(report.failures[0]), "type": "cosim"})
            failure.text = _clean(failure_text(report))
        ElementTree.SubElement(case, "system-out").text = _clean(_counts(report))
    for name, message in errors.items():
        lines = message.splitlines() or [""]
        error = ElementTree.SubElement(_case(suite, name, 0.0), "error", {"message": _clean(lines[0]), "type": "cosim"})
        error.text = _clean(message)
    ElementTree.indent(suites)
    document: bytes = ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def failure_text(report: Report) -> str:
    """Every reason why a run does not pass, and the first mismatch of each group."""
    lines = [*report.failures, *([] if report.reset is None else [report.reset])]
    for diagnosis in () if report.explanation is None else report.explanation.diagnoses.values():
        lines += diagnosis.lines()
    lines += report.origins.values()
    for group in report.groups:
        changes = f"; {group.diagnosis}" if group.diagnosis else ""
        key = f"{group.stimulus_class}, {group.result_class}, {group.distance}"
        lines += ["", f"{group.count} elements: {key}{changes}", f"first: {group.first}"]
    if report.first_disagreement is not None:
        lines += ["", f"first disagreement of the engines: {report.first_disagreement}"]
    return "\n".join(lines)


def _case(suite: ElementTree.Element, name: str, seconds: float) -> ElementTree.Element:
    attributes = {"name": _clean(name), "classname": SUITE, "time": f"{seconds:.3f}"}
    return ElementTree.SubElement(suite, "testcase", attributes)


def _counts(report: Report) -> str:
    """The counts of a run in one line, and a line for each waiver and for each other reading of the design."""
    lines = [
        f"{report.operation} in {report.ran_in}, seed {report.seed}: {report.sent} sent, {report.received} received, "
        f"{report.mismatches} differ, {report.classes_hit} of {len(report.classes)} classes hit"
    ]
    lines += [f"waived, {rule}: {count}" for rule, count in report.waived.items()]
    return "\n".join([*lines, *report.not_looked_at, *report.warnings])


def _clean(text: str) -> str:
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", text)
