"""The possible answers of a solver."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

Verdict = Literal["never", "sometimes", "unknown"]
"""Whether the formula of a question can be true; `unknown` if the solver gave up."""


@dataclass(frozen=True)
class Answer:
    """The answer of a solver to one question.

    Attributes:
        verdict: see `Verdict`.
        values: the values of the question's variables, for which the formula is true, if it can be true.
        reason: why the verdict is unknown.
    """

    verdict: Verdict
    values: Mapping[str, int] = field(default_factory=dict)
    reason: str = ""


Solve = Callable[[str, float], Answer]
"""Answers a question, an SMT-LIB script, within a number of seconds."""
