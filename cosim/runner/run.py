"""Co-simulates one design, or many side by side, and brings back the reports."""

import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event

from cosim.bench.selection import Selection
from cosim.compile.errors import NO_ROOM, SimulationError
from cosim.dut.description import Dut
from cosim.dut.elaborate import ElaborationError
from cosim.dut.generated import GENERATED
from cosim.runner.in_cocotb import run_in_cocotb
from cosim.runner.in_volume import run_in_volume
from cosim.runner.report import Report
from cosim.runner.request import Progress, Request
from cosim.runner.tools import check_tools
from golden import Unit
from jobs.contents import design_key, verilog_digest
from rtl.designs.design import Design
from rtl.designs.unit_design import as_design
from rtl.tools import in_parallel, supervised
from rtl.verilog.emit import YosysError


class CampaignError(SimulationError):
    """Some of many designs cannot be built or driven; the others have been run.

    Attributes:
        reports: of those that have been run, in order. errors: the others' names, with what is wrong.
    """

    def __init__(self, reports: Sequence[Report], errors: dict[str, str]) -> None:
        super().__init__("\n".join(f"{name}: {message}" for name, message in errors.items()))
        self.reports, self.errors = list(reports), errors


class _FirstFailure(Exception):
    """A design of many has failed, and no other is wanted any more."""


def run(
    design: Unit | Design,
    vectors: int = 20000,
    seed: int = 0,
    simulator: str = "verilator",
    waves: Path | None = None,
    dut: Dut | None = None,
    work_dir: Path | None = None,
    progress: Progress | None = None,
    selection: Selection | None = None,
    fail_fast: bool = False,
    mode: str = "cocotb",
    processes: int = 1,
    rtl_coverage: bool = False,
) -> Report:
    """Co-simulate one design with its golden model.

    Args:
        design: what is simulated: a unit, or a `MultiFormatDesign` or a `TileDesign`.
        vectors, seed: of the stimulus (golden.stimulus); the same ones give the same run.
        simulator: one of `SIMULATORS`.
        waves: where to leave a waveform (VCD from Verilator, FST from Icarus), or None; beside it a save file for GTKWave.
        dut: Verilog of one's own that should be the design; None generates it.
        work_dir: where to build, which stays; None builds in a temporary folder and leaves nothing but the log of a failure.
        progress: called with a line at every step.
        selection: which of the vectors are sent, None for all.
        fail_fast: whether the run ends at the first mismatch.
        mode: "cocotb", or "volume": vectors are made, sent and compared in native code. Of a run of more than 20,000 the
            first ones are those of a run in cocotb, and libmmau makes the others.
        rtl_coverage: whether the report says which lines of the Verilog were executed and which bits changed; with Verilator
            in cocotb. `work_dir` keeps Verilator's own files, coverage-0.dat and on.
        processes: how many send vectors at a time, in volume mode. The report does not depend on it.

    Raises:
        ValueError: a bad argument, a unit that no datapath can hold, or Verilog with other ports (`PortMismatch`).
        MissingTool: a program is not installed. ElaborationError, SimulationError: the design cannot be built or driven.
        YosysError: no Verilog came of it.
    """
    request = Request(
        vectors=vectors,
        seed=seed,
        simulator=simulator,
        mode=mode,
        selection=selection or Selection(),
        fail_fast=fail_fast,
        work_dir=work_dir,
        waves=waves,
        dut=dut,
        progress=progress or (lambda line: None),
        processes=processes,
        rtl_coverage=rtl_coverage,
    )
    check_tools(simulator, dut is not None)
    chosen = as_design(design)
    request.check(chosen)
    return supervised(lambda: _run(chosen, request))


def run_many(
    designs: Sequence[Unit | Design],
    jobs: int = 2,
    vectors: int = 20000,
    seed: int = 0,
    simulator: str = "verilator",
    work_dir: Path | None = None,
    progress: Progress | None = None,
    selection: Selection | None = None,
    fail_fast: bool = False,
    on_report: Callable[[Report], None] = lambda report: None,
    mode: str = "cocotb",
) -> list[Report]:
    """`run` for each design, `jobs` of them at a time; reports in their order.

    Args:
        work_dir: each design has a folder of its name in it.
        fail_fast: whether the first mismatch ends all of them; then there are reports of those alone that had ended.
        on_report: called with each report when it is there.

    Raises:
        CampaignError: some cannot be built or driven, or found the disk full, which the others do not wait for. All else as
            `run`, at once.
    """
    reports: dict[int, Report] = {}
    errors: dict[str, str] = {}
    failed = Event()

    def one(number: int, design: Unit | Design) -> None:
        if failed.is_set():
            return
        folder = None if work_dir is None else work_dir / file_name(design.name)
        try:
            report = run(design, vectors, seed, simulator, None, None, folder, progress, selection, fail_fast, mode)
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
        if fail_fast and not report.passed:
            failed.set()
            raise _FirstFailure

    with suppress(_FirstFailure):
        in_parallel([partial(one, number, design) for number, design in enumerate(designs)], jobs)
    in_order = [reports[number] for number in sorted(reports)]
    if errors:
        raise CampaignError(in_order, errors)
    return in_order


def file_name(text: str) -> str:
    """A name for files of a design."""
    return re.sub(r"[^\w.-]+", "_", text)


def _run(design: Design, request: Request) -> Report:
    """`run`, with a request that is good."""
    say = request.progress
    with _folder(request.work_dir) as folder:
        sent = run_in_volume if request.mode == "volume" else run_in_cocotb
        report = sent(design, request, folder).explained(design)
        if request.dut is None:
            text = (folder / GENERATED).read_text(encoding="utf-8")
            report = replace(report, design=design_key(design.as_table()), verilog=verilog_digest(text))
    if not report.selected:
        raise ValueError(f"none of the {request.vectors:,} vectors is selected: {request.selection}")
    say(f"{design.name}: {'passed' if report.passed else 'FAILED: ' + report.failures[0]}")
    return report


@contextmanager
def _folder(work_dir: Path | None) -> Iterator[Path]:
    if work_dir is not None:
        work_dir.mkdir(parents=True, exist_ok=True)
        yield work_dir.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="mmau-cosim-") as temporary:
        try:
            yield Path(temporary)
        except OSError as error:  # of a full disk it does not say where
            if error.filename is None:
                raise type(error)(error.errno, error.strerror, temporary) from error
            raise
