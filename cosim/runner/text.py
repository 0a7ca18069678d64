"""Reports as text."""

from collections import Counter
from collections.abc import Sequence

from cosim.bench.groups import Group
from cosim.rtl_coverage.files import sums
from cosim.runner.explanation import Explanation
from cosim.runner.report import Report

MISSED = 8
"""Bins of a run that are named where they were missed; --json and the page have all."""

IN_FULL = 5
"""Groups of mismatches whose first one is shown in full; of the others, a line."""


def table(reports: Sequence[Report]) -> str:
    """A line a report: unit, vectors, classes and bins hit, mismatches, vectors/s, the engine that judged, of how many rows
    the reference agrees with it, verdict."""
    header = (
        "unit",
        "operation",
        "vectors",
        "classes hit",
        "bins hit",
        "mismatches",
        "vectors/s",
        "engine",
        "by reference",
        "",
    )
    rows = [header]
    for report in reports:
        rows.append(
            (
                report.unit,
                report.operation,
                f"{report.received:,}",
                f"{report.classes_hit} of {len(report.classes)}",
                bins_hit(report),
                f"{report.mismatches:,}",
                f"{report.vectors_per_second:,.0f}",
                report.engine,
                f"{report.checked - report.disagreements:,} of {report.checked:,}",
                "passed" if report.passed else f"FAILED: {report.failures[0]}",
            )
        )
    return columns(rows, names=2, numbers=7)


def bins_hit(report: Report) -> str:
    """How many of the bins that can be hit were; of a run without golden's models nothing."""
    return f"{report.bins.hit:,} of {report.bins.reachable:,}" if report.coverage else ""


def missed_bins(report: Report) -> list[str]:
    """The first bins that were missed, one a line."""
    missed = report.bins.missed
    lines = [f"{report.unit}: missed {name}" for name in missed[:MISSED]]
    return [*lines, f"{report.unit}: and {len(missed) - MISSED:,} more"] if len(missed) > MISSED else lines


def contradictions(report: Report) -> list[str]:
    """Every bin that was hit although the coverage model says that no operands can, one a line: the model is wrong there."""
    return [f"{report.unit}: THE COVERAGE MODEL IS WRONG: {name}" for name in report.bins.contradicted]


def executed_lines(report: Report) -> list[str]:
    """What was executed of the Verilog, a line a source file, the first lines that were missed, and the sums."""
    files = report.rtl_coverage or ()
    text = []
    for file in files:
        missed = [str(line) for line, count in file.lines.items() if not count]
        more = [] if len(missed) <= MISSED else [f"and {len(missed) - MISSED:,} more"]
        behind = f"; missed lines: {', '.join([*missed[:MISSED], *more])}" if missed else ""
        text.append(f"{report.unit}: {file.file}: {sums([file])}{behind}")
    return [*text, f"{report.unit}: {sums(files)}"] if files else []


def summary(reports: Sequence[Report], seed: int) -> str:
    """The table, the mismatches of each failed run, vectors by operation, and the sums that every run must end with."""
    lines = [table(reports), ""]
    for report in reports:
        lines += failures_in_full(report)
        lines += missed_bins(report)
        lines += contradictions(report)
        lines += executed_lines(report)
        for rule, count in report.waived.items():
            lines.append(f"{report.unit}: waived, {rule}: {count:,} results")
        if report.left_out:
            lines.append(f"{report.unit}: {report.selected:,} of {report.vectors:,} vectors selected")
    operations = Counter[str]()
    for report in reports:
        operations[report.operation] += report.received
    lines += [f"{operation}: {count:,} vectors" for operation, count in operations.items()]
    sent, received = sum(report.sent for report in reports), sum(report.received for report in reports)
    waiting = sum(report.waiting for report in reports)
    queue = "queue empty" if waiting == 0 else f"{waiting:,} still waiting"
    passed = sum(report.passed for report in reports)
    lines.append(f"seed {seed}; {sent:,} sent, {received:,} received, {queue}; {passed} of {len(reports)} units passed")
    return "\n".join(lines)


def failures_in_full(report: Report) -> list[str]:
    """Every reason why a run does not pass, its mismatches by group, and the first ones in full."""
    lines = [f"{report.unit}: {reason}" for reason in report.failures[1:]]
    if report.groups:
        vectors = f"{report.mismatches:,} of {report.received:,} results"
        lines += ["", f"{report.unit}: {vectors} differ, in {len(report.groups)} groups"]
        if report.explanation is not None:
            lines += [*report.explanation.lines(), ""]
        lines += [group_table(report.groups, report.explanation), ""]
        for number, group in enumerate(report.groups[:IN_FULL]):
            lines += [f"first of group {number}: {group.first}", ""]
        lines += [f"again: the same command with --vector {report.groups[0].mismatches[0].vector}", ""]
    if report.first_disagreement is not None:
        lines += [f"{report.unit}: first disagreement of the engines, {report.first_disagreement}", ""]
    return lines


def group_table(groups: Sequence[Group], explanation: Explanation | None = None) -> str:
    """A line a group, with the first of it.

    Args:
        explanation: stands above it; the one cause that it has for all is not said again.
    """
    above = explanation is not None and explanation.has_one_cause
    last = "diagnosis" if any(group.diagnoses for group in groups) else ""
    header = ("group", "class of stimulus", "result", "distance", "elements", "vector", "got", "expected", last)
    rows = [header]
    for number, group in enumerate(groups):
        first = group.mismatches[0]
        got = first.got if isinstance(first.got, str) else f"{first.got:#x}"
        rows.append(
            (
                str(number),
                group.stimulus_class,
                group.result_class,
                group.distance,
                f"{group.count:,}",
                str(first.vector),
                got,
                f"{first.expected:#x}",
                "as above" if above else group.diagnosis,
            )
        )
    return columns(rows, names=4, numbers=4)


def columns(rows: Sequence[Sequence[str]], names: int, numbers: int) -> str:
    """Rows in columns: the first ones aligned to the left, as many to the right, and the rest as it is."""
    widths = [max(len(row[column]) for row in rows) for column in range(names + numbers)]
    lines = []
    for row in rows:
        left = [cell.ljust(width) for cell, width in zip(row[:names], widths[:names], strict=True)]
        right = [cell.rjust(width) for cell, width in zip(row[names : names + numbers], widths[names:], strict=True)]
        lines.append("  ".join([*left, *right, *row[names + numbers :]]).rstrip())
    return "\n".join(lines)
