"""What a co-simulation came to."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from cosim.bench.scoreboard import Scoreboard
from rtl.designs.design import Design


@dataclass(frozen=True, kw_only=True)
class Report:
    """The outcome of one run. It passed only where `failures` is empty.

    Attributes:
        unit, operation: names.
        simulator, seed: what it ran with.
        vectors: how many were asked for; one is what makes a result: a row of operands, or all steps of a tile.
        sent, received: how many the design took, and how many results it gave for them; dropped: how many went in more than
            once, for a reset in the middle of the stream dropped them.
        waiting: vectors left without a result; surplus: results without a vector.
        mismatches: results that differ from the golden model's; first_mismatch: the first one in full.
        engine: golden's engine that computed the expected results.
        checked: rows of the run, a sample of each simulation, that the reference engine computed too; disagreements: those
            of them for which it expects other bits; first_disagreement: the first one in full.
        waived: results that differ from the unit's and pass by a rule of `Compare`, by rule.
        stopped: why the run ended before its vectors did, or None.
        classes: compared elements of each class and corner, of which a result has one, and a tile's as many as D;
        seconds: duration of the simulation, without build and golden model.
    """

    unit: str
    operation: str
    simulator: str
    seed: int
    vectors: int
    sent: int
    dropped: int
    received: int
    waiting: int
    surplus: int
    mismatches: int
    first_mismatch: str | None
    engine: str
    checked: int
    disagreements: int
    first_disagreement: str | None
    waived: dict[str, int]
    stopped: str | None
    classes: dict[str, int]
    result_classes: dict[str, int]
    seconds: float

    @classmethod
    def of(cls, design: Design, scoreboard: Scoreboard, simulator: str, seed: int, seconds: float) -> "Report":
        """The scoreboard's counts, taken over as they are, and the check of its engine."""
        disagreements = scoreboard.sample.disagreements()
        return cls(
            unit=design.name,
            operation=design.operation.name,
            simulator=simulator,
            seed=seed,
            vectors=scoreboard.count,
            sent=scoreboard.sent,
            dropped=scoreboard.dropped,
            received=scoreboard.received,
            waiting=scoreboard.waiting,
            surplus=scoreboard.surplus,
            mismatches=scoreboard.mismatches,
            first_mismatch=scoreboard.first_mismatch,
            engine=scoreboard.engine,
            checked=len(scoreboard.sample.rows()),
            disagreements=len(disagreements),
            first_disagreement=disagreements[0] if disagreements else None,
            waived=dict(scoreboard.judge.waived),
            stopped=scoreboard.stopped,
            classes=scoreboard.coverage.classes(),
            result_classes=scoreboard.coverage.result_classes(),
            seconds=seconds,
        )

    @classmethod
    def joined(cls, parts: Sequence["Report"]) -> "Report":
        """One report of several simulations of the same design, each of which powered it up anew."""
        counts = ("vectors", "sent", "dropped", "received", "waiting", "surplus", "mismatches", "checked", "disagreements")
        texts = ("first_mismatch", "first_disagreement", "stopped")
        joined: dict[str, Any] = {key: sum(getattr(part, key) for part in parts) for key in counts}
        joined |= {key: next((text for part in parts if (text := getattr(part, key))), None) for key in texts}
        joined |= {key: _summed([getattr(part, key) for part in parts]) for key in ("waived", "classes", "result_classes")}
        return replace(parts[0], **joined, seconds=sum(part.seconds for part in parts))

    @property
    def failures(self) -> tuple[str, ...]:
        """Every reason why the run does not pass: N in, N out, none waiting, N > 0, all equal, and the engines agree."""
        reasons = [
            (self.stopped is not None, str(self.stopped)),
            (self.sent == 0, "no vector went in"),
            (self.received == 0, "no result came out"),
            (self.sent != self.vectors, f"{self.sent} of {self.vectors} vectors went in"),
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


def _summed(counts: Sequence[dict[str, int]]) -> dict[str, int]:
    """Counts added by name, in the order of the first."""
    names = dict.fromkeys(name for each in counts for name in each)
    return {name: sum(each.get(name, 0) for each in counts) for name in names}


def table(reports: Sequence[Report]) -> str:
    """A line a report: unit, vectors, classes hit, mismatches, vectors/s, the engine that judged, of how many rows the
    reference agrees with it, verdict."""
    rows = [("unit", "operation", "vectors", "classes hit", "mismatches", "vectors/s", "engine", "by reference", "")]
    for report in reports:
        rows.append(
            (
                report.unit,
                report.operation,
                f"{report.received:,}",
                f"{report.classes_hit} of {len(report.classes)}",
                f"{report.mismatches:,}",
                f"{report.vectors_per_second:,.0f}",
                report.engine,
                f"{report.checked - report.disagreements:,} of {report.checked:,}",
                "passed" if report.passed else f"FAILED: {report.failures[0]}",
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(8)]
    return "\n".join("  ".join(_aligned(row, widths)).rstrip() for row in rows)


def summary(reports: Sequence[Report], seed: int) -> str:
    """The table, the first mismatch of each failed run, vectors by operation, and the sums that every run must end with."""
    lines = [table(reports), ""]
    for report in reports:
        if report.first_mismatch is not None:
            lines += [f"{report.unit}: first mismatch, {report.first_mismatch}", ""]
        if report.first_disagreement is not None:
            lines += [f"{report.unit}: first disagreement of the engines, {report.first_disagreement}", ""]
        for rule, count in report.waived.items():
            lines.append(f"{report.unit}: waived, {rule}: {count:,} results")
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
    numbers = [cell.rjust(width) for cell, width in zip(row[2:8], widths[2:], strict=True)]
    return [*names, *numbers, row[8]]
