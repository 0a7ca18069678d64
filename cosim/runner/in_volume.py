"""Whole runs in native code: segments side by side, one report, and the first mismatch once more in cocotb."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from cosim.bench.minimise import Minimised
from cosim.compile.sources import sources_of
from cosim.runner.in_cocotb import replay
from cosim.runner.report import Report
from cosim.runner.request import Request
from cosim.runner.volume_outcome import part_of
from cosim.volume.plan import write_plan
from cosim.volume.program import Broken, build_program, run_program
from cosim.volume.segments import DIRECTED, Segment, directed_segments, native_segments
from rtl.designs.design import Design
from rtl.tools import in_parallel

Outcome = Mapping[str, Any] | Broken


def run_in_volume(design: Design, request: Request, folder: Path) -> Report:
    """A whole run, its segments as one report without explanation."""
    say = request.progress
    say(f"{design.name}: building for volume")
    sources = sources_of(design, request.dut, folder)
    program = build_program(sources, folder, request.work_dir is not None)
    say(f"{design.name}: {request.vectors:,} vectors")
    native_seed = request.seed if request.vectors > DIRECTED else None
    plan = write_plan(design, sources.timing, folder, request.results, request.compare, native_seed)
    segments = [
        *directed_segments(
            design, sources.timing, request.vectors, request.seed, request.selection, request.results, folder
        ),
        *native_segments(design, request.vectors, request.seed, request.selection),
    ]  # fmt: skip
    outcomes = run_segments(program, plan, segments, request.processes, request.fail_fast)
    parts = [part_of(design, request, *each) for each in zip(segments, outcomes, strict=False)]
    report = Report.joined(parts)
    selected_elsewhere = sum(segment.vectors for segment in segments)
    left_out = report.left_out + request.vectors - selected_elsewhere
    report = replace(report, vectors=request.vectors, left_out=left_out, seed=request.seed)
    return _with_replay(design, request, folder, report, segments, outcomes)


def run_segments(program: Path, plan: Path, segments: Sequence[Segment], processes: int, fail_fast: bool) -> list[Outcome]:
    """The outcomes of segments, in order. One that ended before its vectors did is the last: those after it are left
    out, so that the outcomes do not depend on the number of processes.

    Args:
        processes: how many at a time.
        fail_fast: whether the first mismatch ends the run.

    Raises:
        SimulationError: the program refuses the request.
    """
    options = ["--stop-at-first"] if fail_fast else []
    ended: list[int] = []

    def one(number: int) -> Outcome | None:
        if any(earlier < number for earlier in ended):
            return None
        outcome = run_program(program, plan, [*segments[number].arguments, *options])
        if _has_ended(outcome):
            ended.append(number)
        return outcome

    outcomes = in_parallel([partial(one, number) for number in range(len(segments))], processes)
    found: list[Outcome] = []
    for outcome in outcomes:
        if outcome is None:
            break
        found.append(outcome)
        if _has_ended(outcome):
            break
    return found


def _has_ended(outcome: Outcome) -> bool:
    return isinstance(outcome, Broken) or outcome["stopped"] is not None


def _with_replay(
    design: Design, request: Request, folder: Path, report: Report, segments: Sequence[Segment], outcomes: Sequence[Outcome]
) -> Report:
    """The report with its first mismatch minimised, in cocotb, where it is wrong when it is sent alone."""
    if not report.differing:
        return report
    for segment, outcome in zip(segments, outcomes, strict=False):
        row = None if isinstance(outcome, Broken) else next((row for row in outcome["rows"] if not row["agrees"]), None)
        if row is None:
            continue
        request.progress(f"{design.name}: vector {row['vector']} once more, in cocotb")
        again = replay(design, request, folder, {"row": row, "classes": dict(segment.classes)})
        small = again.minimised
        if small is None:
            note = (
                "as it came: sent alone it is not wrong, so it is a matter of what came before it or beside it, or of stalls"
            )
            small = Minimised(row=report.differing[0], reproduced=False, asked=1, note=note)
        return replace(report, minimised=small)
    return report
