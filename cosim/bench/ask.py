"""Asking a design for single results, in a simulation whose stream is over."""

from collections.abc import Callable, Iterator, Sequence

from cosim.bench.exercise import calmly
from cosim.bench.handshake import Pins
from cosim.bench.mismatch import Arrival
from cosim.bench.products import Vector
from cosim.bench.timing import Timing


class Answers:
    """Collects what a design gives for a few vectors, in order, and compares nothing. The methods: `Board`."""

    def __init__(self, vectors: Sequence[Vector]) -> None:
        self.results: list[int | str] = []
        self.stopped: str | None = None
        self.now: Callable[[], Arrival] = lambda: Arrival(None, 0.0)
        self._vectors = vectors
        self._sent = 0

    @property
    def waiting(self) -> int:
        """Vectors that went in and have no result yet."""
        return self._sent - len(self.results)

    def vectors(self) -> Iterator[Vector]:
        """The vectors to send."""
        return iter(self._vectors)

    def send(self, vector: Vector) -> None:
        """The design has accepted a vector."""
        self._sent += 1

    def drop(self) -> list[Vector]:
        """Nothing is dropped, for nothing is reset while vectors are inside."""
        return []

    def receive(self, result: int | str) -> None:
        """A result; what no vector asked for is not kept."""
        if self.waiting > 0:
            self.results.append(result)

    def stop(self, reason: str) -> None:
        """No further results are expected; the first reason counts."""
        self.stopped = self.stopped or reason


async def ask(pins: Pins, timing: Timing, vectors: Sequence[Vector]) -> list[int | str]:
    """The design's results for vectors that are sent one after another, after a reset where it has one, without pauses.

    Returns:
        A result a vector; fewer where the design stopped giving any.
    """
    answers = Answers(vectors)
    await calmly(pins, timing, answers)
    return answers.results
