"""The driver: sends vectors into a design, with random pauses.

A cycle has two halves. While the clock is low, driver and monitor `drive` their signals; once these have settled both
`sample` what the rising edge will do.
"""

from collections.abc import Iterator, Sequence

from cosim.bench.board import Board
from cosim.bench.handshake import Level, Pins, Stalls, is_high
from cosim.bench.products import Vector
from cosim.bench.timing import Timing


class Driver:
    """Offers the transfers of one vector after another; under valid/ready it holds each until it is accepted.

    Args:
        vectors: what is sent.

    Attributes:
        waited: cycles for which the transfer on offer has not been accepted.
    """

    def __init__(self, pins: Pins, timing: Timing, scoreboard: Board, stalls: Stalls, vectors: Iterator[Vector]) -> None:
        self._pins, self._scoreboard, self._stalls = pins, scoreboard, stalls
        self._valid = Level(pins["in_valid"]) if "in_valid" in timing.controls else None
        self._ready = "in_ready" in timing.controls
        self._vectors = vectors
        self._again: list[Vector] = []
        self._vector = next(vectors, None)
        self._accepted = 0
        self._offering = False
        self.waited = 0

    @property
    def done(self) -> bool:
        """Whether every transfer was accepted."""
        return self._vector is None

    def drive(self) -> None:
        """Offer the next transfer, go on offering the last one, or pause."""
        if self._offering:
            return
        self._offering = self._vector is not None and not self._stalls.pause()
        if self._valid is not None:
            self._valid.show(self._offering)
        if self._offering and self._vector is not None:
            for port, value in self._vector.transfers[self._accepted].items():
                self._pins[port].value = value

    def disturb(self) -> None:
        """Show a disabled design the coming operands, which it must not take yet; what waits for in_ready stays."""
        if self._offering or self._vector is None:
            return
        for port, value in self._vector.transfers[self._accepted].items():
            self._pins[port].value = value
        if self._valid is not None and not self._ready:
            self._valid.show(True)

    def sample(self) -> bool:
        """See whether the transfer on offer is accepted at the coming edge.

        Returns:
            Whether it was the last transfer of a vector, which then is sent.
        """
        accepted = self._offering and (not self._ready or is_high("in_ready", self._pins, self._scoreboard))
        self.waited = self.waited + 1 if self._offering and not accepted else 0
        if not accepted or self._vector is None:
            return False
        self._accepted += 1
        self._offering = False
        if self._accepted < len(self._vector.transfers):
            return False
        self._scoreboard.send(self._vector)
        self._vector, self._accepted = self._next(), 0
        return True

    def reset(self, dropped: Sequence[Vector]) -> None:
        """Begin again, in a reset of the design: the vectors that it dropped are sent once more, before all others."""
        self._again = [*dropped, *([] if self._vector is None else [self._vector]), *self._again]
        self._vector, self._accepted, self._offering, self.waited = self._next(), 0, False, 0
        if self._valid is not None:
            self._valid.show(False)

    def _next(self) -> Vector | None:
        return self._again.pop(0) if self._again else next(self._vectors, None)
