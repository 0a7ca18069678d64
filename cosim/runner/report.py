"""The report of a co-simulation."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from cosim.bench.minimise import Minimised
from cosim.bench.mismatch import ComparedRow, Group, joined
from cosim.bench.scoreboard import Outcome
from cosim.coverage.counts import Counts, merged
from cosim.coverage.coverage_model import Bins, whole
from cosim.coverage.coverage_model import report as coverage_report
from rtl.designs.design import Design

if TYPE_CHECKING:
    from cosim.diagnosis.explain import Explanation
    from cosim.rtl_coverage.file_coverage import FileCoverage


@dataclass(frozen=True, kw_only=True)
class Report(Outcome):
    """The outcome of one run of a design.

    Attributes:
        unit, operation: names of the design and of its operation.
        simulator, seed: of the run. mode: how vectors were sent, one of `cosim.runner.request.MODES`.
        seconds: duration of the simulation, without build and golden model (s).
        minimised: the first mismatch, minimised in its simulation; None without mismatches.
        rtl_coverage: coverage of each source file; None where it was not requested, or the simulation broke off before.
        explanation: the explanation of the mismatches of a whole run; None without mismatches.
        design, verilog: digests of the design and of the generated Verilog that was simulated (`rtl.designs.identity`);
            empty for a user design.
        reset: what the reset of a user design is, where its description says something else; else None.
        other_readings: why the circuit of a user design may be another one to other tools, a line each.
        sources: the SHA-256 of each file of a user design, by path, as it was simulated.
        input_bits: bits of the operands of one vector: so many powers of two are its possible inputs.

    The other attributes are those of `Outcome`.
    """

    unit: str
    operation: str
    simulator: str
    seed: int
    seconds: float
    mode: str = "cocotb"
    minimised: Minimised | None = None
    explanation: "Explanation | None" = None
    rtl_coverage: "tuple[FileCoverage, ...] | None" = None
    design: str = ""
    verilog: str = ""
    input_bits: int = 0
    reset: str | None = None
    other_readings: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, design: Design, outcome: Outcome, simulator: str, seed: int, seconds: float, mode: str = "cocotb"
    ) -> "Report":
        """The report of one simulation, with the scoreboard's outcome unchanged."""
        counts: dict[str, Any] = {each.name: getattr(outcome, each.name) for each in fields(Outcome)}
        names: dict[str, Any] = {"unit": design.name, "operation": design.operation.name, "simulator": simulator}
        return cls(**names, **counts, seed=seed, seconds=seconds, mode=mode)

    @classmethod
    def joined(cls, parts: Sequence["Report"]) -> "Report":
        """Join the reports of several simulations of the same design, each after a new power-up."""
        sums: dict[str, Any] = {key: sum(getattr(part, key) for part in parts) for key in _COUNTS}
        sums |= {key: next((text for part in parts if (text := getattr(part, key))), None) for key in _TEXTS}
        sums |= {key: _summed([getattr(part, key) for part in parts]) for key in _BY_NAME}
        sums |= {"coverage": merged(counts for part in parts for counts in part.coverage)}
        sums |= {"groups": joined(group for part in parts for group in part.groups)}
        for key in _ROWS:
            sums |= {key: tuple(row for part in parts for row in getattr(part, key))}
        sums |= {"minimised": next((part.minimised for part in parts if part.minimised is not None), None)}
        return replace(parts[0], **sums, seconds=sum(part.seconds for part in parts))

    @property
    def ran_in(self) -> str:
        """The simulator, and the mode where it is not `cocotb`."""
        return self.simulator if self.mode == "cocotb" else f"{self.simulator}, {self.mode}"

    @property
    def classes_hit(self) -> int:
        """The number of classes and corners of the stimulus with at least one compared element."""
        return sum(count > 0 for count in self.classes.values())

    @property
    def bins(self) -> Bins:
        """The bins of all coverage models."""
        return whole(self.coverage)

    @property
    def vectors_per_second(self) -> float:
        """Results per second of simulation."""
        return self.received / self.seconds if self.seconds else 0.0

    def as_dict(self) -> dict[str, Any]:
        """The report for JSON, without the rows that agreed."""
        derived = {"vectors_per_second": self.vectors_per_second, "failures": list(self.failures), "passed": self.passed}
        explanation = None if self.explanation is None else self.explanation.as_dict()
        left_out = ("agreeing", "minimised", "rtl_coverage")
        known = {key: value for key, value in self._plain().items() if key not in left_out}
        coverage = {"coverage": [coverage_report(counts) for counts in self.coverage]}
        if self.rtl_coverage is not None:
            coverage |= {"rtl_coverage": [file.as_dict() for file in self.rtl_coverage]}
        return known | coverage | {"explanation": explanation} | derived

    def explained(self, design: Design, latency: int | None = None) -> "Report":
        """The report with its explanation, and each group's diagnosis.

        Args:
            latency: the design's latency by its description (cycles), None where its results have a valid signal.
        """
        if not self.differing:
            return self
        from cosim.diagnosis.explain import diagnosed, explanation_of  # a run that passes does without

        explanation = explanation_of(self, self.minimised, design, latency)
        assert explanation is not None
        return replace(self, explanation=explanation, groups=diagnosed(self.groups, self.differing, explanation))

    def _plain(self) -> dict[str, Any]:
        """The report of one simulation for JSON, without explanation and RTL coverage, which only whole runs have."""
        plain = asdict(replace(self, explanation=None, coverage=(), rtl_coverage=None))
        return plain | {"coverage": [counts.as_dict() for counts in self.coverage]}

    def to_json(self) -> str:
        """The report as JSON for `from_json`, without explanation and RTL coverage, which only whole runs have."""
        return json.dumps(self._plain())

    @classmethod
    def from_json(cls, text: str) -> "Report":
        """The report that `to_json` wrote."""
        table: Mapping[str, Any] = json.loads(text)
        groups = tuple(Group.from_dict(group) for group in table["groups"])
        rows = {key: tuple(ComparedRow.from_dict(row) for row in table[key]) for key in _ROWS}
        coverage = tuple(Counts.from_dict(counts) for counts in table["coverage"])
        small = table["minimised"]
        table = {**table, "other_readings": tuple(table["other_readings"])}
        minimised = None if small is None else Minimised.from_dict(small)
        return cls(**{**table, **rows, "coverage": coverage, "groups": groups, "minimised": minimised})


_COUNTS = (
    "vectors", "left_out", "sent", "dropped", "received", "waiting", "surplus", "mismatches", "checked", "disagreements",
)  # fmt: skip
_BY_NAME = ("waived", "classes", "result_classes", "result_pairs")
_ROWS = ("differing", "agreeing")
_TEXTS = ("first_mismatch", "first_disagreement", "stopped", "first_surplus")


def _summed(counts: Sequence[dict[str, int]]) -> dict[str, int]:
    """Add counts by name, in the order of the first."""
    names = dict.fromkeys(name for each in counts for name in each)
    return {name: sum(each.get(name, 0) for each in counts) for name in names}
