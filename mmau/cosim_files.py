"""The files that `mmau cosim` writes beside its table: written anew as each design is done, so that a campaign which is
killed leaves what was done, and never half a file."""

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from cosim import Report
from cosim.runner.junit import junit_xml
from cosim.runner.page import report_page
from golden.files import check_output, is_stdout, write_atomically


class ReportFiles:
    """The JUnit file and the HTML page, each where it is wanted.

    Args:
        junit, html: where to write them, or None. seed: of the run. designs: how many there are.
        inputs: files that are read, which neither must be.

    Raises:
        ValueError: stdout, the same file twice, or an input. OSError: one of them cannot be written.
    """

    def __init__(self, junit: Path | None, html: Path | None, seed: int, designs: int, inputs: Sequence[Path]) -> None:
        self._junit, self._html, self._seed, self._designs = junit, html, seed, designs
        self._done: list[Report] = []
        self._lock = threading.Lock()
        for option, path in (("--junit", junit), ("--html", html)):
            if path is not None and is_stdout(path):
                raise ValueError(f"{option} must name a file, got {path}")
            if path is not None:
                check_output(path, inputs)
        if junit is not None and html is not None and junit.absolute() == html.absolute():
            raise ValueError(f"--junit and --html must name two files, got {junit} twice")

    def add(self, report: Report) -> None:
        """One more design is done; of a campaign, in any thread. A disk that is full now may not be at the end."""
        with self._lock, suppress(OSError):
            self._done.append(report)
            self._write(self._done, {}, self._designs - len(self._done))

    def finish(self, reports: Sequence[Report], errors: Mapping[str, str]) -> None:
        """All are done: in their order, with those that could not be run.

        Raises:
            OSError: a file cannot be written.
        """
        with self._lock:
            self._write(reports, errors, 0)

    def _write(self, reports: Sequence[Report], errors: Mapping[str, str], running: int) -> None:
        if self._junit is not None:
            write_atomically(self._junit, junit_xml(reports, errors, self._seed))
        if self._html is not None:
            write_atomically(self._html, report_page(reports, errors, self._seed, running).encode())
