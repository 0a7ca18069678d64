"""Proofs: every step of every datapath equal to its specification, for all inputs, and the steps' composition complete.

`prove` proves a design, or a user design equal to a unit, within a time limit, and returns a `Decision`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mmau.prove.decision import Decision

if TYPE_CHECKING:
    from mmau.prove.deadline import prove

__all__ = ["Decision", "prove"]


def __getattr__(name: str) -> Any:
    """`prove`, imported when it is first asked for: recorded proofs are read where no design can be made."""
    if name == "prove":
        return import_module("mmau.prove.deadline").prove
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
