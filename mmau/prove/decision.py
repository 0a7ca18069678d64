"""The decision of a proof: proved, refuted by a counter-example that a simulation shows, or not decided and why."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

PROVED, REFUTED, OPEN = "proved", "refuted", "open"


def step_of(name: str) -> str:
    """The step of golden to which an obligation belongs, from its name."""
    part = name.split()[0]
    part = re.sub(r"_\d+$", "", part)
    for step in ("max_exp", "align", "accumulate", "decode", "multiply", "specials", "addend", "scale"):
        if step in part:
            return step
    if part.endswith(("_term_x", "_term_y", "_term_z")):  # the code of an adder's operand
        return "addend"
    return "normalise, round, encode" if part == "d" or part.endswith("encode") else part


Obligations = tuple[tuple[str, str], ...]
"""Names of questions, each with its status: `PROVED`, `REFUTED` or `OPEN`."""


@dataclass(frozen=True)
class WrongResult:
    """Operands for which a simulation shows a wrong result.

    Attributes:
        inputs: codes by port. got, expected: codes of d. explanation: the mismatch explained, lines for a terminal.
    """

    inputs: Mapping[str, int]
    got: int | str
    expected: int
    explanation: Sequence[str] = ()

    @property
    def summary(self) -> str:
        """The operands and both results, in one line."""
        given = ", ".join(f"{port}={value:#x}" for port, value in self.inputs.items())
        got = self.got if isinstance(self.got, str) else f"{self.got:#x}"
        return f"{given}: got {got}, expected {self.expected:#x}"

    def lines(self) -> list[str]:
        """The lines that a terminal shows."""
        return [self.summary, *self.explanation]

    def as_table(self) -> dict[str, Any]:
        """The decision as plain JSON, without the explanation."""
        return {"inputs": dict(self.inputs), "got": self.got, "expected": self.expected}


@dataclass(frozen=True)
class WrongCycles:
    """A stimulus for which a simulation shows that a design breaks its handshake, or gives a wrong result.

    Attributes:
        explanation: a line for each cycle; the last one names the fault.
    """

    explanation: Sequence[str]

    @property
    def summary(self) -> str:
        """The fault, in one line."""
        return self.explanation[-1]

    def lines(self) -> list[str]:
        """The lines that a terminal shows."""
        return list(self.explanation)

    def as_table(self) -> dict[str, Any]:
        """The decision as plain JSON."""
        return {"cycles": list(self.explanation)}


Counterexample = WrongResult | WrongCycles

MOST = 20
"""Number of obligations that are not proved and that a terminal shows at most."""

SPECIFICATION, DATAPATH = "the specification of the operation", "the generated datapath"
"""The description of a specification that a user design is compared with."""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """The decision of a proof.

    Attributes:
        verdict: `PROVED`; `REFUTED` where a simulation shows a counter-example; else `OPEN`.
        reason: why it is not decided. assumed: assumptions about the environment of the design, a line each.
        counterexample: the counter-example, if it is refuted.
    """

    verdict: str
    reason: str = ""
    assumed: tuple[str, ...] = ()
    counterexample: Counterexample | None = None

    @classmethod
    def of(cls, keys: Mapping[str, Any]) -> Self:
        """The decision of which `dataclasses.asdict` made the keys, read back from JSON."""
        given = {key: _as_tuple(value) for key, value in keys.items()}
        shown = keys.get("counterexample")
        if shown is not None:
            given["counterexample"] = WrongResult(**shown) if "inputs" in shown else WrongCycles(**shown)
        return cls(**given)

    def details(self) -> list[str]:
        """The statement of what is proved, as lines for a terminal."""
        return []

    def lines(self) -> list[str]:
        """Everything but the verdict, as lines for a terminal."""
        shown = [] if self.counterexample is None else self.counterexample.lines()
        found = [*(f"where {rule}" for rule in self.assumed), *self.details(), self.reason, *shown]
        return [line for line in found if line]

    def as_table(self) -> dict[str, Any]:
        """The decision as plain JSON."""
        shown = self.counterexample
        return {
            "verdict": self.verdict, "assumed": list(self.assumed), "problem": self.reason,
            "counterexample": None if shown is None else shown.as_table(),
            "explanation": [] if shown is None else list(shown.explanation),
        }  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class DesignDecision(Decision):
    """The decision about a generated design.

    Attributes:
        obligations: everything that must be proved. verilog: digest of the Verilog that the obligations are about.
        crashed: whether the proof ended because its process did.
    """

    obligations: Obligations = ()
    verilog: str = ""
    crashed: bool = False

    @property
    def not_proved(self) -> list[str]:
        """The obligations that are not proved, each with its status."""
        return [f"{name}: {verdict}" for name, verdict in self.obligations if verdict != PROVED]

    @property
    def steps(self) -> dict[str, list[int]]:
        """For each step the number of proved obligations and the number of obligations."""
        found: dict[str, list[int]] = {}
        for name, verdict in self.obligations:
            counts = found.setdefault(step_of(name), [0, 0])
            counts[0] += verdict == PROVED
            counts[1] += 1
        return found

    def details(self) -> list[str]:
        steps = [f"{step}: {proved} of {count} obligations proved" for step, (proved, count) in self.steps.items()]
        more = len(self.not_proved) - MOST
        return [*steps, *self.not_proved[:MOST], *([f"and {more} more, which --json lists"] if more > 0 else [])]

    def as_table(self) -> dict[str, Any]:
        return super().as_table() | {"steps": self.steps, "not_proved": self.not_proved}


@dataclass(frozen=True, kw_only=True)
class UserDesignDecision(Decision):
    """The decision about a user design.

    Attributes:
        equal_to: the reference. decided: the decided parts and how each was decided: protocol and cases.
        decided_by: the solver, or the simulation, that decided it.
        waivable: Verilator's warnings about widths, if they alone are why nothing is decided.
        no_circuit: whether nothing is decided because GHDL makes no circuit of the design, or one that is not the design.
        open: the cases that are not decided. distances: of the exponents of a sum's two terms, how many are proved and how
            many there are, where they divide a case that is open.
        sources: the SHA-256 of each file of the design, by path, as it was read.
    """

    equal_to: str
    decided: tuple[str, ...] = ()
    decided_by: str = ""
    waivable: tuple[str, ...] = ()
    no_circuit: bool = False
    open: tuple[str, ...] = ()
    distances: tuple[int, int] | None = None
    sources: Mapping[str, str] = field(default_factory=dict)

    def details(self) -> list[str]:
        return [f"by {self.decided_by}" if self.decided_by else "", *self.decided]

    def as_table(self) -> dict[str, Any]:
        compared: dict[str, Any] = {"equal_to": self.equal_to, "decided": list(self.decided), "decided_by": self.decided_by}
        compared |= {"waivable": list(self.waivable)} if self.waivable else {}
        compared |= {"no_circuit": True} if self.no_circuit else {}
        compared |= {"open": list(self.open)} if self.open else {}
        if self.distances is not None:
            compared["distances"] = dict(zip(("proved", "count"), self.distances, strict=True))
        return super().as_table() | compared | {"sources": dict(self.sources)}


def _as_tuple(value: Any) -> Any:
    return tuple(map(_as_tuple, value)) if isinstance(value, (list, tuple)) else value


EQUAL, DIFFERENT, UNDECIDED = "equal", "different", "undecided"


@dataclass(frozen=True)
class Equality:
    """The result of comparing two arithmetics.

    Attributes:
        verdict: `EQUAL` if a solver proved it, `DIFFERENT` with `inputs`, codes of the operand ports, else `UNDECIDED`.
        reason: why it is not decided.
    """

    verdict: str
    inputs: Mapping[str, int] = field(default_factory=dict)
    reason: str = ""
