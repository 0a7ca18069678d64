"""Refutes a question: its clauses, a SAT solver's lemmas, and the check that these lead to a contradiction.

The solver is Z3's program for clauses, whose proof is a list of lemmas (DRAT). What it derives where it simplifies clauses
does not always follow by unit propagation; so it is asked to leave that out, and then once more with the part of it that
usually does follow.
"""

import shutil
import subprocess
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from golden.processes import run_tool
from mmau.formal.solvers.installed import MissingSolver
from studies.proofs.refutation.blasting import blasted
from studies.proofs.refutation.checker import Clause, WrongLemma, check_refutation

WITHOUT = ("sat.elim_vars=false", "sat.probing=false")

ATTEMPTS = ((*WITHOUT, "sat.simplify.delay=1000000000", "sat.scc=false", "sat.asymm_branch=false"), WITHOUT)
"""Options of Z3, in the order in which they are tried."""


@dataclass(frozen=True)
class Refutation:
    """The outcome for one question.

    Attributes:
        lemmas: how many were checked, until they ended in a contradiction; None without a refutation.
        reason: why there is none. clauses: of the question.
    """

    lemmas: int | None
    reason: str
    clauses: int


def refutation(question: str, folder: Path, seconds: float) -> Refutation:
    """Refute a question, or say why not.

    Args:
        question: a script, as `mmau.formal.smtlib` writes it. folder: for the files of the solver.
        seconds: for each attempt of the solver.

    Raises:
        UnreadableQuestion: another script. MissingSolver: Z3 is not installed.
    """
    clauses, reason = blasted(question).clauses, ""
    for options in ATTEMPTS:
        answer, proof = _solved(clauses, folder, seconds, options)
        try:
            if answer == "s UNSATISFIABLE":
                return Refutation(check_refutation(clauses, _lemmas(proof)), "", len(clauses))
            reason = f"the solver says: {answer or 'nothing'}"
        except WrongLemma as error:
            reason = str(error)
    return Refutation(None, reason, len(clauses))


def _solved(clauses: Sequence[Clause], folder: Path, seconds: float, options: Sequence[str]) -> tuple[str, Path]:
    """The solver's answer, a line that begins with s, and the file of its lemmas."""
    program = shutil.which("z3", path=sysconfig.get_path("scripts")) or shutil.which("z3")
    if program is None:
        raise MissingSolver("the solver z3 is missing; install it with: pip install 'mmau[formal]'")
    given, proof = folder / "question.dimacs", folder / "lemmas.drat"
    with given.open("w", encoding="ascii") as file:
        file.write(f"p cnf {max(abs(literal) for clause in clauses for literal in clause)} {len(clauses)}\n")
        file.writelines(f"{' '.join(map(str, clause))} 0\n" for clause in clauses)
    command = [
        program,
        "-dimacs",
        given,
        f"-T:{max(1, round(seconds))}",
        f"sat.drat.file={proof}",
        "sat.drat.binary=false",
        *options,
    ]
    try:
        ended = run_tool([*command, "sat.drat.binary=false", *options], timeout=2 * seconds + 10)
    except subprocess.TimeoutExpired:
        return "timeout", proof
    return next((line for line in ended.stdout.splitlines() if line.startswith("s ")), ""), proof


def _lemmas(proof: Path) -> Iterator[Clause]:
    """The lemmas of a file; what it deletes is kept."""
    with proof.open(encoding="ascii") as file:
        for line in file:
            if not line.startswith("d"):
                yield [int(word) for word in line.split()[:-1]]
