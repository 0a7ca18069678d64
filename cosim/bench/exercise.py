"""Runs all vectors of a scoreboard through a design in the simulator, in any cocotb test.

@cocotb.test()
async def my_unit(dut):
    design = rtl.UnitDesign(golden.load_unit("unit.toml"))
    scoreboard = Scoreboard(specification_of(design), count=10_000, seed=1)
    await exercise({port.name: getattr(dut, port.name) for port in design.ports}, design, scoreboard, seed=1)
    assert scoreboard.received == 10_000 and not scoreboard.mismatches
"""

from cocotb.triggers import Timer

from cosim.bench.driver import Driver
from cosim.bench.handshake import Pins, Stalls, code_of
from cosim.bench.monitor import Monitor
from cosim.bench.scoreboard import Scoreboard
from rtl.designs.design import Design

SETTLE = Timer(1, "us")
"""Simulated time that signals get to settle: half a clock period, and far more than the delays a design may have."""

RESET_CYCLES = 4

PATIENCE = 1000
"""Cycles without a transfer after which the design counts as stuck."""

EXTRA_CYCLES = 1000
"""Cycles after the last result in which no other may come; a tile's latency is up to 128."""


async def exercise(pins: Pins, design: Design, scoreboard: Scoreboard, seed: int) -> None:
    """Send every vector, receive and compare every result, until all are there or nothing moves any more.

    Args:
        pins: the simulator's handle of each port of the design.
        design: whose ports and stages say how it is driven: 0, combinational; more, with clock and handshake.
        scoreboard: fresh.
        seed: of the stalls.
    """
    for port in design.ports:
        if port.direction == "input":
            pins[port.name].value = 0
    if design.implementation.stages:
        await _clocked(pins, scoreboard, seed)
    else:
        await _combinational(pins, scoreboard)


async def _combinational(pins: Pins, scoreboard: Scoreboard) -> None:
    """One vector after another, each with time to settle."""
    for vector in scoreboard.vectors():
        for transfer in vector.transfers:
            for port, value in transfer.items():
                pins[port].value = value
        scoreboard.send(vector)
        await SETTLE
        scoreboard.receive(code_of(pins["d"]))


async def _clocked(pins: Pins, scoreboard: Scoreboard, seed: int) -> None:
    """All vectors through the handshake, until every result is there or nothing moves any more."""
    driver = Driver(pins, scoreboard, Stalls(f"in {seed}"), scoreboard.vectors())
    monitor = Monitor(pins, scoreboard, Stalls(f"out {seed}"))
    await _reset(pins)
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


async def _reset(pins: Pins) -> None:
    """A few cycles of reset; every input is defined already."""
    pins["rst"].value = 1
    for clk in (0, 1) * RESET_CYCLES:
        pins["clk"].value = clk
        await SETTLE
    pins["clk"].value = 0
    pins["rst"].value = 0
    await SETTLE
