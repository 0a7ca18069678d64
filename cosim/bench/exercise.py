"""Runs all vectors of a scoreboard through a design in the simulator, in any cocotb test.

A whole testbench, but for its imports:

    @cocotb.test()
    async def my_unit(dut):
        design = rtl.UnitDesign(golden.load_unit("unit.toml"))
        scoreboard = Scoreboard(specification_of(design), count=10_000, seed=1)
        pins = {port.name: getattr(dut, port.name) for port in design.ports}
        await exercise(pins, Timing.of_design(design), scoreboard, seed=1)
        assert not scoreboard.failures
"""

import random

from cocotb.triggers import Timer
from cocotb.utils import get_sim_time

from cosim.bench.board import Board
from cosim.bench.driver import Driver
from cosim.bench.handshake import STALL_ODDS, Pins, Stalls, code_of
from cosim.bench.mismatch import Arrival
from cosim.bench.monitor import Monitor
from cosim.bench.scoreboard import Scoreboard
from cosim.bench.timing import Timing

SETTLE = Timer(1, "us")
"""Simulated time that signals get to settle: half a clock period, and far more than the delays a design may have."""

RESET_CYCLES = 4

RESET_PERIOD = 2000
"""About so many cycles pass between resets in the middle of a stream, the first one well before."""

RESETS = 3
"""Resets in the middle of a stream."""

PATIENCE = 1000
"""Cycles without a transfer after which the design counts as stuck."""

EXTRA_CYCLES = 1000
"""Cycles after the last result in which no other may come; a tile's latency is up to 128."""


async def exercise(pins: Pins, timing: Timing, scoreboard: Scoreboard, seed: int) -> None:
    """Send every vector, receive and compare every result, until all are there or nothing moves any more.

    Args:
        pins: the simulator's handle of each port: operands, d, and the timing's controls. Outputs are d, in_ready and
            out_valid.
        timing: how the design is driven.
        scoreboard: fresh.
        seed: of the stalls and of the resets.
    """
    for name, pin in pins.items():
        if name not in ("d", "in_ready", "out_valid"):
            pin.value = 0
    if timing.protocol == "combinational":
        await _combinational(pins, scoreboard)
    else:
        await _Clocked(pins, timing, scoreboard, seed).run(EXTRA_CYCLES)


async def calmly(pins: Pins, timing: Timing, board: Board) -> None:
    """Send every vector and receive every result, after a reset at the beginning, without pauses and further resets.

    Args:
        pins, timing: as of `exercise`.
        board: gives the vectors and takes the results.
    """
    if timing.protocol == "combinational":
        await _combinational(pins, board)
    else:
        await _Clocked(pins, timing, board, seed=None).run(extra_cycles=1)


async def _combinational(pins: Pins, scoreboard: Board) -> None:
    """One vector after another, each with time to settle."""
    scoreboard.now = lambda: Arrival(None, get_sim_time("ns"))
    for vector in scoreboard.vectors():
        if scoreboard.stopped is not None:
            return
        for transfer in vector.transfers:
            for port, value in transfer.items():
                pins[port].value = value
        scoreboard.send(vector)
        await SETTLE
        scoreboard.receive(code_of(pins["d"]))


class _Clocked:
    """A design with a clock: driver and monitor, cycle by cycle, with resets and cycles without enable in between."""

    def __init__(self, pins: Pins, timing: Timing, scoreboard: Board, seed: int | None) -> None:
        """With a seed there are pauses and resets, without one there are none."""
        odds = STALL_ODDS if seed is not None else (0.0,)
        self._pins, self._timing, self._scoreboard = pins, timing, scoreboard
        self._driver = Driver(pins, timing, scoreboard, Stalls(f"in {seed}", odds), scoreboard.vectors())
        self._monitor = Monitor(pins, timing, scoreboard, Stalls(f"out {seed}", odds))
        self._enables = Stalls(f"enable {seed}", odds)
        self._random = random.Random(f"reset {seed}")
        self._resets = 0 if timing.reset == "none" or seed is None else RESETS
        self._next_reset = self._random.randrange(RESET_PERIOD // 20)
        self._edges = 0
        self._clk, self._en = pins["clk"], pins["en"] if timing.enable else None
        scoreboard.now = lambda: Arrival(self._edges, get_sim_time("ns"))

    async def run(self, extra_cycles: int) -> None:
        """All vectors, until every result is there, and so many cycles more, or until nothing moves any more."""
        await self._power_up()
        extra = cycle = 0
        while extra < extra_cycles and self._scoreboard.stopped is None:
            if self._resets and cycle >= self._next_reset and self._scoreboard.waiting:
                await self._reset_in_the_middle(cycle)
            await self._cycle()
            cycle += 1
            extra = extra + 1 if self._driver.done and not self._scoreboard.waiting else 0

    async def _cycle(self) -> None:
        enabled = True
        self._clk.value = 0
        if self._en is not None:
            enabled = not self._enables.pause()
            self._en.value = int(enabled)
        if enabled:
            self._driver.drive()
            self._monitor.drive()
        else:
            self._driver.disturb()
        await SETTLE
        if enabled:
            sent = self._driver.sample()
            if self._driver.waited:
                self._see_room()
            self._monitor.sample(sent)
        before = None if enabled else self._outputs()
        self._clk.value = 1
        self._edges += 1
        await SETTLE
        if before is not None and self._outputs() != before:
            self._scoreboard.stop("an output changed at a clock edge without enable")
        if self._driver.waited > PATIENCE:
            self._scoreboard.stop(f"in_ready stayed low for {PATIENCE} cycles")
        if self._monitor.waited > PATIENCE:
            self._scoreboard.stop(f"no result for {PATIENCE} cycles although vectors are inside: out_valid stayed low")

    def _see_room(self) -> None:
        """What waits for in_ready must find the pipeline full."""
        stages = self._timing.stages
        if stages and (self._monitor.ready or self._scoreboard.waiting < stages):
            self._scoreboard.stop(f"in_ready was low although the pipeline of {stages} stages had room")

    def _outputs(self) -> list[str]:
        return [str(self._pins[name].value) for name in ("d", "out_valid") if name in self._pins]

    async def _power_up(self) -> None:
        """A few cycles of reset; every input is defined already. Without a reset, a few cycles alone."""
        if self._timing.enable:
            self._pins["en"].value = 1
        await self._reset(RESET_CYCLES)

    async def _reset_in_the_middle(self, cycle: int) -> None:
        """Reset while vectors are inside. They are dropped and sent again, and no result of theirs may appear."""
        self._driver.reset(self._scoreboard.drop())
        self._monitor.reset()
        # An asynchronous reset must do without a clock edge.
        await self._reset(0 if self._timing.reset == "asynchronous" else 1)
        self._resets -= 1
        self._next_reset = cycle + self._random.randrange(RESET_PERIOD // 2, RESET_PERIOD)

    async def _reset(self, edges: int) -> None:
        pins = self._pins
        pins["clk"].value = 0
        if self._timing.reset != "none":
            pins["rst"].value = 1
        await SETTLE
        for clk in (1, 0) * edges:
            pins["clk"].value = clk
            self._edges += clk
            await SETTLE
        if self._timing.reset != "none":
            pins["rst"].value = 0
        await SETTLE
