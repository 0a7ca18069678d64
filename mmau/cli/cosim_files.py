"""The files of `mmau cosim`: the reports that it writes, and the committed evidence for its designs, which they repeat:
campaign simulations and proofs.

Reports are rewritten after each design, so that an interrupted campaign leaves complete files with the finished designs.
"""

import argparse
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from itertools import combinations
from pathlib import Path

from cosim import Report
from cosim.coverage.coverage_model import merged
from golden import Unit
from golden.files import check_output, is_stdout, write_atomically
from mmau.prove.records import Known, committed
from rtl import Design
from rtl.designs.identity import design_key
from rtl.designs.unit_design import as_design


class RecordedEvidence:
    """The recorded evidence for designs.

    Args:
        designs: those that are co-simulated.
    """

    def __init__(self, designs: Sequence[Unit | Design]) -> None:
        self._designs = {design_key(design.as_table()): design for design in map(as_design, designs)}
        self._found: dict[tuple[str, str], Known] = {}

    def of_report(self, report: Report) -> Known | None:
        """The evidence for the generated Verilog that was simulated; None for a user design."""
        key = report.design, report.verilog
        if report.verilog and key not in self._found:
            self._found[key] = committed().of_design(self._designs[report.design], report.verilog)
        return self._found.get(key)

    def lines_of(self, report: Report) -> Sequence[str]:
        """The evidence as lines of text; none for a user design."""
        known = self.of_report(report)
        return () if known is None else known.lines()

    def summary(self, reports: Sequence[Report]) -> Sequence[str]:
        """The lines of one design; for several, the numbers of simulated and proved ones, and reasons for the others."""
        found = [known for report in reports if (known := self.of_report(report)) is not None]
        if len(found) < 2:
            return [line for known in found for line in known.lines()]
        return [
            _counted("Simulated in a campaign", [known.not_simulated for known in found]),
            _counted("Proved", [known.not_proved for known in found]),
        ]


def _counted(what: str, why_not: Sequence[str]) -> str:
    """The number of designs without a reason, and the number of designs for each reason."""
    reasons = Counter(reason for reason in why_not if reason)
    counts = f"{what}: {len(why_not) - reasons.total()} of {len(why_not)}"
    return "; ".join([counts, *(f"{count}: {reason}" for reason, count in reasons.items())])


class ReportFiles:
    """The JUnit file, the HTML page, the coverage and its UCIS XML, and the RTL's line coverage, each if requested.

    Args:
        arguments: the command's arguments: the seed and the path of each file. designs: the number of designs.
        inputs: files that the command reads, which no report may overwrite. recorded: the evidence for the designs.

    Raises:
        ValueError: a path is stdout, an input, given twice, or a file of other coverage. OSError: a file cannot be written.
    """

    def __init__(
        self, arguments: argparse.Namespace, designs: int, inputs: Sequence[Path], recorded: RecordedEvidence
    ) -> None:
        self._junit, self._html, self._ucis = arguments.junit, arguments.html, arguments.ucis
        self._rtl_coverage = arguments.rtl_coverage
        self._coverage, self._seed, self._designs = arguments.coverage_file, arguments.seed, designs
        self._done: list[Report] = []
        self._recorded = recorded
        self._lock = threading.Lock()
        wanted = {"--junit": self._junit, "--html": self._html, "--coverage-file": self._coverage, "--ucis": self._ucis}
        wanted |= {"--rtl-coverage": self._rtl_coverage}
        named = {option: path for option, path in wanted.items() if path is not None}
        self._paths = list(named.values())
        for option, path in named.items():
            if is_stdout(path):
                raise ValueError(f"{option} must name a file, got {path}")
            check_output(path, inputs)
        for (option, path), (other, same) in combinations(named.items(), 2):
            if path.resolve() == same.resolve():
                raise ValueError(f"{option} and {other} must name two files, got {path} twice")
        if self._coverage is not None:
            from cosim.coverage.file import read  # each format is imported where a file of it is asked for

            read(self._coverage)

    @property
    def done(self) -> list[Report]:
        """The reports of the designs that have finished."""
        with self._lock:
            return list(self._done)

    def add(self, report: Report) -> None:
        """Add the report of a finished design, from any thread. Write errors are ignored here: `finish` writes again."""
        with self._lock, suppress(OSError):
            self._done.append(report)
            self._write(self._done, self._designs - len(self._done), {})

    def finish(self, reports: Sequence[Report], errors: Mapping[str, str]) -> None:
        """Write the reports of all designs in the order of the designs, and the errors of designs that could not be run.

        Raises:
            ValueError: a file is one that a design includes or loads. OSError: a file cannot be written.
        """
        with self._lock:
            for path in self._paths:
                check_output(path, (source for report in reports for source in report.sources))
            self._write(reports, 0, errors)
            counts = merged(counts for report in reports for counts in report.coverage)
            if self._coverage is not None:
                from cosim.coverage.file import add

                counts = add(self._coverage, counts)
            if self._ucis is not None:
                from cosim.coverage.file import ucis_xml

                passed = all(report.passed for report in reports) and not errors
                write_atomically(self._ucis, ucis_xml(counts, self._seed, passed, version("mmau")))
            for report in reports:
                if self._rtl_coverage is not None and report.rtl_coverage is not None:
                    from cosim.rtl_coverage.file_coverage import lcov_info

                    write_atomically(self._rtl_coverage, lcov_info(report.rtl_coverage).encode())

    def _write(self, reports: Sequence[Report], running: int, errors: Mapping[str, str]) -> None:
        if self._junit is not None:
            from cosim.runner.junit import junit_xml

            unfinished = {"campaign": f"{running} designs are not done yet"} if running else {}
            write_atomically(self._junit, junit_xml(reports, {**errors, **unfinished}, self._seed))
        if self._html is not None:
            from cosim.runner.html_report import report_page

            write_atomically(self._html, report_page(reports, errors, self._seed, running, self._recorded.lines_of).encode())


def leave_error(arguments: argparse.Namespace, message: str) -> None:
    """Write the error that ended the command into the JUnit file and the page that it names, where no file is: one that
    this project wrote was removed as the command began. What cannot be written is left out."""
    from cosim.runner.html_report import report_page
    from cosim.runner.junit import junit_xml

    errors = {"cosim": message}
    for path, made in ((arguments.junit, junit_xml), (arguments.html, report_page)):
        with suppress(OSError):
            if path is not None and not is_stdout(path) and not path.exists():
                text = made([], errors, arguments.seed)
                write_atomically(path, text if isinstance(text, bytes) else text.encode())
