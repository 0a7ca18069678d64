"""What a co-simulation came to."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from cosim.bench.outcome import Outcome
from cosim.bench.scoreboard import Scoreboard
from rtl.designs.design import Design


@dataclass(frozen=True, kw_only=True)
class Report(Outcome):
    """The outcome of one run of a design.

    Attributes:
        unit, operation: names.
        simulator, seed: what it ran with.
        seconds: duration of the simulation, without build and golden model.

    All others are the scoreboard's, as `Outcome` describes them.
    """

    unit: str
    operation: str
    simulator: str
    seed: int
    seconds: float

    @classmethod
    def of(cls, design: Design, scoreboard: Scoreboard, simulator: str, seed: int, seconds: float) -> "Report":
        """The scoreboard's outcome, taken over as it is."""
        names: dict[str, Any] = {"unit": design.name, "operation": design.operation.name, "simulator": simulator}
        return cls(**names, **asdict(scoreboard.outcome()), seed=seed, seconds=seconds)

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
