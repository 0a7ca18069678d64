"""Parts that driver and monitor share: pins, stalls, and how a signal is read."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from cosim.bench.scoreboard_interface import Board

STALL_ODDS = (0.0, 0.0, 0.25, 0.75)
"""Probabilities that a side pauses in a cycle; one of them holds for a period, so that full speed and backpressure both
occur."""

STALL_PERIOD = 50
"""Cycles for which the odds hold: few, so that pauses of all sides coincide within the first hundreds of cycles."""

REGULAR, EVERY = 1 / 3, (2, 2, 3)
"""Probability that in a period with pauses they are regular instead: only every second cycle, or every third, has none."""

EARLY = 4000
"""Cycles in which the odds are drawn for every period. Later they are drawn for few: a cycle with a pause tests no new
value."""

LATER = 0.125
"""Probability that odds are drawn for a later period; the other later periods have no pauses."""

FIRST_LONG = 64
"""Length of the first long pause, which comes after as many cycles. Each further one is four times as long and as late."""

LONGEST = 2048
"""Longest pause: longer than the time-outs and the counters that lose a waiting result."""

EARLY_INPUTS = 1024
"""Cycles of which every other stretch has inputs that change while the clock is high, as after the edge of a register; later
one stretch of many has. In the others they change as the clock falls."""

STRETCH = 32
"""Cycles."""

BEFORE_REPEATED = 48
"""Length of a pause before operands that repeat some of the last ones (cycles)."""

OFTEN = 16
"""How often such a pause comes before the first runs that repeat the same operands; later it comes ever more rarely."""

FIRST_BEFORE_REPEATED = 256
"""Cycle before which there is none, so that short runs have their first resets."""

RUNS = (1, 1, 2, 4, 16)
"""Cycles for which an input of a disabled design keeps one level, before it takes the other."""

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
        """Whether a long pause goes on in the next cycle."""
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
        """Pause in none of some cycles from now on; a long pause that is due in them comes after them."""
        self._at_speed = cycles

    def before_repeated(self, which: tuple[str, ...]) -> None:
        """Pause, if a run of transfers begins that repeat just these operands of the last one, and there were few such runs
        or twice as many as at the last pause: a design that keeps operands by their values may sleep in the pause."""
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
        """Drive the other level from now on, or, if it came only some cycles before, the same."""
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
