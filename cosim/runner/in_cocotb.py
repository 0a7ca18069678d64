"""Runs in cocotb: a whole run of a design, or a replay of one vector of a volume run."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cosim.build.build import Built, build
from cosim.build.power_up import PowerUp, power_ups
from cosim.build.sources import sources_of
from cosim.rtl_coverage.coverage_files import CoverageFiles
from cosim.runner.job import Job
from cosim.runner.report import Report
from cosim.runner.request import Request
from cosim.runner.simulate import simulate
from cosim.runner.waves import save_waves
from rtl.designs.design import Design


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
    coverage = CoverageFiles(folder)
    simulations = power_ups(simulator, sources.timing, request.vectors, request.seed)
    chosen = [part for part in simulations if part.has_any(request.selection)]
    for part in chosen:
        plusargs = (*part.plusargs, *(coverage.plusargs(len(parts)) if request.rtl_coverage else ()))
        with _exchange(folder) as files:
            job = _job(design, request, part, built, files)
            parts.append(simulate(design, built, job, plusargs, waves is not None and not parts))
        if waves is not None and len(parts) == 1:
            save_waves(built, waves)
        if parts[-1].stopped is not None:
            break
    joined = Report.joined(parts)
    left_out = joined.left_out + sum(part.vectors for part in simulations if part not in chosen)
    executed = coverage.executed(len(parts), joined.stopped is not None) if request.rtl_coverage else None
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
        save_waves(built, waves)
    return replace(report, sources=sources.digests)


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
