"""What driver and monitor tell of vectors and results."""

from collections.abc import Callable, Iterator
from typing import Protocol

from cosim.bench.mismatch import Arrival
from cosim.bench.products import Vector


class Board(Protocol):
    """A scoreboard, which compares results, or `cosim.bench.ask.Answers`, which collects them."""

    stopped: str | None
    now: Callable[[], Arrival]

    @property
    def waiting(self) -> int:
        """Vectors that went in and have no result yet."""

    def vectors(self) -> Iterator[Vector]:
        """The vectors to send, each once."""

    def send(self, vector: Vector) -> None:
        """The design has accepted all transfers of a vector."""

    def drop(self) -> list[Vector]:
        """A reset of the design drops every vector inside, in order."""

    def receive(self, result: int | str) -> None:
        """A result of the design: the code of d, or its bits as text where some are neither 0 nor 1."""

    def stop(self, reason: str) -> None:
        """The run ends early."""
