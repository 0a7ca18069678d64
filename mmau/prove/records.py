"""The recorded proofs and simulations that count for a design, found by content in the committed outcomes of campaigns.

A recorded proof counts for a design that is the same but for its name if and only if digests are equal: of its Verilog, its
specification, its questions, and the code that asks the solvers; a recorded simulation, if those of the Verilog and the
specification are. Code and versions (`made_of`) determine these texts. If they equal the recorded ones, only the Verilog is
compared. If one differs, the specification is made again and compared too, and so are the questions if the code that makes
questions differs: the same code makes the same ones of the same texts (docs/guides/formal.md, "Where proofs are reported").
"""

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from golden import Operation
from golden.cache import cached_text
from mmau.jobs.provenance import ROOT, digest_of_sources, unsealed
from rtl.designs.identity import design_key, operation_key

if TYPE_CHECKING:
    from rtl.designs.design import Design

PROOFS = ROOT / "mmau" / "prove" / "proofs.json"
"""The file of recorded proofs, which `studies.proofs` writes."""

SIMULATIONS = ROOT / "mmau" / "prove" / "simulations.json"
"""The file of recorded simulations, which `studies.cosim_campaign` writes."""

SOURCES = ("golden/**/*.py", "golden/**/*.toml", "rtl/**/*.py", "mmau/prove/**/*.py")
"""The sources that decide the Verilog of a design, its specification and its questions."""

PROVER = (
    "mmau/prove/*.py", "mmau/prove/datapath/*.py", "mmau/prove/netlist/*.py", "mmau/prove/pipeline/*.py",
)  # fmt: skip
"""The sources that make questions of a design's Verilog and its specification."""

DRIVERS = ("mmau/prove/solvers/*.py",)
"""The sources that hand questions to solvers and read their answers."""

PACKAGES = ("amaranth", "pyosys")
"""Packages that also decide the Verilog."""

MISSING = "missing"

TEXTS = ("verilog", "specification", "questions")
"""The keys of a row that hold digests of what was proved."""

NOT_RECORDED = "not recorded for this Verilog"

Row = Mapping[str, Any]


class NotComparableError(Exception):
    """The texts of a design cannot be made by this installation."""


@dataclass(frozen=True)
class Simulated:
    """Simulated vectors, all of whose results equalled the golden model's.

    Attributes:
        vectors: the number of vectors. date: the date of the campaign. simulator: its name.
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
        solvers: the solvers that proved them. date: the date of the campaign.
    """

    steps: Mapping[str, int]
    assumed: tuple[str, ...]
    solvers: tuple[str, ...]
    date: str


@dataclass(frozen=True)
class Known:
    """The recorded evidence for a design.

    Attributes:
        simulated, proved: None if no recorded evidence counts.
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
        """The evidence as plain JSON."""
        simulated, proved = self.simulated, None if self.proved is None else asdict(self.proved)
        return {
            "design": self.design or None,
            "built": self.built or None,
            "compared": self.is_compared,
            "simulated": simulated and {key: getattr(simulated, key) for key in ("vectors", "simulator", "date")},
            "proved": proved and proved | {key: list(proved[key]) for key in ("assumed", "solvers")},
            "why_not": {"simulated": self.not_simulated or None, "proved": self.not_proved or None},
        }

    def _simulated(self) -> str:
        if self.simulated is None:
            return f"{NOT_RECORDED}: {self.not_simulated}"
        return f"{self.simulated.vectors:,} vectors in {self.simulated.simulator}, no mismatch ({self.simulated.date})"

    def _proved(self) -> str:
        if self.proved is None:
            return f"no; open obligations: {self.open}" if self.open else f"{NOT_RECORDED}: {self.not_proved}"
        steps, assumed = ", ".join(self.proved.steps), "; ".join(self.proved.assumed) or "nothing"
        return (
            f"for all inputs, {sum(self.proved.steps.values())} obligations of the steps {steps}; assumed: {assumed} "
            f"({', '.join(self.proved.solvers)}, {self.proved.date})"
        )


class Records:
    """The committed outcomes.

    Args:
        proofs, simulations: the files; one that is missing, damaged or edited by hand gives no evidence.

    Attributes:
        problems: why a file gives no evidence, by file name.
    """

    def __init__(self, proofs: Path, simulations: Path) -> None:
        self.problems: dict[str, str] = {}
        self._proofs = self._read(proofs, proof_rows)
        self._simulations = self._read(simulations, simulation_rows)
        self._problem_of = {"proof": self.problems.get(proofs.name), "simulation": self.problems.get(simulations.name)}

    def of_design(self, design: "Design", verilog: str) -> Known:
        """The evidence that counts for a design and its Verilog.

        Args:
            verilog: its digest, `rtl.designs.identity.verilog_digest`.
        """
        proof, not_proved = self._counting("proof", self._proofs, design, verilog)
        run, not_simulated = self._counting("simulation", self._simulations, design, verilog)
        return _known(proof, self._runs(run), not_proved, not_simulated)

    def of_operation(self, operation: Operation) -> list[Known]:
        """The recorded evidence for each datapath of an operation. This makes no Verilog: if the texts may differ here, only
        the specification is compared, and `is_compared` is false. If even that is impossible, no evidence counts, and
        `problems` gives the reason.
        """
        of_it = (row for row in self._proofs if row["arithmetic"] == operation_key(operation))
        rows = [row for row in of_it if row["asked_by"] == asked_by()]
        if rows and self.changes():
            try:
                rows = [row for row in rows if row["specification"] == _operation_specification(operation)]
            except NotComparableError as error:
                self.problems[PROOFS.name] = f"{PROOFS.name}: recorded with other {', '.join(self.changes())}; {error}"
                return []
        return [_known(row, self._runs(row), "", "no simulation is recorded", not self.changes()) for row in rows]

    def changes(self) -> list[str]:
        """The names in `made_of` whose value differs from that of the recorded proofs."""
        return changes(self._proofs[0]["made_of"]) if self._proofs else []

    def _counting(self, what: str, rows: Sequence[Row], design: "Design", verilog: str) -> tuple[Row | None, str]:
        """The row that counts for a design with that Verilog; else the reason why there is none."""
        of_it = [row for row in rows if row["design"] == design_key(design.as_table())]
        same = [row for row in of_it if row["verilog"] == verilog]
        if what == "proof":  # of several the one that is not proved counts
            same.sort(key=lambda row: proof_of(row) is not None)
        try:
            if same and _is_of_today(same[0], design):
                return same[0], ""
        except NotComparableError as error:
            return None, f"the recorded {what} cannot be compared with what is installed: {error}"
        for_others = f"the recorded {what} of this design is for another text"
        return None, self._problem_of[what] or (for_others if of_it else f"no {what} of this design is recorded")

    def _runs(self, row: Row | None) -> list[Row]:
        """The simulations of the design, the Verilog and the specification of a row."""
        keys = ("design", "verilog", "specification")
        return [run for run in self._simulations if row is not None and all(run[key] == row[key] for key in keys)]

    def _read(self, path: Path, rows: Callable[[Mapping[str, Any]], list[Row]]) -> list[Row]:
        try:
            return rows(unsealed(path.read_bytes()))
        except (OSError, ValueError) as error:
            problem = str(error)
        except (KeyError, TypeError, AttributeError) as error:
            problem = f"another version of MMAU wrote this file (key {error}); its campaign writes it anew"
        self.problems[path.name] = f"{path.name}: {problem}"
        return []


@cache
def committed() -> Records:
    """The outcomes of this installation, read once."""
    return Records(PROOFS, SIMULATIONS)


def proof_rows(outcome: Mapping[str, Any]) -> list[Row]:
    """The rows of the outcome of `make formal`, checked: each has its date, the versions that made its texts, and the
    digest of the code that asked the solvers.

    A row without a date has the file's; `make formal-missing` writes one into each row that it adds.

    Raises:
        KeyError, TypeError, AttributeError: the content is malformed.
    """
    recorded = {str(name): str(value) for name, value in outcome["made_of"].items()}
    of_file = {"date": str(outcome["date"]), "made_of": recorded, "asked_by": str(outcome["asked_by"])}
    rows: list[Row] = [{**row, **of_file, "date": row.get("date", of_file["date"])} for row in outcome["subjects"]]
    for row in rows:
        _check_texts(row, (*TEXTS, "name", "kind", "design", "arithmetic", "verdict", "built", "problem", "date"))
        for key in ("assumed", "solvers"):
            _check_texts({key: [*row[key]]}, (key,))
        if row["verdict"] == "proved" and not row["solvers"]:
            raise TypeError("a proof must name its solvers, got none")
        _check_texts({"step": list(row["steps"])}, ("step",))
        proof_of(row)
    return rows


def proof_of(row: Row) -> Proved | None:
    """The proof of a row; None unless there are obligations, every one is proved, and no other solver contradicts one."""
    steps = {str(step): (_count(proved), _count(total)) for step, (proved, total) in row["steps"].items()}
    is_whole = all(0 < proved == total for proved, total in steps.values()) and bool(steps)
    counted = sum(total for _, total in steps.values()) == _count(row["obligations"])
    if row["verdict"] != "proved" or row["problem"] or row["not_proved"] or not (is_whole and counted) or _contradicted(row):
        return None
    counts = {step: total for step, (_, total) in steps.items()}
    return Proved(counts, tuple(map(str, row["assumed"])), tuple(map(str, row["solvers"])), row["date"])


def _contradicted(row: Row) -> int:
    """The number of questions whose answer a second solver contradicts."""
    return _count(row.get("second", {"contradicted": 0})["contradicted"])


def simulation_rows(outcome: Mapping[str, Any]) -> list[Row]:
    """The runs of a campaign that name their Verilog, checked, each with its date and the versions that made its texts.

    Raises:
        KeyError, TypeError, AttributeError: the content is malformed.
    """
    rows: list[Row] = []
    for run in outcome["runs"]:
        of_operation = outcome["operations"][run["operation"]]
        recorded = {str(name): str(value) for name, value in of_operation["made_of"].items()}
        row = {**run, "date": str(of_operation["date"])[:10], "vectors": _count(run["vectors"]), "made_of": recorded}
        _check_texts(row, ("design", "verilog", "specification", "date"))
        if not isinstance(row["passed"], bool):
            raise TypeError(f"a run must say whether it passed, got {row['passed']!r}")
        if row["passed"] and (_count(row["mismatches"]) or not row["vectors"]):
            raise TypeError("a run that passed must have vectors and no mismatch")
        rows += [row] if row["verilog"] and row["specification"] else []
    return rows


def _count(value: object) -> int:
    """A number of obligations or vectors."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise TypeError(f"a number must be an integer of at least 0, got {value!r}")
    return value


def _check_texts(row: Row, keys: Sequence[str]) -> None:
    """Raise TypeError unless these are lines of text: they are written into comments of Verilog."""
    for key in keys:
        for text in row[key] if isinstance(row[key], list) else [row[key]]:
            if not isinstance(text, str) or not text.isprintable():
                raise TypeError(f"{key} must be a line of text, got {text!r}")


@cache
def made_of() -> Mapping[str, str]:
    """Everything that decides the texts, and perhaps more, by name: the digest of the sources, and versions.

    Python's version counts because Amaranth takes names of wires from its bytecode. A missing package has the value
    "missing".
    """
    found = {"sources": digest_of_sources(SOURCES), "prover": digest_of_sources(PROVER)}
    found |= {name: _version(name) for name in PACKAGES}
    return found | {"python": ".".join(platform.python_version_tuple()[:2])}


@cache
def asked_by() -> str:
    """The digest of the code that asks the solvers. An answer is valid only while that code is what it was: no text shows an
    answer that was misread."""
    return digest_of_sources(DRIVERS)


def changes(recorded: Mapping[str, str]) -> list[str]:
    """The names in `made_of` whose value differs from the recorded one. A package that is missing here does not count: it
    makes no text that could differ."""
    here = made_of()
    return [name for name in {**here, **recorded} if here.get(name) not in (recorded.get(name), MISSING)]


def _is_of_today(row: Row, design: "Design") -> bool:
    """Whether a row of the design's Verilog is of the texts that are made here, asked by the code that asks here.

    Raises:
        NotComparableError: the texts cannot be made.
    """
    if row.get("asked_by", asked_by()) != asked_by():
        return False
    if not changes(row["made_of"]):
        return True
    here = _proof_identity()
    by_other_code = row["made_of"].get("prover") != made_of()["prover"]
    try:
        if "kind" in row and by_other_code:  # a simulation has none, and no questions
            return all(row[name] == text for name, text in asdict(here.identity(row["kind"], design)).items())
        return bool(row["specification"] == here.specification_digest(design))
    except (here.NotProvable, ValueError) as error:
        raise NotComparableError(str(error)) from error


def _operation_specification(operation: Operation) -> str:
    """The digest of an operation's specification; empty if it has none.

    Raises:
        NotComparableError: it cannot be made.
    """
    here = _proof_identity()
    determines = {"made_of": dict(made_of()), "bitwuzla": _version("bitwuzla"), "operation": operation_key(operation)}
    try:
        return cached_text("specifications", determines, lambda: str(here.operation_specification_digest(operation)))
    except here.NotProvable:
        return ""


def _proof_identity() -> Any:
    """The module that makes the texts. It is imported late because it needs a solver, which recorded evidence does not.

    Raises:
        NotComparableError: a package is missing.
    """
    try:
        return import_module("mmau.prove.proof_identity")
    except ImportError as error:
        raise NotComparableError(f"{error}; install it with: pip install 'mmau[formal]'") from error


def _known(row: Row | None, runs: Sequence[Row], not_proved: str, not_simulated: str, is_compared: bool = True) -> Known:
    """Combine a proof and simulations that count.

    Args:
        row: the row of the proof, if one counts. not_proved, not_simulated: the reason, if there is none.
    """
    simulated = None
    if runs and all(run["passed"] and not run["mismatches"] for run in runs):
        simulated, not_simulated = Simulated(sum(run["vectors"] for run in runs), max(run["date"] for run in runs)), ""
    elif runs:
        not_simulated = "a run of the campaign failed"
    if row is None:
        return Known(simulated, not_proved=not_proved, not_simulated=not_simulated)
    proved, left = proof_of(row), sum(total - proved for proved, total in row["steps"].values())
    if proved is None:
        solvers = f"solvers contradict each other on its questions: {_contradicted(row)}" if _contradicted(row) else ""
        not_proved = f"open obligations: {left}" if left else row["problem"] or solvers or "the record contradicts itself"
    return Known(simulated, proved, row["name"], row["built"], left, not_simulated, not_proved, is_compared)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return MISSING
