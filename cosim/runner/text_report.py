"""Writes reports as text."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cosim.bench.mismatch import Group
from cosim.bench.returned import OF
from cosim.bench.waits import lacking
from cosim.runner.report import Report

if TYPE_CHECKING:
    from cosim.diagnosis.explain import Explanation

MISSED = 8
"""Missed bins of a run that are listed; --json and the HTML page list all."""

GROUPS = 20
"""Groups in the table; --json and the HTML page have all."""

IN_FULL = 5
"""Groups whose first mismatch is shown in full; the others have one line each."""


def table(reports: Sequence[Report]) -> str:
    """A table with a line for each report: unit, vectors, classes and bins hit, mismatches, vectors/s, golden's engine, rows
    of the sample for which the reference engine agrees with it, verdict."""
    header = (
        "unit",
        "operation",
        "vectors",
        "classes hit",
        "bins hit",
        "mismatches",
        "vectors/s",
        "engine",
        "checked by reference",
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
                passed(report) if report.passed else f"FAILED: {report.failures[0]}",
            )
        )
    return columns(rows, names=2, numbers=7)


def passed(report: Report) -> str:
    """The verdict of a run that passed, with how many of the possible inputs it sent."""
    if not report.input_bits:
        return "passed"
    return f"passed: {report.received:,} vectors, of 2^{report.input_bits} that are possible"


def missed_pairs(report: Report) -> list[str]:
    """Lines that say how many pairs of result classes occurred back to back, of the possible pairs of the classes seen."""
    seen = {name for pair in report.result_pairs for name in pair.split(", ")}
    if len(seen) < 2:
        return []
    came = f"{report.unit}: {len(report.result_pairs)} of {len(seen) ** 2} pairs of result classes came back to back"
    missing = [f"{a}, {b}" for a in sorted(seen) for b in sorted(seen) if f"{a}, {b}" not in report.result_pairs]
    more = "; …" if len(missing) > MISSED else ""
    return [f"{came}; missing: {'; '.join(missing[:MISSED])}{more}" if missing else came]


def of_controls(report: Report) -> list[str]:
    """A line for each input that chooses the arithmetic: what its values met."""
    lines = []
    for port, found in report.controls.items():
        known = sorted({name for of in found["values"].values() for name in of})
        met = ", ".join(f"{value} {sum(n > 0 for n in of.values())}" for value, of in found["values"].items())
        pairs = len(found["values"]) ** 2
        missed = found["missed"]
        more = "; …" if len(missed) > MISSED else ""
        missing = f"; missing: {'; '.join(missed[:MISSED])}{more}" if missed else ""
        came = f"{pairs - len(missed)} of {pairs} pairs of values came back to back{missing}"
        lines.append(f"{report.unit}: {port}: of {len(known)} classes of operands met {met}; {came}")
    return lines


def of_flags(report: Report) -> list[str]:
    """A line for each output of exception flags: how many results raised which flags, and which no result raised alone."""
    lines = []
    for port, found in report.flags.items():
        met = ", ".join(f"{names} {sum(of.values()):,}" for names, of in found["raised"].items())
        missed = f"; missing: {', '.join(found['missed'])}" if found["missed"] else ""
        lines.append(f"{report.unit}: {port}: {met}{missed}")
    return lines


def missed_waits(report: Report) -> list[str]:
    """A line that names the lengths of gaps and stalls that a class of results has not met."""
    missing = lacking(report.waits)
    more = "; …" if len(missing) > MISSED else ""
    return [f"{report.unit}: lengths of waits not met (cycles): {'; '.join(missing[:MISSED])}{more}"] if missing else []


def bins_hit(report: Report) -> str:
    """The number of bins hit and of reachable bins; empty for a run without coverage models."""
    return f"{report.bins.hit:,} of {report.bins.reachable:,}" if report.coverage else ""


def missed_bins(report: Report) -> list[str]:
    """The first missed bins, one on each line."""
    missed = report.bins.missed
    lines = [f"{report.unit}: missed {name}" for name in missed[:MISSED]]
    return [*lines, f"{report.unit}: and {len(missed) - MISSED:,} more"] if len(missed) > MISSED else lines


def contradictions(report: Report) -> list[str]:
    """Every bin that was hit although the coverage model declares it unreachable, one on each line: the model is wrong."""
    return [f"{report.unit}: THE COVERAGE MODEL IS WRONG: {name}" for name in report.bins.contradicted]


def executed_lines(report: Report) -> list[str]:
    """The coverage of each source file with its first missed lines, and the sums."""
    files, text = report.rtl_coverage, list[str]()
    if not files:
        return []
    from cosim.rtl_coverage.file_coverage import sums  # a run without it does without

    for file in files:
        missed = [str(line) for line, count in file.lines.items() if not count]
        more = [] if len(missed) <= MISSED else [f"and {len(missed) - MISSED:,} more"]
        behind = f"; missed lines: {', '.join([*missed[:MISSED], *more])}" if missed else ""
        text.append(f"{report.unit}: {file.file}: {sums([file])}{behind}")
    return [*text, f"{report.unit}: {sums(files)}"]


def summary(reports: Sequence[Report], seed: int) -> str:
    """The table, the mismatches of each failed run, the vectors of each operation, and the sums."""
    lines = [table(reports), *(f"{report.unit}: {line}" for report in reports for line in report.not_looked_at), ""]
    for report in reports:
        lines += failures_in_full(report)
        lines += [] if report.reset is None else [f"{report.unit}: {report.reset}"]
        lines += [f"{report.unit}: {reading}" for reading in report.warnings]
        lines += missed_bins(report)
        lines += missed_pairs(report)
        lines += of_controls(report) + of_flags(report)
        lines += missed_waits(report)
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
    """The further reasons why a run does not pass, its mismatches by group, and the first ones in full."""
    lines = [f"{report.unit}: {reason}" for reason in report.failures[1:]]
    if report.groups:
        vectors = f"{report.mismatches:,} of {report.received:,} results"
        lines += ["", f"{report.unit}: {vectors} differ, in {len(report.groups)} groups"]
        if report.explanation is not None:
            lines += [*report.explanation.lines(), ""]
        origins = report.origins
        lines += [*origins.values(), ""] if origins else []
        lines += [group_table(report.groups[:GROUPS], report.explanation), ""]
        if len(report.groups) > GROUPS:
            further = report.groups[GROUPS:]
            elements = sum(group.count for group in further)
            lines += [f"and {len(further)} groups more with {elements:,} elements: --json and --html have all", ""]
        for number, group in enumerate(report.groups[:IN_FULL]):
            lines += [f"first of group {number}: {group.first}", ""]
        first = report.groups[0].mismatches[0]
        if first.place in {name.rpartition(OF)[2] for name in origins}:
            lines += ["the first of group 0 depends on the results before it; --vector sends it alone, and it agrees", ""]
        else:
            is_flag = first.products.startswith("flags ")
            leaks = ", which shows no flag that is left over from results before it" if is_flag else ""
            lines += [f"to repeat the first of group 0 alone{leaks}: the same command with --vector {first.vector}", ""]
    if report.first_disagreement is not None:
        lines += [f"{report.unit}: first disagreement of the engines, {report.first_disagreement}", ""]
    return lines


def group_table(groups: Sequence[Group], explanation: "Explanation | None" = None) -> str:
    """A table with a line for each group and its first mismatch.

    Args:
        explanation: the explanation printed above; where it has one cause for all, the table does not repeat it.
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
    """Align rows in columns: first `names` columns to the left, then `numbers` columns to the right, the rest unaligned."""
    widths = [max(len(row[column]) for row in rows) for column in range(names + numbers)]
    lines = []
    for row in rows:
        left = [cell.ljust(width) for cell, width in zip(row[:names], widths[:names], strict=True)]
        right = [cell.rjust(width) for cell, width in zip(row[names : names + numbers], widths[names:], strict=True)]
        lines.append("  ".join([*left, *right, *row[names + numbers :]]).rstrip())
    return "\n".join(lines)
