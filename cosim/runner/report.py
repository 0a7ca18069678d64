"""The report of a co-simulation."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from cosim.bench.coverage import BETWEEN
from cosim.bench.mismatch import Minimised
from cosim.bench.returned import origins
from cosim.bench.scoreboard import Outcome
from cosim.build.sources import NOT_SIMULATED
from cosim.coverage.coverage_model import Bins, whole
from cosim.coverage.coverage_model import report as coverage_report
from cosim.coverage.raised_flags import NO_FLAGS
from cosim.runner.job import Simulated, read
from golden.operations.exact_sum import ExactSum
from rtl.designs.design import Design

if TYPE_CHECKING:
    from cosim.diagnosis.explain import Explanation
    from cosim.rtl_coverage.file_coverage import FileCoverage


@dataclass(frozen=True, kw_only=True)
class Report(Outcome):
    """The outcome of one run of a design.

    Attributes:
        unit, operation: names of the design and of its operation.
        simulator, seed: the simulator and the seed of the run. mode: how vectors were sent, one of
            `cosim.runner.request.MODES`.
        seconds: duration of the simulation, without build and golden model (s).
        minimised: the first mismatch, minimised in its simulation; None without mismatches.
        rtl_coverage: coverage of each source file; None where it was not requested, or the simulation broke off before.
        explanation: the explanation of the mismatches of a whole run; None without mismatches.
        design, verilog: digests of the design and of the generated Verilog that was simulated (`rtl.designs.identity`);
            empty for a user design.
        reset: the actual reset of a user design, where its description gives another one; else None.
        other_readings: why the circuit of a user design may be another one to other tools, a line each.
        not_compared: outputs of a user design that nothing looked at, or bits of them; required: those that a strict run
            must compare. held: its inputs at a constant, with it.
        controls: for each input that chooses the arithmetic, `values`: compared elements of each class of operands, by
            value; `pairs`: counts of ordered pairs of values, one vector after the other; `missed`: those without a count.
        flags: for each output of exception flags, `raised`: results of each class of operands, by the flags raised together;
            `missed`: each flag that some operands raise, and no result raised without others (UF and OF come with NX).
        steady: inputs that choose the arithmetic and had one value for all transfers of a result.
        assumed: the operands that it must take, and no others, a line each.
        sources: the SHA-256 of each file of a user design, by path, as it was simulated.
        input_bits: bits of the operands of one vector: it has 2**input_bits possible inputs.

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
    not_compared: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    held: Mapping[str, int | str] = field(default_factory=dict)
    controls: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    flags: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    steady: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)

    @property
    def failures(self) -> tuple[str, ...]:
        """Every reason why the run does not pass, as of its outcome; a strict run compares every output."""
        names = ", ".join(self.required)
        fix = "[compare] ignore_outputs names those that are meant"
        return (*super().failures, *([f"outputs are not compared: {names}; {fix}"] if names else []))

    @property
    def not_looked_at(self) -> tuple[str, ...]:
        """What the verdict does not cover, a line each: outputs, inputs at other values, other texts of the design."""
        held = ", ".join(f"{name} = {value}" for name, value in self.held.items())
        lines = [f"outputs that were not compared: {', '.join(self.not_compared)}"] if self.not_compared else []
        lines += [f"inputs that were held at a constant: {held}"] if held else []
        steady = ", ".join(self.steady)
        lines += [f"inputs that changed between results alone, not from beat to beat: {steady}"] if steady else []
        lines += [f"operands within [assume] alone: {'; '.join(self.assumed)}"] if self.assumed else []
        return (*lines, *(line for line in self.other_readings if line.endswith(NOT_SIMULATED)))

    @property
    def origins(self) -> dict[str, str]:
        """What the wrong codes of an output beside d are, in words, by output, where one origin is that of all."""
        return origins(self.returned)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The other readings that are not in `not_looked_at`."""
        return tuple(line for line in self.other_readings if not line.endswith(NOT_SIMULATED))

    @classmethod
    def of(
        cls, design: Design, outcome: Outcome, simulator: str, seed: int, seconds: float, mode: str = "cocotb"
    ) -> "Report":
        """The report of one simulation, with the scoreboard's outcome unchanged."""
        return cls.of_run(design, Simulated(outcome=outcome, seconds=seconds), simulator, seed, mode=mode)

    @classmethod
    def of_run(
        cls,
        design: Design,
        simulated: Simulated,
        simulator: str,
        seed: int,
        explanation: "Explanation | None" = None,
        /,
        **found: Any,
    ) -> "Report":
        """The report of a run: its outcome unchanged, but for the diagnoses of groups, and what else was found."""
        outcome = simulated.outcome
        counts: dict[str, Any] = {each.name: getattr(outcome, each.name) for each in fields(Outcome)}
        if explanation is not None:
            from cosim.diagnosis.explain import diagnosed  # a run that passes does without

            counts["groups"] = diagnosed(outcome.groups, outcome.differing, explanation)
        counts |= {each.name: getattr(simulated, each.name) for each in fields(Simulated) if each.name != "outcome"}
        counts |= {"controls": control_counts(design, outcome), "flags": flag_counts(design, outcome)}
        counts |= {"unit": design.name, "operation": design.operation.name, "simulator": simulator, "seed": seed}
        return cls(**counts, explanation=explanation, **found)

    def explained(self, design: Design, latency: int | None = None) -> "Report":
        """The report with its explanation, and each group's diagnosis; the same report without mismatches.

        Args:
            latency: the design's latency by its description (cycles), None where its results have a valid signal.
        """
        from cosim.diagnosis.explain import diagnosed, explanation_of  # a report that needs no explanation does without

        explanation = explanation_of(self, self.minimised, design, latency)
        if explanation is None:
            return self
        return replace(self, explanation=explanation, groups=diagnosed(self.groups, self.differing, explanation))

    def to_json(self) -> str:
        """The report as text for `from_json`, without explanation and RTL coverage, which only whole runs have."""
        plain = asdict(replace(self, explanation=None, coverage=(), rtl_coverage=None, minimised=None))
        minimised = None if self.minimised is None else self.minimised.as_dict()
        return json.dumps(plain | {"coverage": [each.as_dict() for each in self.coverage], "minimised": minimised})

    @classmethod
    def from_json(cls, text: str) -> "Report":
        """The report that `to_json` wrote."""
        table = json.loads(text)
        outcome = read(Outcome, table)
        counts = {each.name: getattr(outcome, each.name) for each in fields(Outcome)}
        texts = ("other_readings", "not_compared", "steady", "assumed", "required")
        others: dict[str, Any] = {name: tuple(table[name]) for name in texts}
        others |= {"returned": {name: tuple(of) for name, of in counts["returned"].items()}}
        others |= {"minimised": read(Minimised | None, table["minimised"])}
        return cls(**(table | counts | others))

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
        left_out = ("agreeing", "minimised", "rtl_coverage", "required")
        plain = asdict(replace(self, explanation=None, coverage=(), rtl_coverage=None, agreeing=(), minimised=None))
        known = {key: value for key, value in plain.items() if key not in left_out}
        coverage = {"coverage": [coverage_report(counts) for counts in self.coverage]}
        if self.rtl_coverage is not None:
            coverage |= {"rtl_coverage": [file.as_dict() for file in self.rtl_coverage]}
        return known | coverage | {"explanation": explanation} | derived


def control_counts(design: Design, outcome: Outcome) -> dict[str, dict[str, Any]]:
    """`Report.controls`."""
    values = {choice.name: choice.values for choice in design.choices if choice.values}
    found: dict[str, dict[str, Any]] = {}
    for port in next(iter(values.values()), {}):
        names = list(dict.fromkeys(of[port] for of in values.values()))
        classes: dict[str, Counter[str]] = {name: Counter() for name in names}
        for made, count in outcome.classes.items():
            choice, _, name = made.rpartition(": ")
            classes[values[choice][port]][name] += count
        pairs = Counter[str]()
        for pair, count in outcome.choice_pairs.items():
            pairs[", ".join(values[each][port] for each in pair.split(BETWEEN))] += count
        missed = [f"{a}, {b}" for a in names for b in names if not pairs[f"{a}, {b}"]]
        found[port] = {"values": {name: dict(of) for name, of in classes.items()}, "pairs": dict(pairs), "missed": missed}
    return found


def flag_counts(design: Design, outcome: Outcome) -> dict[str, dict[str, Any]]:
    """`Report.flags`."""
    operations = [choice.unit.operation for choice in design.choices]
    raisable = [names for operation in operations if isinstance(operation, ExactSum) for names in operation.raised_together]
    found: dict[str, dict[str, Any]] = {}
    for echo in (echo for echo in design.echoes if echo.flags):
        raised: dict[str, Counter[str]] = {}
        for key, count in outcome.raised.items():
            port, names, made = key.split(BETWEEN, 2)
            if port == echo.name:
                raised.setdefault(names, Counter())[made.rpartition(": ")[2]] += count
        wanted = [" ".join(name for name in echo.flags if name in names.split()) or NO_FLAGS for names in raisable]
        missed = [names for names in dict.fromkeys((NO_FLAGS, *wanted)) if names not in raised]
        found[echo.name] = {"raised": {names: dict(of) for names, of in raised.items()}, "missed": missed}
    return found
