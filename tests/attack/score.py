"""The score of the standing attack, printed at the end of a run: attempted, caught by what, passed.

A test with the marker `attack(kind)` is one broken thing: it passes if a check catches that. Its property `caught`, if it
records one, says what caught it. An error beside the test, or the crash of a worker, counts as passed. What is known to pass
has the marker `xfail` with its reason, and is named; where a check catches it after all, the run fails till the marker goes.
Exit status 1 if anything else passed, or if nothing was attempted.
"""

from collections import Counter, defaultdict
from typing import NamedTuple

import pytest

KIND, CAUGHT = "attack", "caught"

COMES_TO_NOTHING = ("no effect", "proved equal to the sound Verilog")
"""Outcomes of a drawn fault that broke nothing."""

UNKNOWN = "tests that gave no kind"
"""Kind of what a crashed worker ran."""

STATUSES = {
    "passed": "caught",
    "failed": "passed",
    "error": "passed",
    "skipped": "not tried",
    "xfailed": "known",
    "xpassed": "passed",
}
"""The outcome of an attack by the status that pytest gives its test."""


class Attack(NamedTuple):
    """One attack of a run: the test's name, one of `STATUSES`, its kind, what caught it, why it was not tried or passes."""

    name: str
    outcome: str
    kind: str = UNKNOWN
    by: str = "its check"
    reason: str = ""


def pytest_itemcollected(item: pytest.Item) -> None:
    """The kind of an attack goes with its report, also out of a worker."""
    for mark in item.iter_markers("attack"):
        item.user_properties.append((KIND, mark.args[0]))


def attacks(reporter: pytest.TerminalReporter) -> list[Attack]:
    """The attacks of a run."""
    return [
        _attack(report, outcome)
        for status, outcome in STATUSES.items()
        for report in reporter.stats.get(status, [])
        if isinstance(report, pytest.TestReport) and (report.when == "call" or not report.passed)
    ]


def _attack(report: pytest.TestReport, outcome: str) -> Attack:
    properties = {name: str(value) for name, value in report.user_properties}
    if outcome == "not tried":
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    else:
        reason = getattr(report, "wasxfail", "")
    return Attack(
        report.nodeid,
        outcome,
        properties.get(KIND, UNKNOWN),
        properties.get(CAUGHT, "its check"),
        reason.removeprefix("reason: "),
    )


def score(found: list[Attack]) -> list[str]:
    """The lines of the table, and the names of what passed or was not tried."""
    outcomes: dict[str, Counter[str]] = defaultdict(Counter)
    by: dict[str, Counter[str]] = defaultdict(Counter)
    for each in found:
        outcomes[each.kind]["without effect" if each.by in COMES_TO_NOTHING else each.outcome] += 1
        if each.outcome == "caught":
            by[each.kind][each.by] += 1
    lines = []
    for kind, counts in sorted(outcomes.items()):
        caught = ", ".join(f"{name} {count}" for name, count in by[kind].most_common())
        lines.append(f"{kind}: {_sums(counts)}; caught: {caught or 'none'}")
    total = sum(outcomes.values(), Counter[str]())
    lines.append(f"attack: {_sums(total)}; caught: {total['caught']}")
    for outcome, title in (("not tried", "NOT TRIED"), ("known", "PASSED, as is known"), ("passed", "PASSED")):
        lines += [
            f"{title}: {each.name}{f': {each.reason}' if each.reason else ''}" for each in found if each.outcome == outcome
        ]
    return lines


def _sums(counts: Counter[str]) -> str:
    attempted = counts["caught"] + counts["passed"] + counts["known"]
    not_tried = f", {counts['not tried']} not tried" if counts["not tried"] else ""
    without = f", {counts['without effect']} without effect" if counts["without effect"] else ""
    known = f" and {counts['known']} for a known reason" if counts["known"] else ""
    return f"{attempted} attempted{not_tried}{without}, {counts['passed']} passed{known}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The table."""
    terminalreporter.write_line("")
    for line in score(attacks(terminalreporter)):
        terminalreporter.write_line(line)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A run that attempts nothing is no attack, whatever was skipped."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if hasattr(session.config, "workerinput") or not isinstance(reporter, pytest.TerminalReporter):
        return
    if not any(each.outcome != "not tried" and each.by not in COMES_TO_NOTHING for each in attacks(reporter)):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
