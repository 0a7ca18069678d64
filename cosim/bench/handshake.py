"""The driver, which offers vectors to a design, and the monitor, which receives its results, each with random pauses."""

import random
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cosim.bench.products import Vector
from cosim.bench.protocol import Timing
from cosim.bench.scoreboard import Board

STALL_ODDS = (0.0, 0.0, 0.25, 0.75)
"""Probabilities that a side pauses in a cycle. One of them is drawn for each period, so that full speed and backpressure
both occur."""

STALL_PERIOD = 50
"""Number of cycles of a period, which has one of the odds. It is small, so that pauses of all sides coincide within the
first hundreds of cycles."""

REGULAR, EVERY = 1 / 3, (2, 2, 3)
"""Probability that in a period with pauses they are regular instead: only every second cycle, or every third, has none."""

EARLY = 4000
"""Cycles in which the odds are drawn for every period. Later they are drawn for few: a cycle with a pause tests no new
value."""

LATER = 0.125
"""Probability that odds are drawn for a later period; the other later periods have no pauses."""

FIRST_LONG = 64
"""Length of the first long pause, and the cycle near which it begins. Each further pause is four times as long and begins
four times as late."""

LONGEST = 2048
"""Longest pause: longer than the time-outs and the counters that lose a waiting result."""

EARLY_INPUTS = 1024
"""Number of first cycles in which every other stretch has inputs that change while the clock is high, as after the edge of a
register. Later one in `STRETCH` stretches has. In the other stretches inputs change as the clock falls."""

STRETCH = 32
"""Number of cycles of a stretch in which inputs change at one of the two times."""

BEFORE_REPEATED = 48
"""Length of a pause before operands that repeat some of the last ones (cycles)."""

OFTEN = 16
"""Number of pauses before the first runs that repeat the same operands. After these, pauses become ever rarer."""

FIRST_BEFORE_REPEATED = 256
"""First cycle with such a pause before repeated operands, so that short runs have their first resets."""

RUNS = (1, 1, 2, 4, 16)
"""Cycles for which an input of a disabled design keeps one level before it takes the other; one is drawn each time."""

Pins = Mapping[str, Any]
"""A port's name to the simulator's handle."""


class Stalls:
    """Seeded random decisions whether to pause: short pauses by odds, and a few long ones.

    Args:
        odds: probabilities of a pause, one for each period; after `EARLY` cycles most periods have none. Where all are 0,
            there are no long pauses either.

    Attributes:
        further: draws what a pause shows.
    """

    def __init__(self, seed: str, odds: Sequence[float] = STALL_ODDS) -> None:
        self._all_odds = odds
        self._random = random.Random(seed)
        self._cycle = 0
        self._odds, self._every = 0.0, 0
        self._lengths, self.further = random.Random(f"long {seed}"), random.Random(f"further {seed}")
        self._usual_length = FIRST_LONG
        self._next_long = self._lengths.randrange(FIRST_LONG, 2 * FIRST_LONG) if any(odds) else -1
        self._remaining = self._at_speed = 0
        self._met, self._repeated = Counter[tuple[str, ...]](), tuple[str, ...]()

    @property
    def is_at_speed(self) -> bool:
        """Whether the next cycle has no pause, whatever is drawn."""
        return self._at_speed > 0

    @property
    def in_long_pause(self) -> bool:
        """Whether the next cycle belongs to a long pause."""
        return self._remaining > 0

    def pause(self) -> bool:
        """Whether to pause in this cycle."""
        if self._at_speed:
            self._at_speed -= 1
            self._cycle += 1
            return False
        if self._remaining:
            self._remaining -= 1
            return True
        if 0 <= self._next_long <= self._cycle:
            self._begin_long()
        if self._cycle % STALL_PERIOD == 0:
            self._odds = self._drawn()
            is_regular = self._odds > 0 and self.further.random() < REGULAR
            self._every = self.further.choice(EVERY) if is_regular else 0
        self._cycle += 1
        if self._every:
            return self._cycle % self._every > 0
        return self._odds > 0 and self._random.random() < self._odds

    def hold(self, cycles: int) -> None:
        """Pause for some cycles from now on."""
        self._remaining = max(self._remaining, cycles)

    def go_on(self, cycles: int) -> None:
        """Do not pause in the next `cycles` cycles. A long pause that would begin in them begins after them."""
        self._at_speed = cycles

    def before_repeated(self, which: tuple[str, ...]) -> None:
        """Pause if a run of transfers begins that repeats exactly these operands of the previous transfer, and such runs
        were few, or twice as many as at the last pause. A design that keeps operands by their values may sleep in the
        pause."""
        begins, self._repeated = which != self._repeated, which
        if not which or not begins or self._next_long < 0 or self._cycle < FIRST_BEFORE_REPEATED or self._at_speed:
            return
        self._met[which] += 1
        if self._met[which] <= OFTEN or self._met[which].bit_count() == 1:
            self.hold(BEFORE_REPEATED)

    def _begin_long(self) -> None:
        """Begin a long pause with the next cycle, and draw the beginning of the next one."""
        longest = min(self._usual_length, LONGEST)
        self._remaining = self._lengths.randrange(longest * 3 // 4, longest)
        self._usual_length *= 4
        self._next_long = self._lengths.randrange(self._usual_length, 2 * self._usual_length)

    def _drawn(self) -> float:
        """The odds of the period that begins."""
        if self._cycle >= EARLY and self._random.random() >= LATER:
            return 0.0
        return self._random.choice(self._all_odds)


def change_after_rise(cycle: int) -> bool:
    """Whether the inputs of a cycle change while the clock is high."""
    return cycle // STRETCH % (2 if cycle < EARLY_INPUTS else STRETCH) == 1


class Level:
    """An input of one bit that is written only when it changes: a write takes as long as reading a whole operand.

    Args:
        pin: the simulator's handle. drawn: how long it keeps a level of which the design must not take notice.
    """

    def __init__(self, pin: Any, drawn: random.Random) -> None:
        self._pin, self._drawn = pin, drawn
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
            self._run = self._drawn.choice(RUNS)
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


MIXED_FOR = (0, 0, 1, float("inf"))
"""Cycles from the beginning of a gap in which some ports may keep their operands; one is drawn for each gap."""


class Driver:
    """Offers the transfers of one vector after another. Under valid/ready it holds each until it is accepted.

    Args:
        vectors: the vectors to send.

    Attributes:
        refused: whether the offered transfer was not accepted in this cycle.
        waited: cycles for which it was not accepted although nothing blocked it.
    """

    def __init__(self, pins: Pins, timing: Timing, scoreboard: Board, stalls: Stalls, vectors: Iterator[Vector]) -> None:
        self._pins, self._scoreboard, self._stalls = pins, scoreboard, stalls
        self._valid = Level(pins["in_valid"], stalls.further) if "in_valid" in timing.controls else None
        self._ready = "in_ready" in timing.controls
        self._vectors, self._drawn = vectors, stalls.further
        self._again: list[Vector] = []
        self._shown: Mapping[str, int] = {}
        self._mixed_for: float | None = None
        self._vector = next(vectors, None)
        self._accepted = self._disturbed = 0
        self._offering = self.refused = False
        self.waited = 0

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
        self._offering = self._vector is not None and not self._stalls.pause()
        if self._valid is not None:
            self._valid.show(self._offering)
        if self._offering and self._vector is not None:
            self._show(self._vector.transfers[self._accepted])
        elif self._vector is not None:  # a vector that is sent alone, for a diagnosis, has no neighbour
            self._pass()

    def disturb(self) -> None:
        """Drive the next operands into a disabled design, which must not take them; a transfer on offer stays. Under
        valid/ready in_valid, which may be high from the last transfer, falls every other time; otherwise it changes at
        random."""
        if self._offering or self._vector is None:
            return
        self._show(self._vector.transfers[self._accepted])
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
        self.waited = self.waited + is_free if self.refused else 0
        if not accepted or self._vector is None:
            return False
        last = self._vector.transfers[self._accepted]
        self._accepted += 1
        self._offering = False
        is_complete = self._accepted == len(self._vector.transfers)
        if is_complete:
            self._scoreboard.send(self._vector)
            self._vector, self._accepted = self._next(), 0
        if self._vector is not None:
            coming = self._vector.transfers[self._accepted]
            self._stalls.before_repeated(tuple(port for port, value in coming.items() if value == last.get(port)))
        return is_complete

    def reset(self, dropped: Sequence[Vector], offers: bool) -> None:
        """Begin a reset of the design, and then start again: send the dropped vectors once more, after the one that would
        have come next. An operand that stays in the design over the reset is thus another one than the first that comes.

        Args:
            offers: whether operands are offered during the reset; the design must not take them.
        """
        self._again = [*([] if self._vector is None else [self._vector]), *dropped, *self._again]
        self._vector, self._accepted, self._offering, self.waited = self._next(), 0, False, 0
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
            self._mixed_for = self._drawn.choice(MIXED_FOR)
            for port, value in self._shown.items() if self._mixed_for else ():
                self._pins[port].value = self._drawn.choice((value, 0, self._inverse(port, value)))
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


AFTER_VALID = 8
"""Number of results, at the beginning of each `PERIOD`, for which out_ready rises only after out_valid, which must not wait
for it."""

PERIOD = 512
"""Number of results from one such beginning to the next (see `AFTER_VALID`)."""


class Monitor:
    """Receives results when out_valid marks them, or `latency` edges after their operands, and checks that a stalled result
    does not change.

    Attributes:
        ready: whether a result is taken in this cycle.
        waited: cycles without a result while vectors are inside. was_ready: whether out_ready was high in one of them.
    """

    def __init__(self, pins: Pins, timing: Timing, scoreboard: Board, stalls: Stalls) -> None:
        self._pins, self._scoreboard, self._stalls = pins, scoreboard, stalls
        self._latency = timing.latency
        self._valid = "out_valid" in timing.controls
        self._can_take = Level(pins["out_ready"], stalls.further) if "out_ready" in timing.controls else None
        self.ready = True
        self._stalled_result: int | str | None = None
        self._edges = 0
        self._due: deque[int] = deque()
        self._taken = 0
        self.waited = 0
        self.was_ready = False

    def drive(self) -> None:
        """Be ready for a result, or pause; at times be ready only for a result that waits."""
        if self._can_take is not None:
            after_valid = self._taken % PERIOD < AFTER_VALID and not self._stalls.is_at_speed
            self.ready = self._stalled_result is not None if after_valid else not self._stalls.pause()
            self._can_take.show(self.ready)

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
            self._scoreboard.receive(result)
            self._taken += 1
        self.waited = self.waited + 1 if is_waited_for else 0
        self.was_ready = is_waited_for and (self.was_ready or self.ready)
        if sent and not self._valid:
            self._due.append(self._edges + self._latency)
        self._edges += 1

    def reset(self) -> None:
        """Start again after a reset of the design."""
        self._stalled_result = None
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
