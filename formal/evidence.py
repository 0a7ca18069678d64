"""What is known of a design beyond its source: simulated, of how many vectors; proved, which steps, under which assumptions.

Everything is read from the committed outcomes of the campaigns, by content. A proof counts for a design that is the same but
for its name, where the sources and tools that decide its Verilog and its specification are those installed here, and where
its Verilog, if there is some at hand, is the very text that was proved. Simulated vectors count for the same Verilog. Of all
else it is said that nothing is recorded. No Verilog is made here, and no solver asked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jobs.contents import VERILOG_SOURCES, made_of, unsealed
from jobs.provenance import ROOT

PROOFS = ROOT / "formal" / "proofs.json"
"""Written by `formal.campaign`."""

SIMULATIONS = ROOT / "cosim" / "campaign" / "outcome.json"
"""Written by `cosim.campaign`."""

SOURCES = (
    *VERILOG_SOURCES, "formal/obligations/*.py", "formal/specification/*.py", "formal/evaluation.py", "formal/smtlib.py",
    "formal/pipelines/*.py", "formal/subjects.py", "formal/tasks.py",
)  # fmt: skip
"""All that decides what the obligations of a subject are."""

NOT_RECORDED = "not recorded for this Verilog"


@dataclass(frozen=True)
class Simulated:
    """Vectors whose every result was the golden model's.

    Attributes:
        vectors: how many. date: of the campaign. simulator: it ran in.
    """

    vectors: int
    date: str
    simulator: str = "Verilator"


@dataclass(frozen=True)
class Proved:
    """A proof that every step is equal to its specification, for all inputs.

    Attributes:
        steps: obligations of each step, all of them proved. assumed: of inputs and surroundings, a line each.
        solvers: that proved them. date: of the campaign.
    """

    steps: Mapping[str, int]
    assumed: tuple[str, ...]
    solvers: tuple[str, ...]
    date: str

    @property
    def obligations(self) -> int:
        """All of them."""
        return sum(self.steps.values())


@dataclass(frozen=True)
class Known:
    """What is recorded of a design; None of what nothing is, or nothing that is right throughout.

    Attributes:
        design, built: what was put to a proof, by its name then, and how it is built, in words; empty where nothing was.
        left: obligations that are not proved, where some are.
    """

    simulated: Simulated | None = None
    proved: Proved | None = None
    design: str = ""
    built: str = ""
    left: int = 0

    def lines(self) -> tuple[str, str]:
        """For people: simulated, proved."""
        return (f"Simulated: {self._simulated()}.", f"Proved: {self._proved()}.")

    @property
    def is_recorded(self) -> bool:
        """Whether anything is."""
        return self.simulated is not None or bool(self.built)

    def short(self) -> str:
        """For one line of a terminal."""
        proved = f"{self.proved.obligations:,} obligations" if self.proved is not None else f"no, {self.left} open"
        simulated = f"{self.simulated.vectors:,} vectors" if self.simulated is not None else "not recorded"
        return f"proved: {proved if self.built else 'not recorded'}; simulated: {simulated}"

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        simulated, proved = self.simulated, self.proved
        return {
            "design": self.design or None,
            "built": self.built or None,
            "simulated": None if simulated is None else
            {"vectors": simulated.vectors, "simulator": simulated.simulator, "date": simulated.date},
            "proved": None if proved is None else
            {"steps": dict(proved.steps), "assumed": list(proved.assumed), "solvers": list(proved.solvers),
             "date": proved.date},
        }  # fmt: skip

    def _simulated(self) -> str:
        if self.simulated is None:
            return NOT_RECORDED
        return f"{self.simulated.vectors:,} vectors in {self.simulated.simulator}, no mismatch ({self.simulated.date})"

    def _proved(self) -> str:
        if self.left:
            return f"no; open obligations: {self.left}"
        if self.proved is None:
            return NOT_RECORDED
        steps, assumed = ", ".join(self.proved.steps), "; ".join(self.proved.assumed) or "nothing"
        return (
            f"for all inputs, {self.proved.obligations} obligations of the steps {steps}; assumed: {assumed} "
            f"({', '.join(self.proved.solvers)}, {self.proved.date})"
        )


class Evidence:
    """What the committed outcomes say.

    Args:
        proofs, simulations: the files; one that is missing, damaged, changed by hand or of other sources says nothing.

    Attributes:
        problems: why a file says nothing, by file name.
    """

    def __init__(self, proofs: Path, simulations: Path) -> None:
        self.problems: dict[str, str] = {}
        self._proofs = self._read(proofs, _proof_rows)
        self._simulations = self._read(simulations, _simulation_rows)

    def of_design(self, design: str, verilog: str) -> Known:
        """What is known of a design whose Verilog is at hand.

        Args:
            design: `jobs.contents.design_key`. verilog: `jobs.contents.verilog_digest`.
        """
        row = next((row for row in self._proofs if (row["design"], row["verilog"]) == (design, verilog)), {})
        return self._known(design, verilog, row)

    def of_operation(self, arithmetic: str) -> list[Known]:
        """What is known of each datapath of an operation as it would be written here.

        Args:
            arithmetic: `jobs.contents.operation_key`.
        """
        rows = [row for row in self._proofs if row["arithmetic"] == arithmetic]
        return [self._known(row["design"], row["verilog"], row) for row in rows]

    def _known(self, design: str, verilog: str, row: Mapping[str, Any]) -> Known:
        of_it = [run for run in self._simulations if (run["design"], run["verilog"]) == (design, verilog)]
        simulated = None
        if of_it and all(run["passed"] and not run["mismatches"] for run in of_it):
            simulated = Simulated(sum(run["vectors"] for run in of_it), max(run["date"] for run in of_it))
        if not row:
            return Known(simulated)
        left = sum(total - proved for proved, total in row["steps"].values())
        return Known(simulated, _proved(row), row["name"], row["built"], left)

    def _read(self, path: Path, rows: Any) -> list[dict[str, Any]]:
        try:
            found: list[dict[str, Any]] = rows(unsealed(path.read_bytes()))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            self.problems[path.name] = str(error) if isinstance(error, (OSError, ValueError)) else repr(error)
            return []
        return found


@cache
def committed() -> Evidence:
    """What the outcomes of this installation say, read once."""
    return Evidence(PROOFS, SIMULATIONS)


def _proof_rows(outcome: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The subjects, each with its date.

    Raises:
        ValueError: they are of other sources or tools. KeyError, TypeError, AttributeError: there is something else.
    """
    here = made_of(SOURCES)
    others = [name for name in {**here, **outcome["made_of"]} if here.get(name) != outcome["made_of"].get(name)]
    if others:
        raise ValueError(f"what was proved was made of other {', '.join(sorted(others))}")
    rows = [{**row, "date": str(outcome["date"])} for row in outcome["subjects"]]
    for row in rows:
        _check_texts(
            row, ("name", "design", "verilog", "arithmetic", "verdict", "built", "problem", "assumed", "solvers", "date")
        )
        _check_texts({"step": list(row["steps"])}, ("step",))
        _proved(row)
    return rows


def _proved(row: Mapping[str, Any]) -> Proved | None:
    """The proof of a subject; None unless there are obligations, and every one of them is proved."""
    steps = {str(step): (int(proved), int(total)) for step, (proved, total) in row["steps"].items()}
    is_whole = all(0 < proved == total for proved, total in steps.values()) and bool(steps)
    counted = sum(total for _, total in steps.values()) == row["obligations"]
    if row["verdict"] != "proved" or row["problem"] or row["not_proved"] or not (is_whole and counted):
        return None
    counts = {step: total for step, (_, total) in steps.items()}
    return Proved(counts, tuple(map(str, row["assumed"])), tuple(map(str, row["solvers"])), row["date"])


def _simulation_rows(outcome: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The runs that say of which Verilog they are, each with its date.

    Raises:
        KeyError, TypeError, AttributeError: there is something else.
    """
    rows = [
        {**run, "date": str(outcome["operations"][run["operation"]]["date"])[:10], "vectors": int(run["vectors"])}
        for run in outcome["runs"]
        if run.get("verilog")
    ]
    for row in rows:
        _check_texts(row, ("design", "verilog", "date"))
        if not isinstance(row["passed"], bool) or not isinstance(row["mismatches"], int):
            raise TypeError("a run must say whether it passed, and how many results differed")
    return rows


def _check_texts(row: Mapping[str, Any], keys: Sequence[str]) -> None:
    """Raise TypeError unless these are lines of text: they go into comments of Verilog."""
    for key in keys:
        for text in row[key] if isinstance(row[key], list) else [row[key]]:
            if not isinstance(text, str) or not text.isprintable():
                raise TypeError(f"{key} must be a line of text, got {text!r}")
