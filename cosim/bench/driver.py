"""The driver: sends vectors into a design, with random pauses.

A cycle has two halves. While the clock is low, driver and monitor `drive` their signals. When these have settled, both
`sample` the handshake of the coming rising edge.
"""

from collections.abc import Iterator, Mapping, Sequence

from cosim.bench.handshake import Level, Pins, Stalls, is_high, width_of
from cosim.bench.products import Vector
from cosim.bench.protocol import Timing
from cosim.bench.scoreboard_interface import Board

MIXED_FOR = (0, 0, 1, float("inf"))
"""Cycles from the beginning of a gap in which some ports may keep their operands; one is drawn for each gap."""


class Driver:
    """Offers the transfers of one vector after another; under valid/ready it holds each until it is accepted.

    Args:
        vectors: the vectors to send.

    Attributes:
        refused: whether the transfer on offer was not accepted in this cycle.
        waited: cycles for which it was not accepted although nothing stood in its way.
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
        """Whether a transfer is on offer that was not accepted yet."""
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
        valid/ready in_valid, which may be high from the last transfer, falls every other time; else it comes and goes."""
        if self._offering or self._vector is None:
            return
        self._show(self._vector.transfers[self._accepted])
        self._disturbed += 1
        if self._valid is not None and not self._ready:
            self._valid.waver()
        elif self._valid is not None and self._disturbed % 2:
            self._valid.show(False)

    def sample(self, is_free: bool = True) -> bool:
        """Check whether the transfer on offer is accepted at the coming edge.

        Args:
            is_free: whether no result that the consumer leaves waiting can stand in its way.

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
            offers: whether operands are on offer during the reset, which the design must not take.
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
