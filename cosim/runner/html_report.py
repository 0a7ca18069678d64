"""Reports as one self-contained HTML page."""

from collections.abc import Callable, Mapping, Sequence

from cosim.bench.mismatch import Group
from cosim.coverage.coverage_model import Counts, covergroups, results
from cosim.rtl_coverage.file_coverage import FileCoverage, sums
from cosim.runner.report import Report
from cosim.runner.text_report import bins_hit
from golden import Trace
from golden.html import Markup, details, element, joined, page, table

OPENED = 3
"""Number of groups of mismatches that are open at first; the others open by a click or the return key."""


KnownOf = Callable[[Report], Sequence[str]]
"""Returns lines of text about a report's design: recorded evidence beyond its run."""


def nothing_known(report: Report) -> Sequence[str]:
    """No lines, for a caller without recorded evidence."""
    return ()


def report_page(
    reports: Sequence[Report], errors: Mapping[str, str], seed: int, running: int = 0, known: KnownOf = nothing_known
) -> str:
    """The page of a run or a campaign.

    Args:
        errors: the error of each design that could not be run, by its name.
        running: number of designs that are not done yet.
        known: returns lines for each design's section.
    """
    body = [verdict(reports, errors, seed, running), designs(reports, errors)]
    body += [design_section(report, number, len(reports) == 1, known(report)) for number, report in enumerate(reports)]
    body += [
        joined([element("h2", f"{name}: not run"), element("pre", message, tabindex="0")])
        for name, message in errors.items()
    ]
    return page("Co-simulation report", *body)


def verdict(reports: Sequence[Report], errors: Mapping[str, str], seed: int, running: int) -> Markup:
    """The number of designs that passed, and the sums."""
    passed = sum(report.passed for report in reports)
    whole = len(reports) + len(errors) + running
    good = passed == whole and whole > 0
    lines = [element("p", f"{passed} of {whole} designs passed", class_="passed" if good else "failed")]
    if running:
        lines.append(element("p", f"{running} designs are not done yet", class_="failed"))
    sent, received = sum(report.sent for report in reports), sum(report.received for report in reports)
    waiting = sum(report.waiting for report in reports)
    text = f"Seed {seed}. {sent:,} vectors sent, {received:,} results received, {waiting:,} without a result."
    return joined([*lines, element("p", text)])


def designs(reports: Sequence[Report], errors: Mapping[str, str]) -> Markup:
    """The table of all designs."""
    header = (
        "design",
        "operation",
        "simulator",
        "results",
        "classes hit",
        "bins hit",
        "mismatches",
        "results/s",
        "checked by reference",
        "verdict",
    )
    rows: list[tuple[str, ...]] = []
    for number, report in enumerate(reports):
        hit = f"{report.classes_hit} of {len(report.classes)}"
        checked = f"{report.checked - report.disagreements:,} of {report.checked:,}"
        link = element("a", report.unit, href=f"#design-{number}")
        counts = (
            f"{report.received:,}",
            hit,
            bins_hit(report),
            f"{report.mismatches:,}",
            f"{report.vectors_per_second:,.0f}",
            checked,
        )
        rows.append((link, report.operation, report.ran_in, *counts, passed_or_failed(report.passed)))
    rows += [(name, *[""] * 8, element("span", "not run", class_="failed")) for name in errors]
    return table(header, rows, "Designs", numbers=range(3, 9))


def passed_or_failed(passed: bool) -> Markup:
    """The verdict as a word; the colour only repeats it."""
    return element("span", "passed" if passed else "FAILED", class_="passed" if passed else "failed")


def design_section(report: Report, number: int, alone: bool, known: Sequence[str] = ()) -> Markup:
    """The section of one design: failures, mismatches, and compared classes, which are open for a single design."""
    parts = [element("h2", report.unit, " ", passed_or_failed(report.passed), id=f"design-{number}")]
    parts += [element("p", line) for line in (*report.not_looked_at, *known)]
    if report.failures:
        parts.append(element("ul", *(element("li", reason) for reason in report.failures)))
    if report.reset is not None:
        parts.append(element("p", report.reset))
    parts += [element("p", reading) for reading in report.warnings]
    if report.explanation is not None:
        parts.append(report.explanation.html_body())
    parts += [element("p", line) for line in report.origins.values()]
    if report.groups:
        parts += mismatches(report.groups, () if report.explanation is None else report.explanation.of_groups)
    if report.first_disagreement is not None:
        parts += [element("h3", "First disagreement of the engines"), pre(report.first_disagreement)]
    if report.bins.contradicted:
        wrong = [element("li", name) for name in report.bins.contradicted]
        title = "The coverage model is wrong: bins were hit that it declares unreachable"
        parts += [element("h3", title, class_="failed"), element("ul", *wrong)]
    parts += [details(f"Coverage of {counts.model}", coverage_table(counts)) for counts in report.coverage]
    if report.rtl_coverage:
        parts.append(details(f"Coverage of the RTL: {sums(report.rtl_coverage)}", executed_table(report.rtl_coverage)))
    parts.append(details("What was compared", compared(report), opened=alone and not report.groups))
    return element("section", *parts)


def mismatches(groups: Sequence[Group], traces: Sequence[Trace | None]) -> list[Markup]:
    """The groups, with the first mismatch of each in full.

    Args:
        traces: traces of the first mismatch of each of the first groups.
    """
    header = ["class of stimulus", "result", "distance", "elements", "first vector", "cycle", "time (ns)"]
    diagnosed = any(group.diagnoses for group in groups)
    rows = []
    for group in groups:
        first = group.mismatches[0]
        cycle = "" if first.cycle is None else f"{first.cycle:,}"
        when = (f"{group.count:,}", str(first.vector), cycle, f"{first.time:,.0f}")
        diagnosis = (group.diagnosis,) if diagnosed else ()
        rows.append((group.stimulus_class, group.result_class, group.distance, *when, *diagnosis))
    header += ["diagnosis"] if diagnosed else []
    parts = [element("h3", "Mismatches"), table(header, rows, f"{len(groups)} groups", numbers=range(3, 7))]
    for number, group in enumerate(groups):
        title = f"{group.stimulus_class}: {group.result_class}, {group.distance} ({group.count:,})"
        shown = [trace for trace in traces[number : number + 1] if trace is not None]
        steps = [details("The model's steps for it", trace.html_body(below=2)) for trace in shown]
        parts.append(details(title, *group_body(group), *steps, opened=number < OPENED))
    return parts


def group_body(group: Group) -> list[Markup]:
    """The first mismatch of a group in full, and a line for each recorded mismatch."""
    parts = [pre(group.first)]
    if len(group.mismatches) > 1:
        header = ("vector", "place", "cycle", "time (ns)", "got", "expected", "distance (ulp)")
        rows = []
        for each in group.mismatches:
            codes = tuple(
                element("code", code if isinstance(code, str) else f"{code:#x}") for code in (each.got, each.expected)
            )
            cycle = "" if each.cycle is None else f"{each.cycle:,}"
            ulp = "" if each.ulp is None else f"{each.ulp:+,}"
            rows.append((str(each.vector), each.place, cycle, f"{each.time:,.0f}", *codes, ulp))
        caption = f"The first {len(rows)} of {group.count:,}"
        parts.append(table(header, rows, caption, numbers=(0, 2, 3, 6)))
    return parts


def compared(report: Report) -> Markup:
    """The compared classes of the stimulus and of the results, the waivers, and the resets."""
    classes = [(name, f"{count:,}") for name, count in report.classes.items()]
    results = [(name, f"{count:,}") for name, count in report.result_classes.items()]
    parts = [
        table(("class of stimulus", "elements compared"), classes, "Stimulus", numbers=(1,)),
        table(("class of expected result", "elements compared"), results, "Results", numbers=(1,)),
    ]
    tables: dict[str, dict[str, dict[str, int]]] = {}
    for port, found in report.controls.items():
        pairs = f"{len(found['pairs'])} of {len(found['values']) ** 2} pairs"
        tables[f"Values of {port}; {pairs} of them came back to back"] = found["values"]
    for port, found in report.flags.items():
        tables[f"Exception flags of {port}; missing: {', '.join(found['missed']) or 'none'}"] = found["raised"]
    for title, values in tables.items():
        names = dict.fromkeys(name for of in values.values() for name in of)
        rows = [(name, *(f"{of.get(name, 0):,}" for of in values.values())) for name in names]
        parts.append(table(("class of operands", *values), rows, title, numbers=range(1, len(values) + 1)))
    if report.waived:
        waived = [(rule, f"{count:,}") for rule, count in report.waived.items()]
        parts.append(table(("waiver", "results that needed it"), waived, "Waivers", numbers=(1,)))
    notes = [f"Expected results by the engine {report.engine}."]
    if report.dropped:
        notes.append(f"{report.dropped:,} vectors were dropped by resets in the middle of the stream and sent again.")
    if report.left_out:
        notes.append(f"{report.left_out:,} of {report.vectors:,} vectors were excluded by the selection.")
    return joined([*parts, element("p", " ".join(notes))])


def coverage_table(counts: Counts) -> Markup:
    """The covergroups of a model, the missed bins, and the unreachable bins with the reasons."""
    found = results(counts)
    rows = [(group.name, f"{group.hit:,}", f"{group.reachable:,}", f"{group.unreachable:,}") for group in found]
    parts = [table(("covergroup", "bins hit", "of", "unreachable"), rows, "Covergroups", numbers=range(1, 4))]
    missed = [(group.name, name) for group in found for name in group.missed]
    if missed:
        parts.append(table(("covergroup", "bin"), missed, "Missed"))
    reasons = [
        (group.name, name, reason)
        for group in covergroups(counts.model)
        for name, reason in zip(group.bins, group.reasons, strict=True)
        if reason is not None
    ]
    parts.append(details("Unreachable bins", table(("covergroup", "bin", "reason"), reasons, "Unreachable")))
    return joined(parts)


def executed_table(files: Sequence[FileCoverage]) -> Markup:
    """The executed and missed lines and bits of each source file."""
    rows = [
        (file.file, f"{file.lines_hit:,}", f"{len(file.lines):,}", f"{file.bits_toggled:,}", f"{len(file.bits):,}")
        for file in files
    ]
    header = ("file", "lines hit", "of", "bits toggled", "of")
    parts = [table(header, rows, "Source files", numbers=range(1, 5))]
    lines = [(file.file, str(line)) for file in files for line, count in file.lines.items() if not count]
    bits = [(file.file, str(line), bit) for file in files for (line, bit), count in file.bits.items() if not count]
    if lines:
        parts.append(details("Missed lines", table(("file", "line"), lines, "Missed lines", numbers=(1,))))
    if bits:
        parts.append(details("Bits not toggled", table(("file", "line", "bit"), bits, "Bits not toggled", numbers=(1,))))
    return joined(parts)


def pre(text: str) -> Markup:
    """Preformatted text that can be scrolled by keyboard too."""
    return element("pre", text, tabindex="0")
