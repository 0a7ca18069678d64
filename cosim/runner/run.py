"""Co-simulate one design, or several at a time, and return the reports."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from shutil import copy
from threading import Event
from typing import TYPE_CHECKING, Any

from cosim.build.errors import NO_ROOM, SimulationError
from cosim.dut.tool_log import ElaborationError
from cosim.runner.job import Simulated
from cosim.runner.judge import judged
from cosim.runner.needed_tools import check_tools
from cosim.runner.report import Report
from cosim.runner.request import Request
from cosim.runner.simulate import run_in_cocotb
from golden import Unit
from golden.files import in_use, temporary_folder
from golden.processes import in_parallel, supervised
from rtl.designs.design import Design
from rtl.designs.identity import TOP, verilog_digest
from rtl.designs.unit_design import as_design
from rtl.yosys import YosysError

if TYPE_CHECKING:
    from cosim.diagnosis.explain import Explanation


class CampaignError(SimulationError):
    """Some designs of a campaign cannot be built or driven; the others have been run.

    Attributes:
        reports: reports of the designs that have been run, in order. errors: the error of each other design, by name.
    """

    def __init__(self, reports: Sequence[Report], errors: dict[str, str]) -> None:
        super().__init__("\n".join(f"{name}: {message}" for name, message in errors.items()))
        self.reports, self.errors = list(reports), errors


class _FirstFailure(Exception):
    """A design has failed, and the request is to stop at the first failure."""


def run(design: Unit | Design, request: Request | None = None, **changes: Any) -> Report:
    """Co-simulate one design with its golden model.

    `run(unit, vectors=1000, seed=1)` is the same as `run(unit, Request(vectors=1000, seed=1))`.

    Args:
        design: a unit, a `MultiFormatDesign` or a `TileDesign`.
        request: the options of the simulation; None for the defaults of `Request`.
        changes: fields of `Request` that replace those of the request.

    Raises:
        ValueError: an invalid request, a work directory that another run uses, a unit that no datapath can hold, or Verilog
            with other ports (`PortMismatch`).
        TypeError: `request` is not a `Request`, or a keyword is not a field of it.
        MissingTool: a program is not installed. ElaborationError, SimulationError: the design cannot be built or driven.
        YosysError: Yosys cannot write the Verilog.
    """
    request = _changed(request, changes)
    check_tools(request.runs_in, request.dut is not None and request.runs_in != "ghdl")
    chosen = as_design(design)
    if request.dut is None and any(port.name == "flags" for port in chosen.ports):
        from cosim.dut.generated import dut_like, write_generated  # units without flags do without

        with temporary_folder("mmau-flags-") as name:  # like a user design: only those have outputs beside d
            source = write_generated(chosen, Path(name))
            report = run(chosen, request, dut=dut_like(chosen, [source], TOP))
            if request.work_dir is not None:
                copy(source, request.work_dir)
            return replace(report, verilog=verilog_digest(source.read_text(encoding="utf-8")))
    if request.dut is not None:
        from cosim.dut.reference import reference_of  # a generated design does without

        chosen = reference_of(chosen, request.dut)
    request.check(chosen)
    return supervised(lambda: _run(chosen, request))


def run_many(
    designs: Sequence[Unit | Design],
    request: Request | None = None,
    jobs: int = 2,
    on_report: Callable[[Report], None] = lambda report: None,
    **changes: Any,
) -> list[Report]:
    """Run each design, `jobs` of them at a time, and return the reports in the order of the designs.

    Args:
        request, changes: as for `run`, without `dut` and `waves`, which belong to one design.
        on_report: called with each report as soon as it exists.

    Raises:
        CampaignError: some designs cannot be built or driven, or the disk was full; raised after the others have been run.
            All other exceptions as for `run`, immediately.
    """
    request = _changed(request, changes)
    if request.dut is not None or request.waves is not None:
        raise ValueError("dut and waves go with one design, and run_many takes several: use run for each")
    reports: dict[int, Report] = {}
    errors: dict[str, str] = {}
    failed = Event()

    def one(number: int, design: Unit | Design) -> None:
        if failed.is_set():
            return
        folder = None if request.work_dir is None else request.work_dir / file_name(design.name)
        try:
            report = run(design, request, work_dir=folder)
        except (ElaborationError, SimulationError, YosysError) as error:
            errors[design.name] = str(error)
            return
        except OSError as error:
            if error.errno not in NO_ROOM:
                raise
            errors[design.name] = f"{error.filename}: {error.strerror}"
            return
        reports[number] = report
        on_report(report)
        if request.fail_fast and not report.passed:
            failed.set()
            raise _FirstFailure

    with suppress(_FirstFailure):
        in_parallel([partial(one, number, design) for number, design in enumerate(designs)], jobs)
    in_order = [reports[number] for number in sorted(reports)]
    if errors:
        raise CampaignError(in_order, errors)
    return in_order


def file_name(text: str) -> str:
    """A file name for a design's name."""
    return re.sub(r"[^\w.-]+", "_", text)


def _changed(request: Request | None, changes: Mapping[str, Any]) -> Request:
    """The request of a run, from the defaults, a request and keywords."""
    if request is not None and not isinstance(request, Request):
        raise TypeError(f"request must be a cosim.Request, got {request!r}; its fields are keywords, like vectors=1000")
    return replace(request or Request(), **changes)


def _run(design: Design, request: Request) -> Report:
    """Run a design with a checked request: it is loaded, built and simulated; what differs is explained, what else must be
    known is judged."""
    with _folder(request.work_dir) as folder:
        send = _in_volume if request.mode == "volume" else run_in_cocotb
        simulated = send(design, request, folder)
        explanation = _explanation(design, request, simulated)
        trial = send if request.in_cocotb == request.runs_in else run_in_cocotb
        found = judged(design, request, folder, simulated, explanation, trial)
        report = Report.of_run(design, simulated, request.runs_in, request.seed, explanation, mode=request.mode, **found)
    if not report.selected:
        raise ValueError(f"none of the {request.vectors:,} vectors is selected: {request.selection}")
    request.report_progress(f"{design.name}: {'passed' if report.passed else 'FAILED: ' + report.failures[0]}")
    return report


def _explanation(design: Design, request: Request, simulated: Simulated) -> "Explanation | None":
    """The explanation of mismatches. The changes of the model that explain some have results of the unit's format."""
    if not simulated.outcome.differing or request.widths.d is not None:
        return None
    from cosim.diagnosis.explain import explanation_of  # a run that passes does without

    timing = request.timing(design)
    latency = timing.latency if timing.protocol == "fixed-latency" else None
    return explanation_of(simulated.outcome, simulated.minimised, design, latency)


def _in_volume(design: Design, request: Request, folder: Path) -> Simulated:
    from cosim.runner.in_volume import run_in_volume  # a run in cocotb does without

    return run_in_volume(design, request, folder)


@contextmanager
def _folder(work_dir: Path | None) -> Iterator[Path]:
    if work_dir is not None:
        work_dir.mkdir(parents=True, exist_ok=True)
        with in_use(work_dir.resolve()):
            yield work_dir.resolve()
        return
    with temporary_folder("mmau-cosim-") as temporary:
        try:
            yield Path(temporary)
        except OSError as error:  # for a full disk it does not name the place
            if error.filename is None:
                raise type(error)(error.errno, error.strerror, temporary) from error
            raise
