"""The recorded evidence for one design: simulated vectors, and proved steps with their assumptions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

NOT_RECORDED = "not recorded for this Verilog"


@dataclass(frozen=True)
class Simulated:
    """Simulated vectors, all of whose results equalled the golden model's.

    Attributes:
        vectors: the number of vectors. date: of the campaign. simulator: its name.
    """

    vectors: int
    date: str
    simulator: str = "Verilator"


@dataclass(frozen=True)
class Proved:
    """A proof that every step is equal to its specification, for all inputs.

    Attributes:
        steps: number of obligations by step, all of them proved. assumed: assumptions about inputs and environment, a line
            each.
        solvers: the solvers that proved them. date: of the campaign.
    """

    steps: Mapping[str, int]
    assumed: tuple[str, ...]
    solvers: tuple[str, ...]
    date: str

    @property
    def obligations(self) -> int:
        """The number of all obligations."""
        return sum(self.steps.values())


@dataclass(frozen=True)
class Known:
    """The recorded evidence for a design.

    Attributes:
        simulated, proved: None if no valid evidence is recorded.
        design, built: the name of the design at the time of the proof, and its implementation in words; empty without a
            proof.
        open: number of obligations that are not proved.
        not_simulated, not_proved: why there is no evidence, one line; empty if there is.
        is_compared: whether the Verilog and the questions equal those of this installation; else only the specification
            does.
    """

    simulated: Simulated | None = None
    proved: Proved | None = None
    design: str = ""
    built: str = ""
    open: int = 0
    not_simulated: str = ""
    not_proved: str = ""
    is_compared: bool = True

    def lines(self) -> tuple[str, str]:
        """The lines that a terminal shows: simulated, proved."""
        return (f"Simulated: {self._simulated()}.", f"Proved: {self._proved()}.")

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        simulated, proved = self.simulated, self.proved
        return {
            "design": self.design or None,
            "built": self.built or None,
            "compared": self.is_compared,
            "simulated": None if simulated is None else
            {"vectors": simulated.vectors, "simulator": simulated.simulator, "date": simulated.date},
            "proved": None if proved is None else
            {"steps": dict(proved.steps), "assumed": list(proved.assumed), "solvers": list(proved.solvers),
             "date": proved.date},
            "why_not": {"simulated": self.not_simulated or None, "proved": self.not_proved or None},
        }  # fmt: skip

    def _simulated(self) -> str:
        if self.simulated is None:
            return f"{NOT_RECORDED}: {self.not_simulated}"
        return f"{self.simulated.vectors:,} vectors in {self.simulated.simulator}, no mismatch ({self.simulated.date})"

    def _proved(self) -> str:
        if self.proved is None:
            return f"no; open obligations: {self.open}" if self.open else f"{NOT_RECORDED}: {self.not_proved}"
        steps, assumed = ", ".join(self.proved.steps), "; ".join(self.proved.assumed) or "nothing"
        return (
            f"for all inputs, {self.proved.obligations} obligations of the steps {steps}; assumed: {assumed} "
            f"({', '.join(self.proved.solvers)}, {self.proved.date})"
        )
