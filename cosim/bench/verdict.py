"""The outcome of a stream of vectors, and every reason why it does not pass: one verdict for testbenches and reports."""

from dataclasses import dataclass, field

from cosim.bench.groups import Group
from cosim.bench.mismatch import ComparedRow
from cosim.coverage.counts import Counts


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The outcome of a scoreboard. The run passed only if `failures` is empty.

    Attributes:
        vectors: number of vectors requested; a vector makes one result: a row of operands, or all steps of a tile.
        left_out: vectors that the run's selection did not send.
        sent, received: vectors that the design accepted, and results for them; dropped: vectors that were sent more than
            once because a reset in the middle of the stream dropped them.
        waiting: vectors without a result; surplus: results without a vector.
        first_surplus: cycle of the first surplus result (rising clock edges before it), or None.
        mismatches: results that differ from the golden model's; first_mismatch: the first one in full. groups: all elements
            that differ, by group. differing: the first of them, and those recorded in groups. agreeing: some elements that
            agreed, of a run with mismatches.
        engine: golden's engine that computed the expected results.
        checked: rows of the run, a sample of each simulation, that the reference engine computed too; disagreements: rows
            for which it computed other bits; first_disagreement: the first one in full.
        coverage: bins hit by results that agreed, by coverage model (cosim.coverage); empty where the native engine is not
            installed.
        waived: results that differ from the unit's and pass by a rule of `Compare`, by rule.
        stopped: why the run ended before all vectors were sent and answered, or None.
        classes: compared elements of each class and corner of the stimulus; result_classes: of each class of the expected
            results, zero to NaN. A result has one element, a tile's as many as D. result_pairs: pairs of classes of
            expected results, with their signs, that came one after the other in the same element.
    """

    vectors: int
    left_out: int
    sent: int
    dropped: int
    received: int
    waiting: int
    surplus: int
    mismatches: int
    first_mismatch: str | None
    groups: tuple[Group, ...]
    differing: tuple[ComparedRow, ...]
    agreeing: tuple[ComparedRow, ...]
    engine: str
    checked: int
    disagreements: int
    first_disagreement: str | None
    waived: dict[str, int]
    stopped: str | None
    classes: dict[str, int]
    result_classes: dict[str, int]
    coverage: tuple[Counts, ...] = ()
    result_pairs: dict[str, int] = field(default_factory=dict)
    first_surplus: int | None = None

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
