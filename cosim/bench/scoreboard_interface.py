"""The interface through which driver and monitor report vectors and results."""

from collections.abc import Callable, Iterator
from typing import Protocol

from cosim.bench.mismatch import Arrival
from cosim.bench.products import Vector


class Board(Protocol):
    """A scoreboard, which compares results, or `cosim.bench.single_results.Answers`, which only collects them."""

    stopped: str | None
    now: Callable[[], Arrival]

    @property
    def waiting(self) -> int:
        """The number of vectors sent that have no result yet."""

    def vectors(self) -> Iterator[Vector]:
        """The vectors to send, each once."""

    def send(self, vector: Vector) -> None:
        """Record that the design has accepted all transfers of a vector."""

    def drop(self) -> list[Vector]:
        """Record a reset of the design, and return the vectors that it dropped, in order."""

    def receive(self, result: int | str) -> None:
        """Record a result of the design: the code of d, or its bits as text where some are neither 0 nor 1."""

    def stop(self, reason: str) -> None:
        """End the run early, for this reason."""
