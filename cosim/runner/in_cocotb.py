"""Runs of a design by the testbench in cocotb: a whole one, or one vector of a run in native code once more."""

import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from cosim.compile.power_up import PowerUp, power_ups
from cosim.compile.sources import sources_of
from cosim.rtl_coverage.written import CoverageFiles
from cosim.runner.build import Built, build
from cosim.runner.job import Job
from cosim.runner.report import Report
from cosim.runner.request import Request
from cosim.runner.simulate import simulate
from cosim.runner.waves import keep_waves
from rtl.designs.design import Design


def run_in_cocotb(design: Design, request: Request, folder: Path) -> Report:
    """A whole run, its simulations as one report without explanation."""
    say, simulator, waves = request.progress, request.simulator, request.waves
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
        job = _job(design, request, part, built)
        plusargs = (*part.plusargs, *(coverage.plusargs(len(parts)) if request.rtl_coverage else ()))
        parts.append(simulate(design, built, job, plusargs, waves is not None and not parts))
        if waves is not None and len(parts) == 1:
            keep_waves(built, waves)
        if parts[-1].stopped is not None:
            break
    joined = Report.joined(parts)
    left_out = joined.left_out + sum(part.vectors for part in simulations if part not in chosen)
    executed = coverage.executed(len(parts), joined.stopped is not None) if request.rtl_coverage else None
    return replace(joined, vectors=request.vectors, left_out=left_out, seed=request.seed, rtl_coverage=executed)


def replay(design: Design, request: Request, folder: Path, vector: Mapping[str, Any]) -> Report:
    """One vector of a run in native code, sent alone.

    Args:
        vector: as `Job.vector`.
    """
    waves = request.waves
    sources = sources_of(design, request.dut, folder)
    built = build("verilator", sources, folder, waves is not None, request.work_dir is not None)
    (part,) = power_ups("verilator", sources.timing, 1, request.seed)
    job = replace(_job(design, request, part, built), vector=dict(vector), first=vector["row"]["vector"], selection=None)
    report = simulate(design, built, job, part.plusargs, waves is not None)
    if waves is not None:
        keep_waves(built, waves)
    return report


def _job(design: Design, request: Request, part: PowerUp, built: Built) -> Job:
    """What the testbench is told of one simulation."""
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
        parent=os.getpid(),
        report_file=str(built.folder / "report.json"),
        heartbeat_file=str(built.folder / "heartbeat"),
    )
