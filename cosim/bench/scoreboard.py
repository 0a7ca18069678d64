"""The scoreboard: compares the results of a design with those of the golden model."""

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from cosim.bench.compared_elements import Record, described
from cosim.bench.comparison_rules import Compare, Judge
from cosim.bench.coverage import Coverage
from cosim.bench.crosscheck import ReferenceSample
from cosim.bench.mismatch import Arrival
from cosim.bench.products import Chunk, Element, Vector
from cosim.bench.selection import Selection
from cosim.bench.stimulus import Specification
from cosim.bench.verdict import Outcome
from golden.engines import fastest_engine


@dataclass(frozen=True)
class Result:
    """A compared result of a design.

    Attributes:
        number: number of the vector in the run, from 0.
        vector: the vector that was sent.
        code: code of d, or its bits as text where some are neither 0 nor 1.
        wrong: the elements that differ, each with its code.
    """

    number: int
    vector: Vector
    code: int | str
    wrong: Sequence[tuple[Element, int | str]]

    @property
    def agrees(self) -> bool:
        """Whether no element differs."""
        return not self.wrong

    def __str__(self) -> str:
        """The first element that differs, or the first element where all agree: inputs, result and expected result."""
        first, *_ = self.wrong or zip(self.vector.elements, codes_of(self.code, self.vector.elements), strict=True)
        return described(self.number, *first)


class Scoreboard:
    """Compares results in order with the golden model's. Only a few vectors are in memory at a time.

    Args:
        specification: source of the stimulus and the expected results.
        count, seed: number of vectors and seed of the stimulus.
        compare: the permitted differences.
        selection: the vectors that are sent; None for all.
        first: number of the first vector, where another simulation sends the earlier ones.
        fail_fast: whether the run ends at the first mismatch.
        on_send: called with each vector that the design has accepted; called again where a reset dropped it.
        on_result: called with each result for a vector, after the comparison.
        on_mismatch: called with each result that differs.

    Attributes:
        engine: golden's engine that computes the expected results.
        sent: vectors that the design accepted. dropped: vectors that a reset dropped, which are sent again.
        received: results for them. surplus: results without a vector; first_surplus: cycle of the first.
        left_out: vectors that the selection excludes.
        mismatches: number of results that differ; record: all of them, by group.
        now: returns the cycle and the simulated time, for the record; `exercise` sets it.
        stopped: why the run ended early, or None.
        judge: the rules of comparison and the waivers that were needed.
        coverage: counts of compared elements.
        sample: the rows that the reference engine computes too.
    """

    def __init__(
        self,
        specification: Specification,
        count: int,
        seed: int,
        compare: Compare | None = None,
        *,
        selection: Selection | None = None,
        first: int = 0,
        fail_fast: bool = False,
        on_send: Callable[[Vector], object] | None = None,
        on_result: Callable[[Result], object] | None = None,
        on_mismatch: Callable[[Result], object] | None = None,
    ) -> None:
        self.count = count
        self.engine = fastest_engine()
        self.sent = self.dropped = self.received = self.surplus = self.mismatches = self.left_out = 0
        self.first_surplus: int | None = None
        self.record = Record()
        self.now: Callable[[], Arrival] = lambda: Arrival(None, 0.0)
        self.stopped: str | None = None
        self.judge = Judge(compare or Compare())
        self.coverage = Coverage()
        self.sample = ReferenceSample(seed)
        self._vectors_seconds = 0.0
        self._on_send, self._on_result, self._on_mismatch = on_send, on_result, on_mismatch
        self._waiting: deque[Vector] = deque()
        self._selection, self._fail_fast, self._next_number = selection or Selection(), fail_fast, first
        self._end = first + count
        self._chunks = specification.chunks(count, seed, self.engine)

    @property
    def first_mismatch(self) -> str | None:
        """The first element that differs, in full; None where all agreed."""
        return self.record.first_mismatch

    @property
    def golden_seconds(self) -> float:
        """Time spent on stimulus, expected results and the coverage model (s)."""
        return self._vectors_seconds + self.coverage.golden_seconds

    @property
    def waiting(self) -> int:
        """The number of vectors sent that have no result yet."""
        return len(self._waiting)

    def vectors(self) -> Iterator[Vector]:
        """The vectors to send, each once."""
        while True:
            started = time.perf_counter()
            chunk = None if self._selection.ends_before(self._next_number) else next(self._chunks, None)
            vectors = [] if chunk is None else self._selected(chunk)
            self._vectors_seconds += time.perf_counter() - started
            if chunk is None:
                self.left_out += 0 if self._selection.is_everything else self._end - self._next_number
                return
            yield from vectors

    def _selected(self, chunk: Chunk) -> list[Vector]:
        """The selected vectors of a chunk, each with its number; their rows go to coverage and sample."""
        first = self._next_number  # `replace` would take as long as sending a vector
        numbered = [Vector(each.transfers, each.elements, number) for number, each in enumerate(chunk.vectors, first)]
        self._next_number += len(numbered)
        vectors = numbered if self._selection.is_everything else [v for v in numbered if self._selection.takes(v)]
        self.left_out += len(numbered) - len(vectors)
        for products in chunk.products:
            rows = None
            if len(vectors) < len(numbered):
                rows = [e.row for vector in vectors for e in vector.elements if e.products is products]
            self.coverage.expect(products, rows)
            self.sample.add(products, rows)
        return vectors

    def send(self, vector: Vector) -> None:
        """Record that the design has accepted all transfers of a vector."""
        self._waiting.append(vector)
        self.sent += 1
        if self._on_send is not None:
            self._on_send(vector)

    def drop(self) -> list[Vector]:
        """Record a reset, and return the vectors that it dropped, in order; they count as sent when they are sent again."""
        dropped = list(self._waiting)
        self._waiting.clear()
        self.sent -= len(dropped)
        self.dropped += len(dropped)
        return dropped

    def receive(self, result: int | str) -> None:
        """Compare a result of the design: the code of d, or its bits as text where some are neither 0 nor 1."""
        if not self._waiting:
            if not self.surplus:
                self.first_surplus = self.now().cycle
            self.surplus += 1
            return
        vector = self._waiting.popleft()
        elements = vector.elements
        self.received += 1
        codes = codes_of(result, elements)
        wrong = [pair for pair in zip(elements, codes, strict=True) if not self._agrees(vector, *pair)]
        self.coverage.count(elements, [element for element, _ in wrong])
        if self._on_result is not None:
            self._on_result(Result(vector.number, vector, result, wrong))
        if wrong:
            self.mismatches += 1
            if self._on_mismatch is not None:
                self._on_mismatch(Result(vector.number, vector, result, wrong))
            if self._fail_fast:
                self.stop(f"stopped at the first mismatch, vector {vector.number}")

    def _agrees(self, vector: Vector, element: Element, code: int | str) -> bool:
        """Compare an element and record it; return whether it agrees."""
        agrees = element.products.agrees(element.row, code, self.judge)
        if agrees:
            self.record.agrees(vector.number, element, code, self.now)
        else:
            self.record.differs(vector.number, element, code, self.now())
        return agrees

    def stop(self, reason: str) -> None:
        """End the run early; the first reason counts."""
        self.stopped = self.stopped or reason

    def outcome(self) -> Outcome:
        """The outcome so far; computes the sample of the run with the reference engine."""
        disagreements = self.sample.disagreements()
        return Outcome(
            vectors=self.count,
            left_out=self.left_out,
            sent=self.sent,
            dropped=self.dropped,
            received=self.received,
            waiting=self.waiting,
            surplus=self.surplus,
            first_surplus=self.first_surplus,
            mismatches=self.mismatches,
            first_mismatch=self.first_mismatch,
            groups=self.record.groups(),
            differing=self.record.differing(),
            agreeing=self.record.agreeing() if self.mismatches else (),
            engine=self.engine,
            checked=len(self.sample.rows()),
            disagreements=len(disagreements),
            first_disagreement=disagreements[0] if disagreements else None,
            waived=dict(self.judge.waived),
            stopped=self.stopped,
            coverage=self.coverage.counts(),
            classes=self.coverage.classes(),
            result_classes=self.coverage.result_classes(),
            result_pairs=self.coverage.result_pairs(),
        )

    @property
    def failures(self) -> tuple[str, ...]:
        """Every reason why the run does not pass, as `Outcome.failures`; a testbench asserts that there is none."""
        return self.outcome().failures


def codes_of(result: int | str, elements: Sequence[Element]) -> list[int | str]:
    """Split a result into the codes of its elements, the first from the low bits; undefined bits stay text."""
    if isinstance(result, int) and len(elements) == 1:
        return [result & (1 << elements[0].products.result.width) - 1]
    widths = [element.products.result.width for element in elements]
    if isinstance(result, int):
        starts = [sum(widths[:place]) for place in range(len(widths))]
        return [result >> start & (1 << width) - 1 for start, width in zip(starts, widths, strict=True)]
    bits = [result[len(result) - sum(widths[: place + 1]) :][:width] for place, width in enumerate(widths)]
    return [int(code, 2) if set(code) <= {"0", "1"} else code for code in bits]
