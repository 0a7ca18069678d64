"""The known solvers, which of them are installed, and how much memory they may use."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

from mmau.prove.solvers.answer import Solve

PACKAGES = {"bitwuzla": "bitwuzla", "z3": "z3-solver", "cvc5": "cvc5"}
"""Solvers in the order in which they are tried, and the packages that bring them."""

MEMORY = 6 << 30
"""Memory limit of a process that runs a solver (bytes of address space)."""


class MissingSolver(Exception):
    """The solver is not installed."""


def solver_version(name: str) -> str:
    """The version of a solver.

    Raises:
        MissingSolver: it is not installed.
    """
    try:
        return version(PACKAGES[name])
    except PackageNotFoundError:
        raise MissingSolver(f"the solver {name} is missing; install it with: pip install 'mmau[formal]'") from None


def solver(name: str) -> Solve:
    """The solver of that name.

    Raises:
        MissingSolver: it is not installed. ValueError: there is no such solver.
    """
    if name not in PACKAGES:
        raise ValueError(f"a solver must be one of {', '.join(PACKAGES)}, got {name!r}")
    try:
        solve: Solve = import_module(f"mmau.prove.solvers.with_{name}").solve
    except ImportError:
        raise MissingSolver(f"the solver {name} is missing; install it with: pip install 'mmau[formal]'") from None
    return solve


@contextmanager
def limited_memory() -> Iterator[None]:
    """Limit the memory of this process to `MEMORY` within the block: a solver that wants more fails."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    lower = [limit for limit in (soft, hard, MEMORY) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min(lower), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
