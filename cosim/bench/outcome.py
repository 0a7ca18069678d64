"""What a stream of vectors came to, and every reason why it does not pass: one verdict for a testbench and for a report."""

from dataclasses import dataclass

from cosim.bench.groups import Group
from cosim.bench.mismatch import ComparedRow
from cosim.coverage.counts import Counts


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The counts of a scoreboard. It passed only where `failures` is empty.

    Attributes:
        vectors: how many were asked for; one is what makes a result: a row of operands, or all steps of a tile.
        left_out: those of them that the run's selection did not send.
        sent, received: how many the design took, and how many results it gave for them; dropped: how many went in more than
            once, for a reset in the middle of the stream dropped them.
        waiting: vectors left without a result; surplus: results without a vector.
        mismatches: results that differ from the golden model's; first_mismatch: the first one in full. groups: all elements
            of results that differ, by what they have in common. differing: the first of them, and those recorded in groups.
            agreeing: some that agreed, of a run with mismatches.
        engine: golden's engine that computed the expected results.
        checked: rows of the run, a sample of each simulation, that the reference engine computed too; disagreements: those
            of them for which it expects other bits; first_disagreement: the first one in full.
        coverage: bins of golden's models that results which agreed have hit, by model (cosim.coverage); none where the
            native engine is not installed.
        waived: results that differ from the unit's and pass by a rule of `Compare`, by rule.
        stopped: why the run ended before its vectors did, or None.
        classes: compared elements of each class and corner of the stimulus; result_classes: of each class of the expected
            results, zero to NaN. A result has one element, a tile's as many as D.
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

    @property
    def selected(self) -> int:
        """Vectors that the run should send."""
        return self.vectors - self.left_out

    @property
    def failures(self) -> tuple[str, ...]:
        """Every reason why the run does not pass: N in, N out, none waiting, N > 0, all equal, and the engines agree."""
        reasons = [
            (self.stopped is not None, str(self.stopped)),
            (self.sent == 0, "no vector went in"),
            (self.received == 0, "no result came out"),
            (self.sent != self.selected, f"{self.sent} of {self.selected} vectors went in"),
            (self.received != self.sent, f"{self.received} results came out for {self.sent} vectors"),
            (self.waiting > 0, f"{self.waiting} vectors are left without a result"),
            (self.surplus > 0, f"{self.surplus} results came out that no vector asked for"),
            (self.mismatches > 0, f"{self.mismatches} of {self.received} results differ from the golden model"),
            (
                self.disagreements > 0,
                f"the engines disagree: for {self.disagreements} of {self.checked} rows {self.engine} and reference differ",
            ),
            (self.checked == 0, "no expected result was checked by the reference engine"),
        ]
        return tuple(text for failed, text in reasons if failed)

    @property
    def passed(self) -> bool:
        """Whether every vector went in, came out and agreed."""
        return not self.failures
