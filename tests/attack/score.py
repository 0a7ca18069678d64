"""The score of the standing attack, printed at the end of a run: attempted, caught by what, passed.

A test with the marker `attack(kind)` is one broken thing: it passes if a check catches that. Its property `caught`, if it
records one, says what caught it. Exit status 1 if anything passed, or if nothing was attempted.
"""

from collections import Counter, defaultdict

import pytest

KIND, CAUGHT = "attack", "caught"

COMES_TO_NOTHING = ("no effect", "proved equal to the sound Verilog")
"""Outcomes of a drawn fault that broke nothing."""


def pytest_itemcollected(item: pytest.Item) -> None:
    """The kind of an attack goes with its report, also out of a worker."""
    for mark in item.iter_markers("attack"):
        item.user_properties.append((KIND, mark.args[0]))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The table, and the names of what passed."""
    reports = [
        report
        for status in ("passed", "failed", "error", "skipped")
        for report in terminalreporter.stats.get(status, [])
        if isinstance(report, pytest.TestReport) and (report.when == "call" or not report.passed)
    ]
    terminalreporter.write_line("")
    for line in score([(report.nodeid, report.outcome, dict(report.user_properties)) for report in reports]):
        terminalreporter.write_line(line)


def score(reports: list[tuple[str, str, dict[str, object]]]) -> list[str]:
    """The lines of the table.

    Args:
        reports: of each test: its name, `passed`, `failed` or `skipped`, its properties.
    """
    outcomes: dict[str, Counter[str]] = defaultdict(Counter)
    by: dict[str, Counter[str]] = defaultdict(Counter)
    passed = []
    for name, outcome, properties in reports:
        if KIND not in properties:
            continue
        kind, caught = str(properties[KIND]), str(properties.get(CAUGHT, "its check"))
        outcomes[kind]["without effect" if caught in COMES_TO_NOTHING else outcome] += 1
        if outcome == "passed":
            by[kind][caught] += 1
        if outcome == "failed":
            passed.append(name)
    lines = []
    for kind, counts in sorted(outcomes.items()):
        attempted = counts["passed"] + counts["failed"]
        text = ", ".join(f"{caught} {count}" for caught, count in by[kind].most_common())
        skipped = f", {counts['skipped']} not tried for lack of a tool" if counts["skipped"] else ""
        lines.append(f"{kind}: {attempted} attempted{skipped}, {counts['failed']} passed; caught: {text or 'none'}")
    total = sum(counts["passed"] + counts["failed"] for counts in outcomes.values())
    lines.append(f"attack: {total} attempted, {total - len(passed)} caught, {len(passed)} passed")
    return [*lines, *(f"PASSED: {name}" for name in passed)]


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A run that attempts nothing is no attack."""
    if session.testscollected == 0 and not hasattr(session.config, "workerinput"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
