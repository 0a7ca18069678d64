"""What a solver can say of a question, and which solvers there are."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Literal

Verdict = Literal["never", "sometimes", "unknown"]
"""Whether the formula of a question can be true; `unknown` where the solver gave up."""


@dataclass(frozen=True)
class Answer:
    """An answer.

    Attributes:
        verdict: see `Verdict`.
        values: of the question's variables, for which the formula is true, where it can be.
        reason: why it is unknown.
    """

    verdict: Verdict
    values: Mapping[str, int] = field(default_factory=dict)
    reason: str = ""


Solve = Callable[[str, float], Answer]
"""Answers a question, an SMT-LIB script, within so many seconds."""

PACKAGES = {"bitwuzla": "bitwuzla", "z3": "z3-solver", "cvc5": "cvc5"}
"""Solvers in the order in which they are tried, and the packages that bring them."""


class MissingSolver(Exception):
    """A solver that is not installed."""


def solver_version(name: str) -> str:
    """The version of a solver.

    Raises:
        MissingSolver: it is not installed.
    """
    try:
        return version(PACKAGES[name])
    except PackageNotFoundError:
        raise MissingSolver(f"the solver {name} is missing; `pip install {PACKAGES[name]}` brings it") from None


def solver(name: str) -> Solve:
    """The solver of that name.

    Raises:
        MissingSolver: it is not installed. ValueError: there is no such solver.
    """
    if name not in PACKAGES:
        raise ValueError(f"a solver must be one of {', '.join(PACKAGES)}, got {name!r}")
    try:
        solve: Solve = import_module(f"formal.solvers.with_{name}").solve
    except ImportError:
        raise MissingSolver(f"the solver {name} is missing; `pip install {PACKAGES[name]}` brings it") from None
    return solve
