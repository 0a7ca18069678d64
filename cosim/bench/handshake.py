"""Driver and monitor of a design with valid/ready handshake, both with random stalls.

A cycle has two halves. While the clock is low, driver and monitor `drive` their signals; once these have settled both
`sample` what the rising edge will do. A transfer happens where valid and ready are both high.
"""

import random
from collections.abc import Mapping
from typing import Any

from cosim.bench.scoreboard import Scoreboard

STALL_ODDS = (0.0, 0.0, 0.25, 0.75)
"""How likely a side pauses in a cycle; one of these holds for a while, so that full speed and back-pressure both occur."""

STALL_PERIOD = 200
"""Cycles for which the odds hold."""

Pins = Mapping[str, Any]
"""A port's name to the simulator's handle."""


class Stalls:
    """Seeded decisions whether to pause."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)
        self._cycle = 0
        self._odds = 0.0

    def pause(self) -> bool:
        """Whether to pause in this cycle."""
        if self._cycle % STALL_PERIOD == 0:
            self._odds = self._random.choice(STALL_ODDS)
        self._cycle += 1
        return self._random.random() < self._odds


class Driver:
    """Offers the transfers one after another and holds each until it is taken.

    Attributes:
        waited: cycles for which the transfer on offer has not been taken.
    """

    def __init__(self, pins: Pins, scoreboard: Scoreboard, stalls: Stalls) -> None:
        self._pins, self._scoreboard, self._stalls = pins, scoreboard, stalls
        self._transfers, self._steps = scoreboard.vectors.transfers, scoreboard.vectors.steps
        self._taken = 0
        self._offering = False
        self.waited = 0

    @property
    def done(self) -> bool:
        """Whether every transfer was taken."""
        return self._taken == len(self._transfers)

    def drive(self) -> None:
        """Offer the next transfer, go on offering the last one, or pause."""
        if self._offering:
            return
        self._offering = not self.done and not self._stalls.pause()
        self._pins["in_valid"].value = int(self._offering)
        if self._offering:
            for port, value in self._transfers[self._taken].items():
                self._pins[port].value = value

    def sample(self) -> None:
        """See whether the transfer on offer is taken at the coming edge; a vector is sent with the last of its steps."""
        taken = self._offering and _is_high("in_ready", self._pins, self._scoreboard)
        self.waited = self.waited + 1 if self._offering and not taken else 0
        if taken:
            self._taken += 1
            self._offering = False
            if self._taken % self._steps == 0:
                self._scoreboard.took()


class Monitor:
    """Takes results, and sees that one which has to wait stays as it is.

    Attributes:
        waited: cycles without a result although vectors are inside.
    """

    def __init__(self, pins: Pins, scoreboard: Scoreboard, stalls: Stalls) -> None:
        self._pins, self._scoreboard, self._stalls = pins, scoreboard, stalls
        self._ready = False
        self._kept_waiting: int | str | None = None
        self.waited = 0

    def drive(self) -> None:
        """Be ready for a result, or pause."""
        self._ready = not self._stalls.pause()
        self._pins["out_ready"].value = int(self._ready)

    def sample(self) -> None:
        """Take the result that the coming edge gives, if it gives one."""
        valid = _is_high("out_valid", self._pins, self._scoreboard)
        result = code_of(self._pins["d"]) if valid else None
        if self._kept_waiting is not None and result != self._kept_waiting:
            self._scoreboard.stop("a result changed, or was withdrawn, while out_valid was high and out_ready low")
        self._kept_waiting = None if self._ready else result
        if result is not None and self._ready:
            self._scoreboard.gave(result)
            self.waited = 0
        else:
            self.waited = self.waited + 1 if self._scoreboard.waiting else 0


def _is_high(port: str, pins: Pins, scoreboard: Scoreboard) -> bool:
    """Whether a one-bit signal is 1; X or Z, where it is looked at, fails the design."""
    bit = str(pins[port].value)
    if bit not in ("0", "1"):
        scoreboard.stop(f"{port} is neither 0 nor 1")
    return bit == "1"


def code_of(pin: Any) -> int | str:
    """The signal's code, or its bits as text where some are X or Z."""
    bits = pin.value
    return bits.to_unsigned() if bits.is_resolvable else str(bits)
