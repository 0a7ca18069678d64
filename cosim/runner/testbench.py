"""The cocotb test that runs inside the simulator: one design against its golden model, as the job file says."""

import ctypes
import os
import signal
import time
from asyncio import CancelledError  # what cocotb raises in a test whose simulation has ended
from pathlib import Path
from typing import Any

import cocotb

from cosim.bench.comparison import Compare
from cosim.bench.exercise import exercise
from cosim.bench.scoreboard import Scoreboard
from cosim.bench.selection import Selection
from cosim.bench.stimulus import specification_of
from cosim.bench.timing import Timing
from cosim.runner.heartbeat import Heartbeat
from cosim.runner.job import ENDED, Job
from cosim.runner.report import Report
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

    def beat(_: object) -> None:
        heartbeat.beat(scoreboard.sent, scoreboard.received, scoreboard.mismatches)

    scoreboard = Scoreboard(
        specification_of(design, job.results),
        job.vectors,
        job.seed,
        Compare(**job.compare),
        selection=Selection.from_table(job.selection),
        first=job.first,
        fail_fast=job.fail_fast,
        on_send=beat,
        on_result=beat,
    )
    started = time.perf_counter()

    def leave_report() -> None:
        seconds = time.perf_counter() - started - scoreboard.golden_seconds
        report = Report.of(design, scoreboard.outcome(), job.simulator, job.seed, seconds)
        write_atomically(job.report_file, report.to_json().encode())

    try:
        await exercise(pins, timing, scoreboard, job.seed)
    except CancelledError:
        scoreboard.stop(ENDED)
        leave_report()
        raise
    leave_report()  # any other exception leaves none: it is no verdict on the design


def end_with(parent: int) -> None:
    """End when the parent does, even where it is killed: a simulation that nobody waits for would run on for hours."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        os.kill(parent, 0)
    except ProcessLookupError:  # it was gone before
        os._exit(1)
