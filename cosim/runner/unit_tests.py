"""The testbench that runs inside the simulator: one design against its golden model, as the job file says."""

import time
from collections.abc import Mapping
from typing import Any

import cocotb
from cocotb.triggers import Timer

from cosim.bench.handshake import Driver, Monitor, Pins, Stalls, code_of
from cosim.bench.scoreboard import Scoreboard
from cosim.bench.subject import Subject, port_widths
from cosim.runner.job import Job, subject_from_table
from cosim.runner.report import Report
from golden.files import write_atomically

SETTLE = Timer(1, "us")
"""Simulated time that signals get to settle: half a clock period, and far more than the delays a design may have."""

RESET_CYCLES = 4

PATIENCE = 1000
"""Cycles without a transfer after which the design counts as stuck."""

EXTRA_CYCLES = 1000
"""Cycles after the last result in which no other may come; a tile's latency is up to 128."""


@cocotb.test()
async def unit_agrees_with_golden_model(dut: Any) -> None:
    """Send every vector, compare every result, leave a report."""
    job = Job.from_environment()
    subject = subject_from_table(job.subject)
    wrong = _wrong_ports(dut, subject, job.ports)
    if wrong:
        write_atomically(job.ports_file, wrong.encode())
        return
    pins = {port: getattr(dut, name) for port, name in job.ports.items()}
    scoreboard = Scoreboard.of(subject, job.vectors, job.seed)
    started = time.perf_counter()
    if subject.implementation.stages:
        await _clocked(pins, scoreboard, job.seed)
    else:
        await _combinational(pins, scoreboard)
    report = Report.of(scoreboard, job.simulator, job.seed, time.perf_counter() - started)
    write_atomically(job.report_file, report.to_json().encode())


def _wrong_ports(dut: Any, subject: Subject, names: dict[str, str]) -> str:
    """What is wrong with the design's ports, or nothing."""
    problems = []
    for port, width in port_widths(subject).items():
        handle = getattr(dut, names[port], None)
        if handle is None:
            problems.append(f"port {names[port]} is missing")
        elif len(handle) != width:
            problems.append(f"port {names[port]} must be {width} bits wide, it has {len(handle)}")
    return "; ".join(problems)


async def _combinational(pins: Pins, scoreboard: Scoreboard) -> None:
    """One vector after another, each with time to settle."""
    for transfer in scoreboard.vectors.transfers:
        for port, value in transfer.items():
            pins[port].value = value
        scoreboard.took()
        await SETTLE
        scoreboard.gave(code_of(pins["d"]))


async def _clocked(pins: Pins, scoreboard: Scoreboard, seed: int) -> None:
    """All vectors through the handshake, until every result is there or nothing moves any more."""
    driver = Driver(pins, scoreboard, Stalls(f"in {seed}"))
    monitor = Monitor(pins, scoreboard, Stalls(f"out {seed}"))
    await _reset(pins, scoreboard.vectors.transfers[0])
    extra = 0
    while extra < EXTRA_CYCLES and scoreboard.stopped is None:
        pins["clk"].value = 0
        driver.drive()
        monitor.drive()
        await SETTLE
        driver.sample()
        monitor.sample()
        pins["clk"].value = 1
        await SETTLE
        if driver.waited > PATIENCE:
            scoreboard.stop(f"in_ready stayed low for {PATIENCE} cycles")
        if monitor.waited > PATIENCE:
            scoreboard.stop(f"no result for {PATIENCE} cycles although vectors are inside: out_valid stayed low")
        extra = extra + 1 if driver.done and not scoreboard.waiting else 0


async def _reset(pins: Pins, inputs: Mapping[str, int]) -> None:
    """A few cycles of reset, every input defined."""
    for port, value in ({**inputs, "rst": 1, "in_valid": 0, "out_ready": 0}).items():
        pins[port].value = value
    for clk in (0, 1) * RESET_CYCLES:
        pins["clk"].value = clk
        await SETTLE
    pins["clk"].value = 0
    pins["rst"].value = 0
    await SETTLE
