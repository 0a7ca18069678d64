"""Simulations in cocotb: a whole run, or a few vectors alone; a design that hangs or ends one has an outcome too."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from cosim.bench.scoreboard import Outcome, Selection
from cosim.build.build import Built, build
from cosim.build.cache import TIMESCALE
from cosim.build.errors import full_disk, place_in_log, simulation_error
from cosim.build.power_up import PowerUp, power_ups
from cosim.build.sources import sources_of
from cosim.dut.tool_log import first_error, read_log
from cosim.runner.job import ENDED, JOB_VARIABLE, Beat, Job, Simulated, Watch
from cosim.runner.request import Request
from golden.engines.engine import fastest_engine
from rtl.designs.design import Design

if TYPE_CHECKING:
    from cosim.rtl_coverage.file_coverage import CoverageFiles

ENDINGS = ("SIGABRT", "SIGFPE", "SIGSEGV", "exited with status")
"""Endings of a simulator that the design may have caused: Verilator calls abort() on a loop that has no stable state. Any
other signal comes from outside."""

FROM_THE_DESIGN = (
    r"(?<!:0: Verilog )\$(finish|stop|fatal)\b|^(\[\S+\] )?%(Error|Fatal)|^FATAL|"
    r":\((assertion|report) (error|failure)\)|ghdl\S*:error: |^simulation (finished|stopped) @"
)
"""Log lines of a simulation that the design ended or made break off; at `:0:` cocotb ended it."""

FAILED_ASSERTION = r"ERROR: \S.*:\d+:"
"""Icarus' line for `$error` and for an assertion that fails, which do not end its simulation as they end Verilator's."""


PLAIN_IMPORTS = {"COCOTB_REWRITE_ASSERTION_FILES": ""}
"""Environment for cocotb: otherwise it lets an installed pytest recompile every module for the text of failed assertions."""


def simulate(built: Built, job: Job, plusargs: Sequence[str], waves: bool) -> Simulated:
    """Run one simulation. Where the design ends it, hangs or makes it break off, the outcome does not pass.

    Raises:
        SimulationError: the simulator or the testbench failed, not the design.
    """
    folder, log = built.folder, built.folder / "simulation.log"
    watch = Watch(job.heartbeat)
    ended = _run(built, job.write(), plusargs, waves, log, watch)
    text = read_log(log) if log.is_file() else ""
    if job.simulated.is_file():
        found = Simulated.from_json(job.simulated.read_text(encoding="utf-8"))
        if ended is None or not found.outcome.passed:  # breaking off after a failure cannot change the verdict
            stopped = _stopped(found.outcome.stopped, text, built.simulator)
            return replace(found, outcome=replace(found.outcome, stopped=stopped))
    reason = _designs_fault(text, ended, watch) if full_disk(folder) is None else None
    if reason is not None:
        return _broken_off(job, watch.read(), reason)
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
            hdl_toplevel_lang="vhdl" if built.sources.is_vhdl else "verilog",
            test_args=[*built.sources.arguments, f"--workdir={built.folder / 'build'}"] if built.sources.is_vhdl else [],
            build_dir=built.folder / "build",
            test_dir=built.folder,
            results_xml=str(built.folder / "results.xml"),
            extra_env={JOB_VARIABLE: str(job_file), **PLAIN_IMPORTS},
            plusargs=[*plusargs, *([f"--fst={wave_of(built)}"] if waves and built.sources.is_vhdl else [])],
            waves=waves and not built.sources.is_vhdl,
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


def _stopped(stopped: str | None, log: str, simulator: str) -> str | None:
    """Why a simulation stopped: where the design ended it, with the place in its source; in Icarus also an assertion that
    failed."""
    if stopped == ENDED:
        place = place_in_log(log, FROM_THE_DESIGN)
        return stopped if place is None else f"{ENDED}: {place}"
    place = place_in_log(log, FAILED_ASSERTION) if simulator == "icarus" else None
    if stopped is not None or place is None:
        return stopped
    return f"an assertion of the design failed: {place[place.index('ERROR: ') :]}"


def _broken_off(job: Job, beat: Beat, reason: str) -> Simulated:
    """What came of a simulation that left nothing, from its heartbeat."""
    where = f"after {beat.sent:,} vectors had gone in and {beat.received:,} results had come out"
    outcome = Outcome(
        vectors=job.part.vectors,
        sent=beat.sent,
        received=beat.received,
        waiting=max(0, beat.sent - beat.received),
        mismatches=beat.mismatches,
        engine=fastest_engine(),
        stopped=f"{reason}, {where}",
    )
    return Simulated(outcome=outcome, seconds=0.0)


def run_in_cocotb(design: Design, request: Request, folder: Path) -> Simulated:
    """Run all simulations of a design, as one."""
    say, simulator, waves = request.report_progress, request.in_cocotb, request.waves
    say(f"{design.name}: building with {simulator}")
    sources = sources_of(design, request.dut, folder)
    built = build(
        simulator, sources, folder, waves is not None, request.work_dir is not None, rtl_coverage=request.rtl_coverage
    )
    say(f"{design.name}: {request.vectors:,} vectors")
    parts: list[Simulated] = []
    coverage = _coverage_files(folder) if request.rtl_coverage else None
    simulations = power_ups(simulator, sources.timing, request.vectors, request.seed)
    chosen = [part for part in simulations if part.has_any(request.selection)]
    for part in chosen:
        plusargs = (*part.plusargs, *(() if coverage is None else coverage.plusargs(len(parts))))
        with _job(design, request, part, built) as job:
            parts.append(simulate(built, job, plusargs, waves is not None and not parts))
        if waves is not None and len(parts) == 1:
            _save_waves(built, waves)
        if parts[-1].outcome.stopped is not None:
            break
    left_out = sum(part.outcome.left_out for part in parts) + sum(part.vectors for part in simulations if part not in chosen)
    outcome = Outcome.joined([part.outcome for part in parts], vectors=request.vectors, left_out=left_out)
    return Simulated(
        outcome=outcome,
        seconds=sum(part.seconds for part in parts),
        minimised=next((part.minimised for part in parts if part.minimised is not None), None),
        rtl_coverage=None if coverage is None else coverage.executed(len(parts), outcome.stopped is not None),
        sources=sources.digests,
    )


def replay(design: Design, request: Request, folder: Path, given: Mapping[str, Any]) -> Simulated:
    """Send a few vectors alone, such as one of a volume run.

    Args:
        given: the vectors, as `Job.given`.
    """
    waves = request.waves
    sources = sources_of(design, request.dut, folder)
    built = build(request.in_cocotb, sources, folder, waves is not None, request.work_dir is not None)
    (part,) = power_ups(request.in_cocotb, sources.timing, len(given["rows"]), request.seed)
    part = replace(part, first=given["rows"][0]["vector"])
    with _job(design, replace(request, selection=Selection()), part, built, given) as job:
        found = simulate(built, job, part.plusargs, waves is not None)
    if waves is not None:
        _save_waves(built, waves)
    return replace(found, sources=sources.digests)


def simulated_once(design: Design, request: Request, folder: Path, part: PowerUp) -> Simulated:
    """One simulation of a user design, in a folder that need not exist yet."""
    folder.mkdir(exist_ok=True)
    built = build(request.in_cocotb, sources_of(design, request.dut, folder), folder, False, request.work_dir is not None)
    with _job(design, request, part, built) as job:
        return simulate(built, job, part.plusargs, False)


def _coverage_files(folder: Path) -> "CoverageFiles":
    from cosim.rtl_coverage.file_coverage import CoverageFiles  # most runs do without

    return CoverageFiles(folder)


def wave_of(built: Built) -> Path:
    """The file into which the simulator writes a waveform."""
    folder = built.folder
    return folder / "dump.vcd" if built.simulator == "verilator" else folder / "build" / f"{built.sources.top}.fst"


def _save_waves(built: Built, waves: Path) -> None:
    from cosim.runner.waves import save_waves  # most runs do without

    save_waves(built, wave_of(built), waves)


@contextmanager
def _job(
    design: Design, request: Request, part: PowerUp, built: Built, given: Mapping[str, Any] | None = None
) -> Iterator[Job]:
    """A context with the job of one simulation, in a folder of its own."""
    with TemporaryDirectory(prefix="job-", dir=built.folder) as folder:
        yield Job(
            design=design.as_table(),
            part=part,
            request=replace(request, progress=None),
            given=None if given is None else dict(given),
            folder=Path(folder),
        )
