"""The scoreboard: compares the results of a design with those of the golden model, and says why a run does not pass."""

import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from cosim.bench.comparison_rules import Compare, Judge
from cosim.bench.coverage import Coverage, ReferenceSample
from cosim.bench.mismatch import Arrival, ComparedRow, Group, Record, described, joined
from cosim.bench.products import Chunk, EchoRows, Element, Vector
from cosim.bench.returned import Returned, summed
from cosim.bench.schedule import waits
from cosim.bench.stimulus import Specification
from cosim.bench.waits import Waits, all_met
from cosim.coverage.coverage_model import Counts, merged
from golden.checks import check_least, unknown
from golden.engines.engine import fastest_engine
from rtl.designs.ports import Echo


class Board(Protocol):
    """A scoreboard, which compares results, or `cosim.bench.run_vectors.Answers`, which only collects them."""

    stopped: str | None
    now: Callable[[], Arrival]
    sent: int
    waits: Waits

    @property
    def oldest(self) -> Vector | None:
        """The vector whose result comes next."""

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


ALL_SHOWN = 100
"""Number of classes up to which an error message lists all of them."""


@dataclass(frozen=True)
class Selection:
    """Which vectors of a run are sent.

    Attributes:
        only: send only vectors with an element of one of these classes of the stimulus; empty for every class.
        exclude: send no vector with an element of one of these classes.
        vector: number of the only vector to send, from 0; None for all.
    """

    only: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    vector: int | None = None

    def __post_init__(self) -> None:
        if self.vector is not None:
            check_least("the number of a vector", self.vector, 0)

    @property
    def is_everything(self) -> bool:
        """Whether all vectors are sent."""
        return self == Selection()

    def takes(self, vector: Vector) -> bool:
        """Whether a vector is sent."""
        if self.vector is not None and vector.number != self.vector:
            return False
        classes = {name for e in vector.elements for made in [e.products.made_by(e.row)] for name in (made, _plain(made))}
        return bool(not self.only or classes & set(self.only)) and not classes & set(self.exclude)

    def ends_before(self, number: int) -> bool:
        """Whether neither this vector nor any later one is sent."""
        return self.vector is not None and number > self.vector

    def check(self, classes: Collection[str], count: int) -> None:
        """Raise ValueError for classes that the stimulus does not have, or a vector beyond the end of the run.

        Args:
            classes: every class and corner of the stimulus. count: number of vectors of the run.
        """
        known = dict.fromkeys(name for each in classes for name in (each, _plain(each)))
        for option, names in (("only", self.only), ("exclude", self.exclude)):
            for name in names:
                if name not in known:
                    raise ValueError(unknown(f"the class to {option}", name, known, ALL_SHOWN))
        if self.vector is not None and self.vector >= count:
            raise ValueError(f"the number of a vector must be from 0 to {count - 1}, got {self.vector}")

    def as_table(self) -> dict[str, Any]:
        """The selection for JSON; `from_table` reads it back."""
        return asdict(self)

    @classmethod
    def from_table(cls, table: dict[str, Any]) -> "Selection":
        """The selection that `as_table` converted."""
        return cls(tuple(table["only"]), tuple(table["exclude"]), table["vector"])


def _plain(name: str) -> str:
    """The name of a class without its format."""
    return name.rpartition(": ")[2]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The outcome of a scoreboard. The run passed only if `failures` is empty.

    Attributes:
        vectors: number of vectors requested; a vector makes one result: a row of operands, or all steps of a tile.
        left_out: vectors that the run's selection did not send.
        sent, received: numbers of vectors that the design accepted and of results for them; dropped: vectors that were
            sent more than
            once because a reset in the middle of the stream dropped them.
        waiting: vectors without a result; surplus: results without a vector.
        first_surplus: cycle of the first surplus result (rising clock edges before it), or None.
        mismatches: results that differ from the golden model's; first_mismatch: the first one in full. groups: all elements
            that differ, by group. differing: the first of them, and those recorded in groups. agreeing: some elements that
            agreed, of a run with mismatches.
        engine: golden's engine that computed the expected results.
        checked: rows of the run, a sample of each simulation, that the reference engine computed too; disagreements: rows
            for which it computed other bits; first_disagreement: the first one in full.
        coverage: bins hit by results that agreed, by coverage model (cosim.coverage); empty where the native engine
            does not record the steps of the operation, or is not installed.
        waived: results that differ from the unit's and pass by a rule of `Compare`, by rule.
        stopped: why the run ended before all vectors were sent and answered, or None.
        classes: numbers of compared elements of each class and corner of the stimulus; result_classes: the same of each
            class of the expected
            results, zero to NaN. A result has one element, a tile's as many as D. result_pairs: pairs of classes of
            expected results, with their signs, that came one after the other in the same element. choice_pairs: the same of
            what inputs chose, where they choose the arithmetic. raised: results by output of exception flags, flags raised,
            and class of the stimulus. returned: by output beside d, what its wrong codes are (cosim/bench/returned.py).
        waits: lengths of gaps before vectors, and of stalls of results, that each class of results met (cycles, as text like
            "1-40, 42"), by kind and class; empty for a design without a clock.
    """

    vectors: int
    left_out: int = 0
    sent: int
    dropped: int = 0
    received: int
    waiting: int
    surplus: int = 0
    mismatches: int = 0
    first_mismatch: str | None = None
    groups: tuple[Group, ...] = ()
    differing: tuple[ComparedRow, ...] = ()
    agreeing: tuple[ComparedRow, ...] = ()
    engine: str
    checked: int = 0
    disagreements: int = 0
    first_disagreement: str | None = None
    waived: dict[str, int] = field(default_factory=dict)
    stopped: str | None = None
    classes: dict[str, int] = field(default_factory=dict)
    result_classes: dict[str, int] = field(default_factory=dict)
    coverage: tuple[Counts, ...] = ()
    result_pairs: dict[str, int] = field(default_factory=dict)
    choice_pairs: dict[str, int] = field(default_factory=dict)
    raised: dict[str, int] = field(default_factory=dict)
    returned: dict[str, tuple[int, ...]] = field(default_factory=dict)
    first_surplus: int | None = None
    waits: dict[str, str] = field(default_factory=dict)

    @classmethod
    def joined(cls, parts: "Sequence[Outcome]", **changes: Any) -> "Outcome":
        """The outcome of several simulations of one design, each after a new power-up.

        Args:
            changes: values of the whole that are not those of its parts together.
        """
        whole: dict[str, Any] = {key: sum(getattr(part, key) for part in parts) for key in _COUNTS}
        whole |= {key: next((text for part in parts if (text := getattr(part, key))), None) for key in _TEXTS}
        whole |= {key: _summed([getattr(part, key) for part in parts]) for key in _BY_NAME}
        whole |= {key: tuple(row for part in parts for row in getattr(part, key)) for key in _ROWS}
        whole["returned"] = summed([part.returned for part in parts])
        whole["waits"] = all_met([part.waits for part in parts])
        whole["coverage"] = merged(counts for part in parts for counts in part.coverage)
        whole["groups"] = joined(group for part in parts for group in part.groups)
        return cls(**{**whole, **changes}, engine=parts[0].engine)

    @property
    def selected(self) -> int:
        """The number of vectors that the run should send."""
        return self.vectors - self.left_out

    @property
    def failures(self) -> tuple[str, ...]:
        """Every reason why the run does not pass. It passes if all N > 0 vectors were sent, all N results came and agreed,
        and the engines agree."""
        first = "" if self.first_surplus is None else f", the first in cycle {self.first_surplus:,}"
        reasons = [
            (self.stopped is not None, str(self.stopped)),
            (self.sent == 0, "no vector went in"),
            (self.received == 0, "no result came out"),
            (self.sent != self.selected, f"{self.sent:,} of {self.selected:,} vectors went in"),
            (self.received != self.sent, f"{self.received:,} results came out for {self.sent:,} vectors"),
            (self.waiting > 0, f"{self.waiting:,} vectors have no result"),
            (self.surplus > 0, f"{self.surplus:,} results came out that no vector asked for{first}"),
            (self.mismatches > 0, f"{self.mismatches:,} of {self.received:,} results differ from the golden model"),
            (
                self.disagreements > 0,
                f"the engines {self.engine} and reference differ for {self.disagreements:,} of {self.checked:,} rows",
            ),
            (self.checked == 0, "no expected result was checked by the reference engine"),
        ]
        return tuple(text for failed, text in reasons if failed)

    @property
    def passed(self) -> bool:
        """Whether every vector was sent and its result came and agreed."""
        return not self.failures


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
        """Whether no element of the result differs."""
        return not self.wrong

    def __str__(self) -> str:
        """The first element that differs, or the first element where all agree: inputs, result and expected result."""
        first, *_ = self.wrong or zip(self.vector.elements, codes_of(self.code, self.vector.elements), strict=True)
        return described(self.number, *first)


_COUNTS = (
    "vectors", "left_out", "sent", "dropped", "received", "waiting", "surplus", "mismatches", "checked", "disagreements",
)  # fmt: skip
_BY_NAME = ("waived", "classes", "result_classes", "result_pairs", "choice_pairs", "raised")
_ROWS = ("differing", "agreeing")
_TEXTS = ("first_mismatch", "first_disagreement", "stopped", "first_surplus")


def _summed(counts: Sequence[dict[str, int]]) -> dict[str, int]:
    """Add counts by name, in the order of the first."""
    names = dict.fromkeys(name for each in counts for name in each)
    return {name: sum(each.get(name, 0) for each in counts) for name in names}


class Scoreboard:
    """Compares results in order with the golden model's. Only a few vectors are in memory at a time.

    Args:
        specification: source of the stimulus and the expected results.
        count, seed: number of vectors and seed of the stimulus.
        compare: the permitted differences.
        selection: the vectors that are sent; None for all.
        first: number of the first vector, where another simulation sends the earlier ones.
        fail_fast: whether the run ends at the first mismatch.
        echoes: outputs above d that return an input.
        on_send: called with each vector that the design has accepted; called again where a reset dropped it.
        on_result: called with each result for a vector, after the comparison.
        on_mismatch: called with each result that differs.

    Attributes:
        engine: golden's engine that computes the expected results.
        sent: vectors that the design accepted. dropped: vectors that a reset dropped, which are sent again.
        received: number of results for them. surplus: results without a vector; first_surplus: cycle of the first.
        left_out: vectors that the selection excludes.
        mismatches: number of results that differ; record: all of them, by group.
        now: returns the cycle and the simulated time, for the record; `exercise` sets it.
        stopped: why the run ended early, or None.
        judge: the rules of comparison and the waivers that were needed.
        waits: the gaps and stalls that results met.
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
        echoes: Sequence[Echo] = (),
        on_send: Callable[[Vector], object] | None = None,
        on_result: Callable[[Result], object] | None = None,
        on_mismatch: Callable[[Result], object] | None = None,
    ) -> None:
        self.count = count
        self.engine = fastest_engine() if specification.is_native else "reference"
        self.sent = self.dropped = self.received = self.surplus = self.mismatches = self.left_out = 0
        self.first_surplus: int | None = None
        self.record, self.returned = Record(), Returned()
        self.now: Callable[[], Arrival] = lambda: Arrival(None, 0.0)
        self.stopped: str | None = None
        self.judge = Judge(compare or Compare())
        self.coverage = Coverage()
        self.waits = Waits(waits(seed))
        self.sample = ReferenceSample(seed)
        self._vectors_seconds = 0.0
        self._on_send, self._on_result, self._on_mismatch = on_send, on_result, on_mismatch
        self._waiting: deque[Vector] = deque()
        self._echoes = echoes
        self._selection, self._fail_fast, self._next_number = selection or Selection(), fail_fast, first
        self._end = first + count
        self._chunks = specification.chunks(count, seed, self.engine)

    @property
    def first_mismatch(self) -> str | None:
        """The first element that differs, described in full; None where all agreed."""
        return self.record.first_mismatch

    @property
    def golden_seconds(self) -> float:
        """Time spent on stimulus, expected results and the coverage model (s)."""
        return self._vectors_seconds + self.coverage.golden_seconds

    @property
    def oldest(self) -> Vector | None:
        """The vector whose result comes next; None where none waits for one."""
        return self._waiting[0] if self._waiting else None

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
        self.returned.reset()
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
        self.coverage.count_flags(vector, self._echoes)
        self.coverage.count(elements, [element for element, _ in wrong])
        wrong += [pair for pair in echoed(result, vector, self._echoes) if not self._agrees(vector, *pair)]
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
        if isinstance(element.products, EchoRows):
            self.returned.count(element.products.echo, element.products.sent, code)
            if agrees:
                return True
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
            choice_pairs=self.coverage.choice_pairs(),
            raised=self.coverage.raised(),
            returned=self.returned.counts(),
            waits=self.waits.met(),
        )

    @property
    def failures(self) -> tuple[str, ...]:
        """Every reason why the run does not pass, as `Outcome.failures`; a testbench asserts that there is none."""
        return self.outcome().failures


def echoed(result: int | str, vector: Vector, echoes: Sequence[Echo]) -> list[tuple[Element, int | str]]:
    """The outputs above d of a result, each as an element with its code."""
    found = list[tuple[Element, int | str]]()
    for echo in echoes:
        rows = EchoRows(echo, vector.transfers[-1][echo.port], vector.elements[0])
        if isinstance(result, int):
            found.append((Element(rows, 0, echo.name), result >> echo.low & (1 << echo.width) - 1))
        else:
            bits = result[len(result) - echo.low - echo.width :][: echo.width]
            found.append((Element(rows, 0, echo.name), int(bits, 2) if set(bits) <= {"0", "1"} else bits))
    return found


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
