"""The driver, which offers vectors to a design, and the monitor, which receives its results, each with random pauses."""

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cosim.bench.products import Vector
from cosim.bench.protocol import Timing
from cosim.bench.schedule import STALL_ODDS, Manner, Schedule, Side, side
from cosim.bench.scoreboard import Board
from cosim.bench.waits import GAP, STALL

Pins = Mapping[str, Any]
"""A port's name to the simulator's handle."""


class Stalls:
    """The pauses of one side, as a schedule has them: short ones, a few long ones, and those that the bench asks for.

    Args:
        seed: seed of a side of its own. odds: probabilities of a pause; where all are 0, there is none.

    Attributes:
        schedule: the schedule that is replayed.
    """

    def __init__(self, seed: str, odds: Sequence[float] = STALL_ODDS) -> None:
        self._replay(Schedule(), side(seed, Manner(odds=odds)))

    @classmethod
    def of(cls, schedule: Schedule, its: Side) -> "Stalls":
        """The pauses of a side of a schedule."""
        made = cls.__new__(cls)
        made._replay(schedule, its)
        return made

    def _replay(self, schedule: Schedule, its: Side) -> None:
        self.schedule, self._side = schedule, its
        self._at, self._left, self._shown = 0, its.runs[0], 0
        self._cycle = self._held = self._at_speed = 0
        self._met, self._repeated = Counter[tuple[str, ...]](), tuple[str, ...]()

    @property
    def is_at_speed(self) -> bool:
        """Whether the next cycle has no pause, whatever is drawn."""
        return self._at_speed > 0

    @property
    def in_long_pause(self) -> bool:
        """Whether the next cycle belongs to a long pause."""
        return self._held > 0 or (
            self._at % 2 > 0 and self._left > 0 and self._side.runs[self._at] >= self.schedule.rules.long_from
        )

    def pause(self) -> bool:
        """Whether to pause in this cycle."""
        self._cycle += 1
        if self._at_speed:
            self._at_speed -= 1
            return False
        if self._held:
            self._held -= 1
            return True
        while not self._left:
            self._at = self._at + 1 if self._at + 1 < len(self._side.runs) else self._side.again
            self._left = self._side.runs[self._at]
        self._left -= 1
        return self._at % 2 > 0

    def hold(self, cycles: int) -> None:
        """Pause for some cycles from now on."""
        self._held = max(self._held, cycles)

    def go_on(self, cycles: int) -> None:
        """Do not pause in the next `cycles` cycles. What is drawn comes after them."""
        self._at_speed = cycles

    def before_repeated(self, which: tuple[str, ...]) -> None:
        """Pause if a run of transfers begins that repeats exactly these operands of the previous transfer, and such runs
        were few, or twice as many as at the last pause. A design that keeps operands by their values may sleep in the
        pause."""
        rules, begins = self.schedule.rules, which != self._repeated
        self._repeated = which
        if not which or not begins or not self._side.ever_pauses or self._cycle < rules.repeated_from or self._at_speed:
            return
        self._met[which] += 1
        if self._met[which] <= rules.repeated_often or self._met[which].bit_count() == 1:
            self.hold(rules.repeated)

    def shown(self, among: Sequence[Any]) -> Any:
        """One of several things that the side may show while it pauses."""
        number = self._side.shown[self._shown % len(self._side.shown)]
        self._shown += 1
        return among[number % len(among)]


class Level:
    """An input of one bit that is written only when it changes: a write takes as long as reading a whole operand.

    Args:
        pin: the simulator's handle. stalls: how long it keeps a level of which the design must not take notice.
    """

    def __init__(self, pin: Any, stalls: Stalls) -> None:
        self._pin, self._stalls = pin, stalls
        self._level: bool | None = None
        self._run = 0

    def show(self, level: bool) -> None:
        """Drive this level from now on."""
        if level is not self._level:
            self._pin.value = int(level)
            self._level = level

    def waver(self) -> None:
        """Drive the other level from now on; if the level changed only some cycles before, keep it."""
        if not self._run:
            self._run = self._stalls.shown(self._stalls.schedule.waver_for)
            self.show(not self._level)
        self._run -= 1


def is_high(port: str, pins: Pins, scoreboard: Board) -> bool:
    """Whether a one-bit signal is 1; X or Z stops the run."""
    bit = str(pins[port].value)
    if bit == "1":
        return True
    if bit != "0":
        scoreboard.stop(f"{port} is neither 0 nor 1")
    return False


def code_of(pin: Any) -> int | str:
    """The signal's code, or its bits as text where some are X or Z."""
    bits = str(pin.value)
    try:
        return int(bits, 2)  # from the text: cocotb converts each bit as an object
    except ValueError:
        return bits


def width_of(pin: Any) -> int:
    """The width of a signal (bits)."""
    return len(pin) if hasattr(pin, "__len__") else 1


NEVER = 1 << 30
"""Cycles since the last offer where there was none since a reset, or where the wait was more than a gap."""


class Driver:
    """Offers the transfers of one vector after another. Under valid/ready it holds each until it is accepted.

    Args:
        vectors: the vectors to send.

    Attributes:
        transfers: number of transfers of each vector. accepted: how many of the current one were accepted.
        refused: whether the offered transfer was not accepted in this cycle.
        waited: cycles for which it was not accepted although nothing blocked it.
    """

    def __init__(self, pins: Pins, timing: Timing, scoreboard: Board, stalls: Stalls, vectors: Iterator[Vector]) -> None:
        self._pins, self._scoreboard, self._stalls = pins, scoreboard, stalls
        self._valid = Level(pins["in_valid"], stalls) if "in_valid" in timing.controls else None
        self._ready = "in_ready" in timing.controls
        self._vectors = vectors
        self._again: list[Vector] = []
        self._shown: Mapping[str, int] = {}
        self._mixed_for: int | None = None
        self._vector = next(vectors, None)
        self.transfers = len(self._vector.transfers) if self._vector is not None else 0
        self.accepted = self._disturbed = 0
        self._offering = self.refused = False
        self._idle, self._gap = NEVER, 0
        self.waited = 0
        scoreboard.waits.watch(GAP)

    @property
    def done(self) -> bool:
        """Whether every transfer was accepted."""
        return self._vector is None

    @property
    def is_offering(self) -> bool:
        """Whether a transfer is offered that was not accepted yet."""
        return self._offering

    def drive(self) -> None:
        """Offer the next transfer, keep offering the current one, or pause, with other operands at the ports."""
        if self._offering:
            return
        self._offering = self._vector is not None and not self._pauses()
        if self._valid is not None:
            self._valid.show(self._offering)
        if self._offering and self._vector is not None:
            self._show(self._vector.transfers[self.accepted])
        elif self._vector is not None:  # a vector that is sent alone, for a diagnosis, has no neighbour
            self._pass()

    def _pauses(self) -> bool:
        """Whether to pause, as the schedule has it, or for as long as the gap that the next vector is to meet."""
        meets = self._gap and not self._stalls.is_at_speed and not self._stalls.in_long_pause
        pauses = self._idle < self._gap if meets else self._stalls.pause()
        self._idle += pauses
        return pauses

    def disturb(self) -> None:
        """Drive the next operands into a disabled design, which must not take them; a transfer on offer stays. Under
        valid/ready in_valid, which may be high from the last transfer, falls every other time; otherwise it changes at
        random."""
        if self._offering or self._vector is None:
            return
        self._show(self._vector.transfers[self.accepted])
        self._disturbed += 1
        if self._valid is not None and not self._ready:
            self._valid.waver()
        elif self._valid is not None and self._disturbed % 2:
            self._valid.show(False)

    def sample(self, is_free: bool = True) -> bool:
        """Check whether the offered transfer is accepted at the coming edge.

        Args:
            is_free: whether no result that waits for the consumer can block it.

        Returns:
            Whether it was accepted and was the last transfer of its vector, which then counts as sent.
        """
        accepted = self._offering and (not self._ready or is_high("in_ready", self._pins, self._scoreboard))
        self.refused = self._offering and not accepted
        if self.refused:
            self._idle = NEVER  # to the design the gap is longer than it is at its port
        self.waited = self.waited + is_free if self.refused else 0
        if not accepted or self._vector is None:
            return False
        last = self._vector.transfers[self.accepted]
        if not self.accepted:
            self._scoreboard.waits.meet(GAP, self._idle, self._vector)
        self.accepted += 1
        self._offering = False
        self._idle = self._gap = 0
        is_complete = self.accepted == len(self._vector.transfers)
        if is_complete:
            self._scoreboard.send(self._vector)
            self._vector, self.accepted = self._next(), 0
        if self._vector is not None:
            coming = self._vector.transfers[self.accepted]
            repeats = tuple(port for port, value in coming.items() if value == last.get(port))
            self._stalls.before_repeated(repeats)
            if is_complete and not repeats and self._scoreboard.sent >= self._stalls.schedule.rules.gaps_from:
                self._gap = self._scoreboard.waits.wanted(GAP, self._vector)
        return is_complete

    def reset(self, dropped: Sequence[Vector], offers: bool) -> None:
        """Begin a reset of the design, and then start again: send the dropped vectors once more, after the one that would
        have come next. An operand that stays in the design over the reset is thus another one than the first that comes.

        Args:
            offers: whether operands are offered during the reset; the design must not take them.
        """
        self._again = [*([] if self._vector is None else [self._vector]), *dropped, *self._again]
        self._vector, self.accepted, self._offering, self.waited = self._next(), 0, False, 0
        self._idle, self._gap = NEVER, 0
        if self._valid is not None:
            self._valid.show(offers)
        self._invert()

    def _show(self, transfer: Mapping[str, int]) -> None:
        """Drive a transfer on the operand ports."""
        for port, value in transfer.items():
            self._pins[port].value = value
        self._shown, self._mixed_for = transfer, None

    def _pass(self) -> None:
        """Drive other operands in a gap: the inverse of the last ones, or, for all of it or its first cycle, at each port
        these, their inverse or zero, so that one operand changes while another stays."""
        if self._shown and self._mixed_for is None:
            self._mixed_for = self._stalls.shown(self._stalls.schedule.mixed_for)
            for port, value in self._shown.items() if self._mixed_for else ():
                self._pins[port].value = self._stalls.shown((value, 0, self._inverse(port, value)))
        if self._mixed_for:
            self._mixed_for -= 1
        else:
            self._invert()

    def _invert(self) -> None:
        """Invert the operands at the ports, once: a design that takes them without in_valid, or late, takes wrong ones."""
        for port, value in self._shown.items():
            self._pins[port].value = self._inverse(port, value)
        self._shown, self._mixed_for = {}, None

    def _inverse(self, port: str, value: int) -> int:
        return value ^ ((1 << width_of(self._pins[port])) - 1)

    def _next(self) -> Vector | None:
        return self._again.pop(0) if self._again else next(self._vectors, None)


class Monitor:
    """Receives results when out_valid marks them, or `latency` edges after their operands, and checks that a stalled result
    does not change.

    Attributes:
        ready: whether a result is taken in this cycle. taken: number of results taken.
        waited: cycles without a result while vectors are inside. was_ready: whether out_ready was high in one of them.
    """

    def __init__(self, pins: Pins, timing: Timing, scoreboard: Board, stalls: Stalls) -> None:
        self._pins, self._scoreboard, self._stalls = pins, scoreboard, stalls
        self._latency = timing.latency
        self._valid = "out_valid" in timing.controls
        self._can_take = Level(pins["out_ready"], stalls) if "out_ready" in timing.controls else None
        self.ready = True
        self._stalled_result: int | str | None = None
        self._edges = 0
        self._due: deque[int] = deque()
        self.taken = self._held = 0
        self._stall: int | None = None
        self.waited = 0
        self.was_ready = False
        if self._can_take is not None:
            scoreboard.waits.watch(STALL)

    def drive(self) -> None:
        """Be ready for a result, or pause; at times be ready only for a result that waits."""
        if self._can_take is not None:
            self.ready = self._takes()
            self._can_take.show(self.ready)

    def _takes(self) -> bool:
        """Whether to be ready, as the schedule has it, or once the next result has met the stall that it is to meet."""
        rules, calm = self._stalls.schedule.rules, not self._stalls.is_at_speed
        if calm and self.taken % rules.of_results < rules.after_valid:
            return self._stalled_result is not None
        if self._stall is None and self.taken >= rules.stalls_from and self._scoreboard.oldest is not None:
            self._stall = self._scoreboard.waits.wanted(STALL, self._scoreboard.oldest)
        if self._stall and calm and not self._stalls.in_long_pause:
            return self._held >= self._stall
        return not self._stalls.pause()

    def disturb(self) -> None:
        """Change out_ready while the design is disabled, which must not give a result."""
        if self._can_take is not None:
            self._can_take.waver()

    def sample(self, sent: bool) -> None:
        """Receive the result of the coming edge, if any.

        Args:
            sent: whether the coming edge accepts a vector.
        """
        result = self._result()
        if self._stalled_result is not None and result != self._stalled_result:
            self._scoreboard.stop("a result changed, or was withdrawn, while out_valid was high and out_ready low")
        self._stalled_result = None if self.ready else result
        is_waited_for = result is None and self._scoreboard.waiting > 0
        if result is not None and self.ready:
            if self._held and self._scoreboard.oldest is not None:
                self._scoreboard.waits.meet(STALL, self._held, self._scoreboard.oldest)
            self._scoreboard.receive(result)
            self.taken += 1
            self._held, self._stall = 0, None
        self._held += result is not None and not self.ready
        self.waited = self.waited + 1 if is_waited_for else 0
        self.was_ready = is_waited_for and (self.was_ready or self.ready)
        if sent and not self._valid:
            self._due.append(self._edges + self._latency)
        self._edges += 1

    def reset(self) -> None:
        """Start again after a reset of the design."""
        self._stalled_result = self._stall = None
        self._held = 0
        self._due.clear()
        self.waited = 0
        self.was_ready = False

    def _result(self) -> int | str | None:
        """The result at d, or None."""
        if self._valid:
            return code_of(self._pins["d"]) if is_high("out_valid", self._pins, self._scoreboard) else None
        if not self._due or self._due[0] != self._edges:
            return None
        self._due.popleft()
        return code_of(self._pins["d"])
