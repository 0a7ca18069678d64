"""Co-simulates one design, or many side by side, and brings back the reports."""

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from threading import Event

from cosim.bench.selection import Selection
from cosim.bench.stimulus import specification_of
from cosim.dut.description import Dut
from cosim.dut.elaborate import ElaborationError
from cosim.runner.build import SIMULATORS, Built, build, sources_of
from cosim.runner.errors import SimulationError
from cosim.runner.job import Job
from cosim.runner.power_up import PowerUp, power_ups
from cosim.runner.report import Report
from cosim.runner.simulate import simulate
from cosim.runner.tools import check_tools
from cosim.runner.waves import keep_waves
from golden import Unit
from golden.checks import check_choice
from golden.files import check_output
from rtl.designs.design import Design
from rtl.designs.unit_design import as_design
from rtl.tools import in_parallel, supervised
from rtl.verilog.emit import YosysError

CLASSES_OF = 64
"""Vectors that are generated to know the names of the classes: as many as a datapath has formats at most."""

Progress = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is asked of a run, beside the design: the arguments of `run`."""

    vectors: int
    seed: int
    simulator: str
    selection: Selection
    fail_fast: bool
    work_dir: Path | None
    waves: Path | None
    dut: Dut | None
    progress: Progress

    def __post_init__(self) -> None:
        check_choice("simulator", self.simulator, SIMULATORS)
        if self.vectors < 1:
            raise ValueError(f"vectors must be at least 1, got {self.vectors}")
        if self.seed < 0:
            raise ValueError(f"seed must be at least 0, got {self.seed}")
        if self.waves is not None and not self.waves.absolute().parent.is_dir():
            raise ValueError(f"waves must go into an existing folder, got {self.waves}")
        if self.waves is not None:
            check_output(self.waves)
        if self.work_dir is not None and self.work_dir.exists() and not self.work_dir.is_dir():
            raise ValueError(f"the work directory must be a folder, got {self.work_dir}")

    def check(self, design: Design) -> None:
        """Raise ValueError for a request that the design cannot be run with."""
        results = self.dut.results if self.dut else 1
        specification = specification_of(design, results)
        specification.check_count(self.vectors)
        if self.dut is not None:
            self.dut.compare.check(design.operation.d)
        if not self.selection.is_everything:
            first = next(specification.chunks(min(self.vectors, CLASSES_OF), self.seed))
            self.selection.check([name for rows in first.products for name in rows.classes()], self.vectors)


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

    Raises:
        ValueError: a bad argument, a unit that no datapath can hold, or Verilog with other ports (`PortMismatch`).
        MissingTool: a program is not installed. ElaborationError, SimulationError: the design cannot be built or driven.
        YosysError: no Verilog came of it.
    """
    request = Request(
        vectors=vectors,
        seed=seed,
        simulator=simulator,
        selection=selection or Selection(),
        fail_fast=fail_fast,
        work_dir=work_dir,
        waves=waves,
        dut=dut,
        progress=progress or (lambda line: None),
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
) -> list[Report]:
    """`run` for each design, `jobs` of them at a time; reports in their order.

    Args:
        work_dir: each design has a folder of its name in it.
        fail_fast: whether the first mismatch ends all of them; then there are reports of those alone that had ended.
        on_report: called with each report when it is there.

    Raises:
        CampaignError: some cannot be built or driven, which the others do not wait for. All else as `run`, at once.
    """
    reports: dict[int, Report] = {}
    errors: dict[str, str] = {}
    failed = Event()

    def one(number: int, design: Unit | Design) -> None:
        if failed.is_set():
            return
        folder = None if work_dir is None else work_dir / file_name(design.name)
        try:
            report = run(
                design, vectors, seed, simulator, None, None, folder, progress, selection=selection, fail_fast=fail_fast
            )
        except (ElaborationError, SimulationError, YosysError) as error:
            errors[design.name] = str(error)
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
    say, simulator, waves = request.progress, request.simulator, request.waves
    with _folder(request.work_dir) as folder:
        say(f"{design.name}: building with {simulator}")
        sources = sources_of(design, request.dut, folder)
        built = build(simulator, sources, folder, waves is not None, request.work_dir is not None)
        say(f"{design.name}: {request.vectors:,} vectors")
        parts: list[Report] = []
        simulations = power_ups(simulator, sources.timing, request.vectors, request.seed)
        chosen = [part for part in simulations if part.has_any(request.selection)]
        for part in chosen:
            job = _job(design, request, part, built)
            parts.append(simulate(design, built, job, part.plusargs, waves is not None and not parts))
            if waves is not None and len(parts) == 1:
                keep_waves(built, waves)
            if parts[-1].stopped is not None:
                break
    joined = Report.joined(parts)
    left_out = joined.left_out + sum(part.vectors for part in simulations if part not in chosen)
    report = replace(joined, vectors=request.vectors, left_out=left_out, seed=request.seed).explained(design)
    if not report.selected:
        raise ValueError(f"none of the {request.vectors:,} vectors is selected: {request.selection}")
    say(f"{design.name}: {'passed' if report.passed else 'FAILED: ' + report.failures[0]}")
    return report


def _job(design: Design, request: Request, part: PowerUp, built: Built) -> Job:
    """What the testbench is told of one simulation."""
    dut = request.dut
    return Job(
        design=design.as_table(),
        vectors=part.vectors,
        seed=part.seed,
        first=part.first,
        selection=request.selection.as_table(),
        fail_fast=request.fail_fast,
        simulator=request.simulator,
        timing=built.sources.timing.as_table(),
        compare=asdict(dut.compare) if dut else {},
        results=dut.results if dut else 1,
        parent=os.getpid(),
        report_file=str(built.folder / "report.json"),
        heartbeat_file=str(built.folder / "heartbeat"),
    )


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
