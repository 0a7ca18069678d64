"""The driver: sends vectors into a design with valid/ready handshake, with random stalls.

A cycle has two halves. While the clock is low, driver and monitor `drive` their signals; once these have settled both
`sample` what the rising edge will do. A transfer happens where valid and ready are both high.
"""

from collections.abc import Iterator

from cosim.bench.handshake import Pins, Stalls, is_high
from cosim.bench.products import Vector
from cosim.bench.scoreboard import Scoreboard


class Driver:
    """Offers the transfers of one vector after another and holds each until it is accepted.

    Args:
        vectors: what is sent.

    Attributes:
        waited: cycles for which the transfer on offer has not been accepted.
    """

    def __init__(self, pins: Pins, scoreboard: Scoreboard, stalls: Stalls, vectors: Iterator[Vector]) -> None:
        self._pins, self._scoreboard, self._stalls = pins, scoreboard, stalls
        self._vectors = vectors
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
        self._pins["in_valid"].value = int(self._offering)
        if self._offering and self._vector is not None:
            for port, value in self._vector.transfers[self._accepted].items():
                self._pins[port].value = value

    def sample(self) -> None:
        """See whether the transfer on offer is accepted at the coming edge; with its last transfer a vector is sent."""
        accepted = self._offering and is_high("in_ready", self._pins, self._scoreboard)
        self.waited = self.waited + 1 if self._offering and not accepted else 0
        if accepted and self._vector is not None:
            self._accepted += 1
            self._offering = False
            if self._accepted == len(self._vector.transfers):
                self._scoreboard.send(self._vector)
                self._vector, self._accepted = next(self._vectors, None), 0
