"""What driver and monitor of a valid/ready handshake share: pins, stalls, and how a signal is read."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from cosim.bench.board import Board

STALL_ODDS = (0.0, 0.0, 0.25, 0.75)
"""How likely a side pauses in a cycle; one of these holds for a while, so that full speed and back-pressure both occur."""

STALL_PERIOD = 50
"""Cycles for which the odds hold: few, so that pauses of one side meet those of every other within the first hundreds."""

EARLY = 4000
"""Cycles in which the odds are drawn for every period. After them it is for few: a cycle with a pause shows no new value."""

LATER = 0.125
"""How likely they are drawn for a later period; in the others there is no pause."""

Pins = Mapping[str, Any]
"""A port's name to the simulator's handle."""


class Stalls:
    """Seeded decisions whether to pause.

    Args:
        odds: how likely, one of them for a while; after `EARLY` cycles mostly not at all.
    """

    def __init__(self, seed: str, odds: Sequence[float] = STALL_ODDS) -> None:
        self._all_odds = odds
        self._random = random.Random(seed)
        self._cycle = 0
        self._odds = 0.0

    def pause(self) -> bool:
        """Whether to pause in this cycle."""
        if self._cycle % STALL_PERIOD == 0:
            self._odds = self._drawn()
        self._cycle += 1
        return self._odds > 0 and self._random.random() < self._odds

    def _drawn(self) -> float:
        """The odds of the period that begins."""
        if self._cycle >= EARLY and self._random.random() >= LATER:
            return 0.0
        return self._random.choice(self._all_odds)


class Level:
    """An input of one bit that is driven when it changes: a write takes as long as reading a whole operand.

    Args:
        pin: the simulator's handle.
    """

    def __init__(self, pin: Any) -> None:
        self._pin = pin
        self._level: bool | None = None

    def show(self, level: bool) -> None:
        """The level from now on."""
        if level is not self._level:
            self._pin.value = int(level)
            self._level = level


def is_high(port: str, pins: Pins, scoreboard: Board) -> bool:
    """Whether a one-bit signal is 1; X or Z, where it is looked at, fails the design."""
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
        return int(bits, 2)  # of the text: cocotb looks at each bit as an object
    except ValueError:
        return bits
