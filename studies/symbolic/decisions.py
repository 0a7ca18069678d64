"""Branches of a program on symbolic values: which way a run takes, and the condition under which it takes it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bitwuzla import Kind, Term

from mmau.prove.specification.numbers import Flag, all_of


@dataclass
class Run:
    """One run of a function on symbolic values.

    Attributes:
        prescribed: the first decisions, to be repeated. taken: all decisions so far, each with its flag.
        known: the outcome of every flag that has been decided, without its inversions.
    """

    prescribed: list[bool]
    taken: list[tuple[Flag, bool]] = field(default_factory=list)
    known: dict[Term, bool] = field(default_factory=dict)

    @property
    def conditions(self) -> list[Flag]:
        """The conditions that hold in this run."""
        return [flag if outcome else ~flag for flag, outcome in self.taken]

    def outcome(self, flag: Flag) -> bool | None:
        """The decision of this run about a flag; None if it has made none."""
        term, inverted = _uninverted(flag)
        return None if term not in self.known else self.known[term] != inverted


@dataclass
class Errors:
    """The conditions under which the program raises an error."""

    flags: list[Flag] = field(default_factory=list)


_runs: list[Run] = []
_errors: list[Errors] = []


def decide(flag: Flag) -> bool:
    """The truth of a flag in this run. A flag that is not decided yet is true first, and false in a later run."""
    if flag.bits.value is not None:
        return bool(flag.bits.value)
    for run in _runs:
        outcome = run.outcome(flag)
        if outcome is not None:
            return outcome
    run, (term, inverted) = _runs[-1], _uninverted(flag)
    outcome = run.prescribed[len(run.taken)] if len(run.taken) < len(run.prescribed) else True
    run.taken.append((flag, outcome))
    run.known[term] = outcome != inverted
    return outcome


def _uninverted(flag: Flag) -> tuple[Term, bool]:
    """A flag without its inversions, and whether their number is odd."""
    term, inverted = flag.bits.term, False
    while term.kind() == Kind.BV_NOT:
        term, inverted = term.children()[0], not inverted
    return term, inverted


def refuse(flag: Flag) -> None:
    """Say that the program would raise an error here where a flag is set."""
    conditions = [condition for run in _runs for condition in run.conditions]
    _errors[-1].flags.append(all_of([*conditions, flag]))


def collected(function: Callable[[], Any]) -> tuple[Any, list[Flag]]:
    """The value that a function returns, and the conditions of its errors."""
    _errors.append(Errors())
    try:
        return function(), _errors[-1].flags
    finally:
        _errors.pop()


def runs(function: Callable[[], Any]) -> list[tuple[Run, Any]]:
    """Every run of a function, and what it returns.

    A run that raises ValueError is left out, and its conditions are noted; if every run does, the error is raised. Any other
    error is none of the program's.
    """
    found, remaining, raised = [], [list[bool]()], None
    while remaining:
        run = Run(remaining.pop())
        _runs.append(run)
        try:
            value = function()
        except ValueError as error:
            raised = error
            if run.taken:
                *_, (flag, outcome) = run.taken
                refuse(flag if outcome else ~flag)
        else:
            found.append((run, value))
        finally:
            _runs.pop()
        outcomes = [outcome for _, outcome in run.taken]
        remaining += [[*outcomes[:place], False] for place in range(len(run.prescribed), len(outcomes))]
    if not found and raised is not None:
        raise raised
    return found
