"""Run all vectors of a scoreboard through a design in the simulator, in any cocotb test.

A complete testbench, without its imports:

    @cocotb.test()
    async def my_unit(dut):
        design = rtl.UnitDesign(golden.load_unit("unit.toml"))
        scoreboard = Scoreboard(specification_of(design), count=10_000, seed=1)
        pins = {port.name: getattr(dut, port.name) for port in design.ports}
        await exercise(pins, Timing.of_design(design), scoreboard, seed=1)
        assert not scoreboard.failures
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, cycle, repeat

from cocotb.triggers import Timer
from cocotb.utils import get_sim_time

from cosim.bench.handshake import Driver, Monitor, Pins, Stalls, code_of, is_high
from cosim.bench.mismatch import Arrival
from cosim.bench.products import Vector
from cosim.bench.protocol import Timing
from cosim.bench.schedule import CALM, Reset, Rules, Schedule, schedule
from cosim.bench.scoreboard import Board, Scoreboard
from cosim.bench.waits import Waits

SETTLE = Timer(Rules.half_period, "ns")
"""Simulated time for signals to settle."""


async def exercise(pins: Pins, timing: Timing, scoreboard: Scoreboard, seed: int) -> None:
    """Send every vector, receive and compare every result, until all have come or the design is stuck.

    Args:
        pins: the simulator's handle of each port: operands, d, and the timing's controls. Outputs are d, in_ready and
            out_valid.
        timing: protocol, latency, enable and reset of the design.
        scoreboard: a new scoreboard, which has sent nothing yet.
        seed: seed of the stalls and of the resets.
    """
    for name, pin in pins.items():
        if name not in ("d", "in_ready", "out_valid"):
            pin.value = 0
    if timing.protocol == "combinational":
        await _combinational(pins, scoreboard)
    else:
        await _Clocked(pins, timing, scoreboard, schedule(seed)).run()


async def calmly(pins: Pins, timing: Timing, board: Board) -> None:
    """Send every vector and receive every result, after a reset at the beginning, without pauses or further resets.

    Args:
        pins, timing: as for `exercise`.
        board: the source of the vectors, which receives the results.
    """
    if timing.protocol == "combinational":
        await _combinational(pins, board)
    else:
        await _Clocked(pins, timing, board, CALM).run()


async def _combinational(pins: Pins, scoreboard: Board) -> None:
    """Send one vector after another, each with time to settle."""
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
    """A clocked design with driver and monitor, stepped cycle by cycle, with resets and cycles without enable."""

    def __init__(self, pins: Pins, timing: Timing, scoreboard: Board, plan: Schedule) -> None:
        self._pins, self._timing, self._scoreboard, self._schedule = pins, timing, scoreboard, plan
        sides = (plan.offers, plan.takes, plan.enables)
        self._stalls = offers, takes, self._enables = [Stalls.of(plan, each) for each in sides]
        self._driver = Driver(pins, timing, scoreboard, offers, scoreboard.vectors())
        self._monitor = Monitor(pins, timing, scoreboard, takes)
        kinds = [kind for kind in plan.resets if not kind.within or self._driver.transfers > 1]
        self._resets = deque(kinds if timing.reset != "none" else ())
        self._resets_left = min(len(self._resets), plan.rules.resets_first)
        self._next_reset = self._resets[0].due if self._resets else 0
        self._edges = self._results_first = 0
        self._is_prepared = False
        self._at_speed_until: int | None = None
        self._joint, self._late = deque(plan.joint), late(plan.late_inputs)
        self._clk, self._en = pins["clk"], pins["en"] if timing.enable else None
        scoreboard.now = lambda: Arrival(self._edges, get_sim_time("ns"))

    async def run(self) -> None:
        """Run until every result has come and some more cycles have passed, or the scoreboard stops the run."""
        await self._power_up()
        extra = cycle = 0
        while extra < self._schedule.rules.extra_cycles and self._scoreboard.stopped is None:
            await self._reset_if_due(cycle)
            self._go_on_if_due(cycle)
            self._pause_if_due(cycle)
            await self._cycle()
            cycle += 1
            extra = extra + 1 if self._driver.done and not self._scoreboard.waiting else 0

    @property
    def _in_long_pause(self) -> bool:
        """Whether the next cycle belongs to a long pause of any side."""
        return any(stalls.in_long_pause for stalls in self._stalls)

    async def _reset_if_due(self, cycle: int) -> None:
        """Reset while vectors are inside, or a part of one is, if it is time; or begin the stall or the gap at whose end the
        reset comes."""
        if not self._resets:
            return
        if not self._is_prepared and self._in_long_pause:
            self._next_reset = max(self._next_reset, cycle + self._schedule.rules.after_long_pause)
        if cycle < self._next_reset or not (self._has_come(self._resets[0]) or self._is_prepared):
            return
        pause = 0 if self._is_prepared else self._pause_before(self._resets[0])
        self._is_prepared = pause > 0
        if pause:
            self._next_reset = cycle + pause
            return
        self._results_first = self._monitor.taken + (self._resets[0].within > 0)
        await self._reset_in_the_middle(self._resets.popleft())
        self._resets_left = max(0, self._resets_left - 1)
        if self._resets:
            self._next_reset = cycle + self._resets[0].due

    def _has_come(self, reset: Reset) -> bool:
        """Whether the design is in the state that a reset is for, and has shown by a result what the last one within a
        vector left behind, which a further reset might mend."""
        if self._monitor.taken < self._results_first:
            return False
        if not reset.within:
            return self._scoreboard.waiting > 0
        return self._driver.accepted == reset.transfer_of(self._driver.transfers)

    def _pause_before(self, reset: Reset) -> int:
        """Let the side pause that a reset needs, and return for how many cycles."""
        if reset.stall and "out_ready" in self._pins:
            self._stalls[1].hold(reset.stall)
            return reset.stall
        if reset.gap:
            self._stalls[0].hold(reset.gap)
        return reset.gap

    def _go_on_if_due(self, cycle: int) -> None:
        """Begin the stretch without pauses and resets, if it is time; it ends for all sides at once, however often each was
        asked."""
        if self._at_speed_until is None:
            is_busy = self._resets_left or self._is_prepared or self._in_long_pause
            if is_busy or cycle < self._schedule.rules.at_speed_from:
                return
            self._at_speed_until = cycle + self._schedule.rules.at_speed
            self._next_reset = max(self._next_reset, self._at_speed_until)
        if cycle <= self._at_speed_until:
            for stalls in self._stalls:
                stalls.go_on(self._at_speed_until - cycle)

    def _pause_if_due(self, cycle: int) -> None:
        """Let both sides pause together, if it is time and results are inside."""
        is_free = not self._driver.is_offering and not self._stalls[1].is_at_speed
        can_pause = "out_ready" in self._pins and is_free and self._scoreboard.waiting
        if self._joint and self._joint[0][0] <= cycle and can_pause:
            for stalls in self._stalls[:2]:
                stalls.hold(self._joint[0][1])
            self._joint.popleft()

    def _drive(self) -> bool:
        """Drive the inputs for the coming rising edge; return whether the design is enabled at it."""
        enabled = True
        if self._en is not None:
            enabled = not self._enables.pause()
            self._en.value = int(enabled)
        if enabled:
            self._driver.drive()
            self._monitor.drive()
        else:
            self._driver.disturb()
            self._monitor.disturb()
        return enabled

    async def _cycle(self) -> None:
        if next(self._late):
            enabled = self._drive()
            await SETTLE
            self._clk.value = 0
        else:
            self._clk.value = 0
            enabled = self._drive()
        await SETTLE
        if enabled:
            sent = self._driver.sample(self._monitor.ready or not self._scoreboard.waiting)
            if self._driver.refused:
                self._see_room()
            self._monitor.sample(sent)
        before = None if enabled else self._outputs()
        self._clk.value = 1
        self._edges += 1
        await SETTLE
        if before is not None and self._outputs() != before:
            self._scoreboard.stop("an output changed at a clock edge without enable")
        patience = self._schedule.rules.patience
        if self._driver.waited > patience:
            self._scoreboard.stop(f"in_ready stayed low for {patience} cycles")
        if self._monitor.waited > patience:
            alone = "" if self._monitor.was_ready else " as long as out_ready, for which it must not wait"
            self._scoreboard.stop(
                f"no result for {patience} cycles although vectors are inside: out_valid stayed low{alone}"
            )

    def _see_room(self) -> None:
        """Stop the run where in_ready is low although the pipeline is not full."""
        stages = self._timing.stages
        if stages and (self._monitor.ready or self._scoreboard.waiting < stages):
            self._scoreboard.stop(f"in_ready was low although the pipeline of {stages} stages had room")

    def _outputs(self) -> list[str]:
        return [str(self._pins[name].value) for name in ("d", "out_valid") if name in self._pins]

    async def _power_up(self) -> None:
        """Run a few cycles with reset asserted, where there is one; every input is defined already."""
        if self._timing.enable:
            self._pins["en"].value = 1
        await self._reset(self._schedule.rules.power_up)

    async def _reset_in_the_middle(self, reset: Reset) -> None:
        """Reset while vectors are inside: they are dropped and sent again, and none of their results may appear."""
        self._driver.reset(self._scoreboard.drop(), offers=reset.offers)
        self._monitor.reset()
        is_asynchronous = self._timing.reset == "asynchronous"
        if self._en is not None:
            self._en.value = int(not (is_asynchronous and reset.disables))
        await self._reset(reset.asynchronous_edges if is_asynchronous else reset.edges)
        for stalls in self._stalls[::2] if reset.at_once else ():  # of operands and of the enable
            stalls.go_on(1)

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
            if "out_valid" in pins and is_high("out_valid", pins, self._scoreboard):
                self._scoreboard.stop("out_valid was high during a reset")
            pins["rst"].value = 0
        await SETTLE


def late(cycles: Sequence[int]) -> Iterator[bool]:
    """Whether the inputs of each cycle change while the clock is high, of a schedule's `late_inputs`."""
    for at, count in enumerate(chain(cycles, cycle(cycles[-2:]))):
        yield from repeat(at % 2 > 0, count)


# single results, in a simulation whose stream of vectors has ended


class Answers:
    """Results of a design for a few vectors, collected in order and not compared; implements `Board`."""

    def __init__(self, vectors: Sequence[Vector]) -> None:
        self.results: list[int | str] = []
        self.stopped: str | None = None
        self.now: Callable[[], Arrival] = lambda: Arrival(None, 0.0)
        self._vectors = vectors
        self.sent = 0
        self.waits = Waits(())

    @property
    def oldest(self) -> Vector | None:
        """None: which vector a result is for does not matter."""
        return None

    @property
    def waiting(self) -> int:
        """The number of vectors sent that have no result yet."""
        return self.sent - len(self.results)

    def vectors(self) -> Iterator[Vector]:
        """An iterator over the vectors to send."""
        return iter(self._vectors)

    def send(self, vector: Vector) -> None:
        """Count a vector that the design has accepted."""
        self.sent += 1

    def drop(self) -> list[Vector]:
        """Return no vectors: the design is never reset while vectors are inside."""
        return []

    def receive(self, result: int | str) -> None:
        """Record a result; ignore a result without a vector."""
        if self.waiting > 0:
            self.results.append(result)

    def stop(self, reason: str) -> None:
        """End the run early; the first reason counts."""
        self.stopped = self.stopped or reason


async def ask(pins: Pins, timing: Timing, vectors: Sequence[Vector]) -> list[int | str]:
    """Reset the design where it has a reset, send vectors one after another without pauses, and return the results.

    Returns:
        One result for each vector, as `Board.receive` takes it; fewer where the design stopped answering.
    """
    answers = Answers(vectors)
    await calmly(pins, timing, answers)
    return answers.results
