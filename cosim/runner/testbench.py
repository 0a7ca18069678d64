"""The cocotb test that runs inside the simulator: one design against its golden model, as the job file says."""

import time
from typing import Any

import cocotb

from cosim.bench.exercise import exercise
from cosim.bench.scoreboard import Scoreboard
from cosim.bench.stimulus import specification_of
from cosim.runner.job import Job
from cosim.runner.report import Report
from golden.files import write_atomically
from rtl.designs.design import Design, design_from_table


@cocotb.test()
async def design_agrees_with_golden_model(dut: Any) -> None:
    """Send every vector, compare every result, leave a report."""
    job = Job.from_environment()
    design = design_from_table(job.design)
    wrong = _wrong_ports(dut, design, job.ports)
    if wrong:
        write_atomically(job.ports_file, wrong.encode())
        return
    pins = {port: getattr(dut, name) for port, name in job.ports.items()}
    scoreboard = Scoreboard(specification_of(design), job.vectors, job.seed)
    started = time.perf_counter()
    await exercise(pins, design, scoreboard, job.seed)
    seconds = time.perf_counter() - started - scoreboard.golden_seconds
    report = Report.of(design, scoreboard, job.simulator, job.seed, seconds)
    write_atomically(job.report_file, report.to_json().encode())


def _wrong_ports(dut: Any, design: Design, names: dict[str, str]) -> str:
    """What is wrong with the ports, or nothing."""
    problems = []
    for port in design.ports:
        name = names[port.name]
        handle = getattr(dut, name, None)
        if handle is None:
            problems.append(f"port {name} is missing")
        elif len(handle) != port.width:
            problems.append(f"port {name} must be {port.width} bits wide, it has {len(handle)}")
    return "; ".join(problems)
