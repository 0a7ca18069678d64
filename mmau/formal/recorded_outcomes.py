"""The recorded proofs and simulations that are valid for a design, found by content in the committed outcomes of campaigns.

A recorded proof is valid for a design that is the same but for its name, while its Verilog, its specification and its
questions equal the texts that were proved; a recorded simulation is valid for the same Verilog under the same specification.
Code and versions (`made_of`) determine these texts. If they equal the recorded ones, only the Verilog is compared; if one
differs, all texts are made again and compared. docs/guides/formal.md, "Where proofs are reported", has the whole rule.
"""

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from golden import Operation
from golden.cache import cached_text
from mmau.formal.design_evidence import Known, Simulated
from mmau.formal.recorded_rows import TEXTS, Row, proof_of, proof_rows, simulation_rows
from mmau.jobs.provenance import ROOT, digest_of_sources
from mmau.jobs.sealed import unsealed
from rtl.designs.identity import design_key, operation_key

if TYPE_CHECKING:
    from rtl.designs.design import Design

PROOFS = ROOT / "mmau" / "formal" / "proofs.json"
"""Written by `studies.proofs`."""

SIMULATIONS = ROOT / "mmau" / "formal" / "simulations.json"
"""Written by `studies.cosim_campaign`."""

SOURCES = ("golden/**/*.py", "golden/**/*.toml", "rtl/**/*.py", "mmau/formal/**/*.py")
"""The sources that decide the Verilog of a design, its specification and its questions."""

DRIVERS = ("mmau/formal/solvers/*.py",)
"""The sources that hand questions to solvers and read their answers."""

PACKAGES = ("amaranth", "pyosys")
"""Packages that also decide the Verilog."""

MISSING = "missing"


class NotComparableError(Exception):
    """The texts of a design cannot be made here."""


@cache
def made_of() -> Mapping[str, str]:
    """Everything that decides the texts, and perhaps more, by name: the digest of the sources, and versions.

    Python's version counts because Amaranth takes names of wires from its bytecode. A missing package has the value
    "missing".
    """
    found = {"sources": digest_of_sources(SOURCES)} | {name: _version(name) for name in PACKAGES}
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


class Evidence:
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
        """The valid evidence for a design and its Verilog.

        Args:
            verilog: its digest, `rtl.designs.identity.verilog_digest`.
        """
        of_it = design_key(design.as_table()), verilog
        proof, not_proved = self._standing("proof", self._proofs, design, *of_it)
        run, not_simulated = self._standing("simulation", self._simulations, design, *of_it)
        return _known(proof, self._runs(run), not_proved, not_simulated)

    def of_operation(self, operation: Operation) -> list[Known]:
        """The recorded evidence for each datapath of an operation. This makes no Verilog: if the texts may differ here, only
        the specification is compared, and `is_compared` is false. If even that is impossible, no evidence is valid, and
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

    def _standing(self, what: str, rows: Sequence[Row], design: "Design", key: str, verilog: str) -> tuple[Row | None, str]:
        """The first row of a design with that Verilog, if it is valid; else the reason why there is none."""
        of_it = [row for row in rows if row["design"] == key]
        same = [row for row in of_it if row["verilog"] == verilog]
        if what == "proof":  # of several the one that is not proved counts
            same.sort(key=lambda row: proof_of(row) is not None)
        row = next(iter(same), None)
        if row is None:
            differs = f"the recorded {what} of this design is of other Verilog"
            return None, self._problem_of[what] or (differs if of_it else f"no {what} of this design is recorded")
        if what == "proof" and row["asked_by"] != asked_by():
            return None, f"the recorded {what} of this design was asked of the solvers by other code"
        if not changes(row["made_of"]):
            return row, ""
        try:
            here = _texts(row, design)
        except NotComparableError as error:
            return None, f"the recorded {what} cannot be compared with what is installed: {error}"
        differing = [text for name, text in TEXTS.items() if here.get(name, row.get(name)) != row.get(name)]
        return (None, f"the recorded {what} of this design is of {', '.join(differing)}") if differing else (row, "")

    def _runs(self, row: Row | None) -> list[Row]:
        """The simulations of the design, the Verilog and the specification of a row."""
        keys = ("design", "verilog", "specification")
        return [run for run in self._simulations if row is not None and all(run[key] == row[key] for key in keys)]

    def _read(self, path: Path, rows: Callable[[Mapping[str, Any]], list[Row]]) -> list[Row]:
        try:
            return rows(unsealed(path.read_bytes()))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            is_readable = isinstance(error, (OSError, ValueError))
            problem = (
                error
                if is_readable
                else f"another version of MMAU wrote this file (key {error}); its campaign writes it anew"
            )
            self.problems[path.name] = f"{path.name}: {problem}"
            return []


@cache
def committed() -> Evidence:
    """The outcomes of this installation, read once."""
    return Evidence(PROOFS, SIMULATIONS)


def _texts(row: Row, design: "Design") -> dict[str, str]:
    """The digests of the texts of a design, made here; for a simulation, which has no questions, the specification's alone.

    Raises:
        NotComparableError: they cannot be made.
    """
    here = _proof_identity()
    try:
        return (
            asdict(here.identity(row["kind"], design))
            if "kind" in row
            else {"specification": here.specification_digest(design)}
        )
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
        return import_module("mmau.formal.proof_identity")
    except ImportError as error:
        raise NotComparableError(f"{error}; install it with: pip install 'mmau[formal]'") from error


def _known(row: Row | None, runs: Sequence[Row], not_proved: str, not_simulated: str, is_compared: bool = True) -> Known:
    """Combine a valid proof and valid simulations.

    Args:
        row: of the proof, if one is valid. not_proved, not_simulated: the reason, if there is none.
    """
    simulated = None
    if runs and all(run["passed"] and not run["mismatches"] for run in runs):
        simulated = Simulated(sum(run["vectors"] for run in runs), max(run["date"] for run in runs))
    elif runs:
        not_simulated = "a run of the campaign failed"
    if row is None:
        return Known(simulated, not_proved=not_proved, not_simulated="" if simulated else not_simulated)
    proved, open_count = proof_of(row), sum(total - proved for proved, total in row["steps"].values())
    if proved is None:
        not_proved = f"open obligations: {open_count}" if open_count else row["problem"] or "the record contradicts itself"
    return Known(
        simulated, proved, row["name"], row["built"], open_count, "" if simulated else not_simulated, not_proved, is_compared
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return MISSING
