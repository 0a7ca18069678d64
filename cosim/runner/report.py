"""What a co-simulation came to."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from cosim.bench.groups import Group, joined
from cosim.bench.minimise import Minimised
from cosim.bench.mismatch import ComparedRow
from cosim.bench.outcome import Outcome
from cosim.coverage.counts import Counts, merged
from cosim.coverage.model import Bins, whole
from cosim.coverage.model import report as coverage_report
from cosim.rtl_coverage.files import FileCoverage
from cosim.runner.explanation import Explanation, diagnosed, explanation_of
from rtl.designs.design import Design


@dataclass(frozen=True, kw_only=True)
class Report(Outcome):
    """The outcome of one run of a design.

    Attributes:
        unit, operation: names.
        simulator, seed: what it ran with. mode: how vectors were sent, one of `cosim.runner.request.MODES`.
        seconds: duration of the simulation, without build and golden model.
        minimised: the first mismatch, minimised in its simulation; None where there is none.
        rtl_coverage: what was executed of each source; None where it was not asked for, or the simulation broke off before.
        explanation: why results differ, of a whole run; None where none does.
        design, verilog: digests of the design and of the generated Verilog that was simulated (`jobs.contents`); empty of
            a design of one's own.

    All others are the scoreboard's, as `Outcome` describes them.
    """

    unit: str
    operation: str
    simulator: str
    seed: int
    seconds: float
    mode: str = "cocotb"
    minimised: Minimised | None = None
    explanation: Explanation | None = None
    rtl_coverage: tuple[FileCoverage, ...] | None = None
    design: str = ""
    verilog: str = ""

    @classmethod
    def of(
        cls, design: Design, outcome: Outcome, simulator: str, seed: int, seconds: float, mode: str = "cocotb"
    ) -> "Report":
        """A scoreboard's outcome, taken over as it is."""
        counts: dict[str, Any] = {each.name: getattr(outcome, each.name) for each in fields(Outcome)}
        names: dict[str, Any] = {"unit": design.name, "operation": design.operation.name, "simulator": simulator}
        return cls(**names, **counts, seed=seed, seconds=seconds, mode=mode)

    @classmethod
    def joined(cls, parts: Sequence["Report"]) -> "Report":
        """One report of several simulations of the same design, each of which powered it up anew."""
        sums: dict[str, Any] = {key: sum(getattr(part, key) for part in parts) for key in _COUNTS}
        sums |= {key: next((text for part in parts if (text := getattr(part, key))), None) for key in _TEXTS}
        sums |= {key: _summed([getattr(part, key) for part in parts]) for key in ("waived", "classes", "result_classes")}
        sums |= {"coverage": merged(counts for part in parts for counts in part.coverage)}
        sums |= {"groups": joined(group for part in parts for group in part.groups)}
        for key in _ROWS:
            sums |= {key: tuple(row for part in parts for row in getattr(part, key))}
        sums |= {"minimised": next((part.minimised for part in parts if part.minimised is not None), None)}
        return replace(parts[0], **sums, seconds=sum(part.seconds for part in parts))

    @property
    def ran_in(self) -> str:
        """The simulator, and the mode where it is not the usual one."""
        return self.simulator if self.mode == "cocotb" else f"{self.simulator}, {self.mode}"

    @property
    def classes_hit(self) -> int:
        """Classes and corners of the stimulus with at least one compared vector."""
        return sum(count > 0 for count in self.classes.values())

    @property
    def bins(self) -> Bins:
        """The bins of all its models."""
        return whole(self.coverage)

    @property
    def vectors_per_second(self) -> float:
        """Results per second of simulation."""
        return self.received / self.seconds if self.seconds else 0.0

    def as_dict(self) -> dict[str, Any]:
        """All of it for people's programs, ready for JSON; rows that agreed aside."""
        derived = {"vectors_per_second": self.vectors_per_second, "failures": list(self.failures), "passed": self.passed}
        explanation = None if self.explanation is None else self.explanation.as_dict()
        left_out = ("agreeing", "minimised", "rtl_coverage")
        known = {key: value for key, value in self._plain().items() if key not in left_out}
        coverage = {"coverage": [coverage_report(counts) for counts in self.coverage]}
        if self.rtl_coverage is not None:
            coverage |= {"rtl_coverage": [file.as_dict() for file in self.rtl_coverage]}
        return known | coverage | {"explanation": explanation} | derived

    def explained(self, design: Design) -> "Report":
        """The report with its explanation, and each group's diagnosis."""
        explanation = explanation_of(self, self.minimised, design)
        if explanation is None:
            return self
        return replace(self, explanation=explanation, groups=diagnosed(self.groups, self.differing, explanation))

    def _plain(self) -> dict[str, Any]:
        """All but what whole runs alone have: the explanation and the coverage of the RTL."""
        plain = asdict(replace(self, explanation=None, coverage=(), rtl_coverage=None))
        return plain | {"coverage": [counts.as_dict() for counts in self.coverage]}

    def to_json(self) -> str:
        """What `from_json` reads back: all but the explanation and the RTL's coverage, which are made of whole runs."""
        return json.dumps(self._plain())

    @classmethod
    def from_json(cls, text: str) -> "Report":
        """The report that `to_json` wrote."""
        table: Mapping[str, Any] = json.loads(text)
        groups = tuple(Group.from_dict(group) for group in table["groups"])
        rows = {key: tuple(ComparedRow.from_dict(row) for row in table[key]) for key in _ROWS}
        coverage = tuple(Counts.from_dict(counts) for counts in table["coverage"])
        small = table["minimised"]
        minimised = None if small is None else Minimised.from_dict(small)
        return cls(**{**table, **rows, "coverage": coverage, "groups": groups, "minimised": minimised})


_COUNTS = (
    "vectors", "left_out", "sent", "dropped", "received", "waiting", "surplus", "mismatches", "checked", "disagreements",
)  # fmt: skip
_ROWS = ("differing", "agreeing")
_TEXTS = ("first_mismatch", "first_disagreement", "stopped")


def _summed(counts: Sequence[dict[str, int]]) -> dict[str, int]:
    """Counts added by name, in the order of the first."""
    names = dict.fromkeys(name for each in counts for name in each)
    return {name: sum(each.get(name, 0) for each in counts) for name in names}
