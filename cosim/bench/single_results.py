"""Requests for single results of a design, in a simulation whose stream of vectors has ended."""

from collections.abc import Callable, Iterator, Sequence

from cosim.bench.handshake import Pins
from cosim.bench.mismatch import Arrival
from cosim.bench.products import Vector
from cosim.bench.protocol import Timing
from cosim.bench.run_vectors import calmly


class Answers:
    """Results of a design for a few vectors, collected in order and not compared; implements `Board`."""

    def __init__(self, vectors: Sequence[Vector]) -> None:
        self.results: list[int | str] = []
        self.stopped: str | None = None
        self.now: Callable[[], Arrival] = lambda: Arrival(None, 0.0)
        self._vectors = vectors
        self._sent = 0

    @property
    def waiting(self) -> int:
        """The number of vectors sent that have no result yet."""
        return self._sent - len(self.results)

    def vectors(self) -> Iterator[Vector]:
        """The vectors to send."""
        return iter(self._vectors)

    def send(self, vector: Vector) -> None:
        """Count a vector that the design has accepted."""
        self._sent += 1

    def drop(self) -> list[Vector]:
        """Return no vectors: the design is never reset while vectors are inside."""
        return []

    def receive(self, result: int | str) -> None:
        """Record a result; ignore a result without a vector."""
        if self.waiting > 0:
            self.results.append(result)

    def stop(self, reason: str) -> None:
        """End the run early; the first reason counts."""
        self.stopped = self.stopped or reason


async def ask(pins: Pins, timing: Timing, vectors: Sequence[Vector]) -> list[int | str]:
    """Reset the design where it has a reset, send vectors one after another without pauses, and return the results.

    Returns:
        One result for each vector, as `Board.receive` takes it; fewer where the design stopped answering.
    """
    answers = Answers(vectors)
    await calmly(pins, timing, answers)
    return answers.results
