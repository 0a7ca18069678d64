"""The cocotb test that runs inside the simulator: one design against its golden model, as the job file says."""

import ctypes
import gc
import os
import signal
import time
from asyncio import CancelledError  # what cocotb raises in a test whose simulation has ended
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import cocotb

from cosim.bench.ask import ask
from cosim.bench.comparison import Compare
from cosim.bench.exercise import exercise
from cosim.bench.minimise import Minimised, minimised
from cosim.bench.mismatch import ComparedRow
from cosim.bench.products import Vector
from cosim.bench.record import compared_row
from cosim.bench.scoreboard import Result, Scoreboard
from cosim.bench.selection import Selection
from cosim.bench.stimulus import specification_of
from cosim.bench.timing import Timing
from cosim.runner.heartbeat import Heartbeat
from cosim.runner.job import ENDED, Job
from cosim.runner.report import Report
from cosim.volume.decode import OneVector
from golden.files import write_atomically
from rtl.designs.from_table import design_from_table

PR_SET_PDEATHSIG = 1
"""Of Linux' prctl: the signal that this process gets when its parent is gone."""


@cocotb.test()
async def design_agrees_with_golden_model(dut: Any) -> None:
    """Send every vector, compare every result, leave a report."""
    job = Job.from_environment()
    end_with(job.parent)
    design, timing = design_from_table(job.design), Timing(**job.timing)
    operands = [port.name for port in design.ports if port.name not in Timing.of_design(design).controls]
    pins = {name: getattr(dut, name) for name in (*operands, *timing.controls)}
    heartbeat = Heartbeat(Path(job.heartbeat_file))
    compare = Compare(**job.compare)
    first: list[tuple[Result, ComparedRow]] = []

    def differs(result: Result) -> None:
        if not first:
            first.append((result, compared_row(result.number, *result.wrong[0], scoreboard.now())))

    class Beating(Scoreboard):
        """One that gives a sign of life with every vector and every result."""

        def send(self, vector: Vector) -> None:
            super().send(vector)
            self.beat()

        def receive(self, result: int | str) -> None:
            super().receive(result)
            self.beat()

        def beat(self) -> None:
            heartbeat.beat(self.sent, self.received, self.mismatches)

    scoreboard = Beating(
        specification_of(design, job.results) if job.vector is None else OneVector.of(design, job.results, job.vector),
        job.vectors,
        job.seed,
        compare,
        selection=None if job.selection is None else Selection.from_table(job.selection),
        first=job.first,
        fail_fast=job.fail_fast,
        on_mismatch=differs,
    )
    scoreboard.beat()
    gc.freeze()  # what is there now stays: no collection need look at it again
    started = time.perf_counter()

    def leave_report(seconds: float, minimised: Minimised | None = None) -> None:
        report = Report.of(design, scoreboard.outcome(), job.simulator, job.seed, seconds)
        write_atomically(job.report_file, replace(report, minimised=minimised).to_json().encode())

    def seconds() -> float:
        return time.perf_counter() - started - scoreboard.golden_seconds

    async def asked(vectors: Sequence[Vector]) -> list[int | str]:
        scoreboard.beat()
        return await ask(pins, timing, vectors)

    try:
        await exercise(pins, timing, scoreboard, job.seed)
    except CancelledError:
        scoreboard.stop(ENDED)
        leave_report(seconds())
        raise
    ran = seconds()
    leave_report(ran)  # any other exception leaves none: it is no verdict on the design
    if first and (scoreboard.stopped is None or job.fail_fast):
        result, row = first[0]
        leave_report(ran, await minimised(asked, result.vector, result.wrong[0][0], row, compare))


def end_with(parent: int) -> None:
    """End when the parent does, even where it is killed: a simulation that nobody waits for would run on for hours."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        os.kill(parent, 0)
    except ProcessLookupError:  # it was gone before
        os._exit(1)
