"""The cocotb test that runs inside the simulator: one design against its golden model, as the job file says."""

import time
from typing import Any

import cocotb

from cosim.bench.comparison import Compare
from cosim.bench.exercise import exercise
from cosim.bench.scoreboard import Scoreboard
from cosim.bench.stimulus import specification_of
from cosim.bench.timing import Timing
from cosim.runner.job import Job
from cosim.runner.report import Report
from golden.files import write_atomically
from rtl.designs.from_table import design_from_table


@cocotb.test()
async def design_agrees_with_golden_model(dut: Any) -> None:
    """Send every vector, compare every result, leave a report."""
    job = Job.from_environment()
    design, timing = design_from_table(job.design), Timing(**job.timing)
    operands = [port.name for port in design.ports if port.name not in Timing.of_design(design).controls]
    pins = {name: getattr(dut, name) for name in (*operands, *timing.controls)}
    scoreboard = Scoreboard(specification_of(design, job.results), job.vectors, job.seed, Compare(**job.compare))
    started = time.perf_counter()
    await exercise(pins, timing, scoreboard, job.seed)
    seconds = time.perf_counter() - started - scoreboard.golden_seconds
    report = Report.of(design, scoreboard, job.simulator, job.seed, seconds)
    write_atomically(job.report_file, report.to_json().encode())
