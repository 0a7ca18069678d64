"""Simulations in cocotb: a whole run, or a few vectors alone; a design that hangs or ends one yields a report too."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from cosim.bench.scoreboard import Outcome
from cosim.build.build import Built, build
from cosim.build.cache import TIMESCALE
from cosim.build.errors import full_disk, place_in_log, simulation_error
from cosim.build.power_up import PowerUp, power_ups
from cosim.build.sources import sources_of
from cosim.dut.tool_log import first_error, read_log
from cosim.runner.job import ENDED, JOB_VARIABLE, Beat, Job, Watch, write_job
from cosim.runner.report import Report
from cosim.runner.request import Request
from golden.engines import fastest_engine
from rtl.designs.design import Design

if TYPE_CHECKING:
    from cosim.rtl_coverage.coverage_files import CoverageFiles

ENDINGS = ("SIGABRT", "SIGFPE", "SIGSEGV", "exited with status")
"""Endings of a simulator that the design may have caused: Verilator calls abort() on a loop that does not settle. Any other
signal comes from outside."""

FROM_THE_DESIGN = r"(?<!:0: Verilog )\$(finish|stop|fatal)\b|^(\[\S+\] )?%(Error|Fatal)|^FATAL"
"""Log lines of a simulation that the design ended or made break off; at `:0:` cocotb ended it."""

FAILED_ASSERTION = r"ERROR: \S.*:\d+:"
"""Icarus' line for `$error` and for an assertion that fails, which do not end its simulation as they end Verilator's."""


PLAIN_IMPORTS = {"COCOTB_REWRITE_ASSERTION_FILES": ""}
"""Environment for cocotb: otherwise it lets an installed pytest recompile every module for the text of failed assertions."""


def simulate(design: Design, built: Built, job: Job, plusargs: Sequence[str], waves: bool) -> Report:
    """Run one simulation. Where the design ends it, hangs or makes it break off, the report does not pass.

    Raises:
        SimulationError: the simulator or the testbench failed, not the design.
    """
    folder, log = built.folder, built.folder / "simulation.log"
    watch = Watch(Path(job.heartbeat_file))
    ended = _run(built, write_job(job), plusargs, waves, log, watch)
    text = read_log(log) if log.is_file() else ""
    report_file = Path(job.report_file)
    if report_file.is_file():
        report = Report.from_json(report_file.read_text(encoding="utf-8"))
        if ended is None or not report.passed:  # breaking off after a failure cannot change the verdict
            report = _with_place(report, text)
            return _with_assertion(report, text) if job.simulator == "icarus" else report
    reason = _designs_fault(text, ended, watch) if full_disk(folder) is None else None
    if reason is not None:
        return _broken_off(design, job, watch.read(), reason)
    if ended is not None:
        raise simulation_error(f"the simulation of {built.sources.top} broke off: {ended}", log, built.stays)
    raise simulation_error(f"the testbench of {built.sources.top} failed", log, built.stays)


def _designs_fault(log: str, ended: str | None, watch: Watch) -> str | None:
    """Describe how the design ended the simulation without a report; None where the design is not the cause.

    Args:
        ended: how the simulator failed; None where it ended normally.
    """
    if watch.gave_up:
        return f"the simulation stood still for {watch.limit:.0f} s, as in a loop without delay"
    place = place_in_log(log, FROM_THE_DESIGN)
    if ended is None:
        return None if place is None else f"{ENDED}: {place}"
    if not any(sign in ended for sign in ENDINGS):
        return None
    if place is not None or watch.read().sent:
        return f"the simulation broke off: {ended}: {place or first_error(log)}"
    return None


def _run(built: Built, job_file: Path, plusargs: Sequence[str], waves: bool, log: Path, watch: Watch) -> str | None:
    """Run the simulator; return how it failed, or None."""
    built.commands.give_up = watch
    try:
        built.runner.test(
            test_module="cosim.runner.testbench",
            hdl_toplevel=built.sources.top,
            hdl_toplevel_lang="verilog",
            build_dir=built.folder / "build",
            test_dir=built.folder,
            results_xml=str(built.folder / "results.xml"),
            extra_env={JOB_VARIABLE: str(job_file), **PLAIN_IMPORTS},
            plusargs=list(plusargs),
            waves=waves,
            timescale=TIMESCALE,
            log_file=log,
        )
    except RuntimeError as error:
        return str(error)
    except SystemExit:  # within pytest, cocotb's runner exits when a test in the simulation fails
        pass
    finally:
        built.commands.give_up = None
    return None


def _with_place(report: Report, log: str) -> Report:
    """The report; where the design ended the simulation, with the place in its source."""
    place = place_in_log(log, FROM_THE_DESIGN)
    if report.stopped != ENDED or place is None:
        return report
    return replace(report, stopped=f"{ENDED}: {place}")


def _with_assertion(report: Report, log: str) -> Report:
    """The report; where an assertion of the design failed and nothing stopped the run, that is its failure."""
    place = place_in_log(log, FAILED_ASSERTION)
    if report.stopped is not None or place is None:
        return report
    return replace(report, stopped=f"an assertion of the design failed: {place[place.index('ERROR: ') :]}")


def _broken_off(design: Design, job: Job, beat: Beat, reason: str) -> Report:
    """The report of a simulation that wrote none, from its heartbeat."""
    where = f"after {beat.sent:,} vectors had gone in and {beat.received:,} results had come out"
    outcome = Outcome(
        vectors=job.vectors,
        left_out=0,
        sent=beat.sent,
        dropped=0,
        received=beat.received,
        waiting=max(0, beat.sent - beat.received),
        surplus=0,
        mismatches=beat.mismatches,
        first_mismatch=None,
        groups=(),
        differing=(),
        agreeing=(),
        engine=fastest_engine(),
        checked=0,
        disagreements=0,
        first_disagreement=None,
        waived={},
        stopped=f"{reason}, {where}",
        classes={},
        result_classes={},
    )
    return Report.of(design, outcome, job.simulator, job.seed, 0.0)


def run_in_cocotb(design: Design, request: Request, folder: Path) -> Report:
    """Run all simulations and join them to one report, without explanation."""
    say, simulator, waves = request.report_progress, request.simulator, request.waves
    say(f"{design.name}: building with {simulator}")
    sources = sources_of(design, request.dut, folder)
    built = build(
        simulator, sources, folder, waves is not None, request.work_dir is not None, rtl_coverage=request.rtl_coverage
    )
    say(f"{design.name}: {request.vectors:,} vectors")
    parts: list[Report] = []
    coverage = _coverage_files(folder) if request.rtl_coverage else None
    simulations = power_ups(simulator, sources.timing, request.vectors, request.seed)
    chosen = [part for part in simulations if part.has_any(request.selection)]
    for part in chosen:
        plusargs = (*part.plusargs, *(() if coverage is None else coverage.plusargs(len(parts))))
        with _exchange(folder) as files:
            job = _job(design, request, part, built, files)
            parts.append(simulate(design, built, job, plusargs, waves is not None and not parts))
        if waves is not None and len(parts) == 1:
            _save_waves(built, waves)
        if parts[-1].stopped is not None:
            break
    joined = Report.joined(parts)
    left_out = joined.left_out + sum(part.vectors for part in simulations if part not in chosen)
    executed = None if coverage is None else coverage.executed(len(parts), joined.stopped is not None)
    joined = replace(joined, vectors=request.vectors, left_out=left_out, seed=request.seed, rtl_coverage=executed)
    return replace(joined, sources=sources.digests)


def replay(design: Design, request: Request, folder: Path, given: Mapping[str, Any]) -> Report:
    """Send a few vectors alone, such as one of a volume run.

    Args:
        given: the vectors, as `Job.given`.
    """
    waves = request.waves
    sources = sources_of(design, request.dut, folder)
    built = build("verilator", sources, folder, waves is not None, request.work_dir is not None)
    (part,) = power_ups("verilator", sources.timing, len(given["rows"]), request.seed)
    first = given["rows"][0]["vector"]
    with _exchange(folder) as files:
        job = replace(_job(design, request, part, built, files), given=dict(given), first=first, selection=None)
        report = simulate(design, built, job, part.plusargs, waves is not None)
    if waves is not None:
        _save_waves(built, waves)
    return replace(report, sources=sources.digests)


def _coverage_files(folder: Path) -> "CoverageFiles":
    from cosim.rtl_coverage.coverage_files import CoverageFiles  # most runs do without

    return CoverageFiles(folder)


def _save_waves(built: Built, waves: Path) -> None:
    from cosim.runner.waves import save_waves  # most runs do without

    save_waves(built, waves)


@contextmanager
def _exchange(folder: Path) -> Iterator[Path]:
    """A context with a folder for job and report whose name no design knows: a simulated design can write files too."""
    with TemporaryDirectory(prefix="job-", dir=folder) as name:
        yield Path(name)


def _job(design: Design, request: Request, part: PowerUp, built: Built, files: Path) -> Job:
    """The job of one simulation, for the testbench, with its report in the folder `files`."""
    return Job(
        design=design.as_table(),
        vectors=part.vectors,
        seed=part.seed,
        first=part.first,
        selection=request.selection.as_table(),
        fail_fast=request.fail_fast,
        simulator=request.simulator,
        timing=built.sources.timing.as_table(),
        compare=asdict(request.compare),
        results=request.results,
        widths=request.widths.as_table(),
        parent=os.getpid(),
        report_file=str(files / "report.json"),
        heartbeat_file=str(files / "heartbeat"),
    )
