"""What a co-simulation came to."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from cosim.bench.scoreboard import Scoreboard


@dataclass(frozen=True, kw_only=True)
class Report:
    """The outcome of one run. It passed only where `failures` is empty.

    Attributes:
        unit, operation: names.
        simulator, seed: what it ran with.
        vectors: how many were asked for; one is what makes a result: a row of operands, or all steps of a tile.
        sent, received: how many the design took, and how many results it gave for them.
        waiting: vectors left without a result; surplus: results without a vector.
        mismatches: results that differ from the golden model's; first_mismatch: the first one in full.
        stopped: why the run ended before its vectors did, or None.
        classes: compared elements of each class and corner, of which a result has one, and a tile's as many as D;
            result_classes: of each class of result.
        seconds: time that the simulation took, without build and golden model.
    """

    unit: str
    operation: str
    simulator: str
    seed: int
    vectors: int
    sent: int
    received: int
    waiting: int
    surplus: int
    mismatches: int
    first_mismatch: str | None
    stopped: str | None
    classes: dict[str, int]
    result_classes: dict[str, int]
    seconds: float

    @classmethod
    def of(cls, scoreboard: Scoreboard, simulator: str, seed: int, seconds: float) -> "Report":
        """The scoreboard's counts, taken over as they are."""
        return cls(
            unit=scoreboard.subject.name,
            operation=scoreboard.subject.operation,
            simulator=simulator,
            seed=seed,
            vectors=len(scoreboard.vectors.results),
            sent=scoreboard.sent,
            received=scoreboard.received,
            waiting=scoreboard.waiting,
            surplus=scoreboard.surplus,
            mismatches=scoreboard.mismatches,
            first_mismatch=scoreboard.first_mismatch,
            stopped=scoreboard.stopped,
            classes=scoreboard.classes(),
            result_classes=scoreboard.result_classes(),
            seconds=seconds,
        )

    @property
    def failures(self) -> tuple[str, ...]:
        """Every reason why the run does not pass: N in, N out, none waiting, N > 0, all equal."""
        reasons = [
            (self.stopped is not None, str(self.stopped)),
            (self.sent == 0, "no vector went in"),
            (self.received == 0, "no result came out"),
            (self.sent != self.vectors, f"{self.sent} of {self.vectors} vectors went in"),
            (self.received != self.sent, f"{self.received} results came out for {self.sent} vectors"),
            (self.waiting > 0, f"{self.waiting} vectors are left without a result"),
            (self.surplus > 0, f"{self.surplus} results came out that no vector asked for"),
            (self.mismatches > 0, f"{self.mismatches} of {self.received} results differ from the golden model"),
        ]
        return tuple(text for failed, text in reasons if failed)

    @property
    def passed(self) -> bool:
        """Whether every vector went in, came out and agreed."""
        return not self.failures

    @property
    def classes_hit(self) -> int:
        """Classes and corners of the stimulus with at least one compared vector."""
        return sum(count > 0 for count in self.classes.values())

    @property
    def vectors_per_second(self) -> float:
        """Results per second of simulation."""
        return self.received / self.seconds if self.seconds else 0.0

    def as_dict(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        derived = {"vectors_per_second": self.vectors_per_second, "failures": list(self.failures), "passed": self.passed}
        return asdict(self) | derived

    def to_json(self) -> str:
        """What `from_json` reads back."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Report":
        """The report that `to_json` wrote."""
        return cls(**json.loads(text))


def table(reports: Sequence[Report]) -> str:
    """A line a report: unit, vectors, classes hit, mismatches, vectors/s, verdict."""
    rows = [("unit", "operation", "vectors", "classes hit", "mismatches", "vectors/s", "")]
    for report in reports:
        rows.append(
            (
                report.unit,
                report.operation,
                f"{report.received:,}",
                f"{report.classes_hit} of {len(report.classes)}",
                f"{report.mismatches:,}",
                f"{report.vectors_per_second:,.0f}",
                "passed" if report.passed else f"FAILED: {report.failures[0]}",
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(6)]
    return "\n".join("  ".join(_aligned(row, widths)).rstrip() for row in rows)


def summary(reports: Sequence[Report], seed: int) -> str:
    """The table, the first mismatch of each failed run, vectors by operation, and the sums that every run must end with."""
    lines = [table(reports), ""]
    for report in reports:
        if report.first_mismatch is not None:
            lines += [f"{report.unit}: first mismatch, {report.first_mismatch}", ""]
    operations = Counter[str]()
    for report in reports:
        operations[report.operation] += report.received
    lines += [f"{operation}: {count:,} vectors" for operation, count in operations.items()]
    sent, received = sum(report.sent for report in reports), sum(report.received for report in reports)
    waiting = sum(report.waiting for report in reports)
    queue = "queue empty" if waiting == 0 else f"{waiting:,} still waiting"
    passed = sum(report.passed for report in reports)
    lines.append(f"seed {seed}; {sent:,} sent, {received:,} received, {queue}; {passed} of {len(reports)} units passed")
    return "\n".join(lines)


def _aligned(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    """Text to the left, numbers to the right."""
    names = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
    numbers = [cell.rjust(width) for cell, width in zip(row[2:6], widths[2:], strict=True)]
    return [*names, *numbers, row[6]]
