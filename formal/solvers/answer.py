"""What a solver can say of a question, and which solvers there are."""

import resource
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
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


MEMORY = 6 << 30
"""What a process with a solver in it may take (bytes of address space)."""


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


@contextmanager
def limited_memory() -> Iterator[None]:
    """Where no more than `MEMORY` can be taken: a solver that wants more fails there."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    lower = [limit for limit in (soft, hard, MEMORY) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min(lower), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
