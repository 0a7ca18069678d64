"""Proofs: every step of every datapath equal to its specification, for all inputs, and the steps' composition complete.

`prove` proves a design, or a user design equal to a unit, within a time limit, and returns a `Decision`.
"""

from typing import TYPE_CHECKING

from golden.on_demand import on_demand
from mmau.prove.decision import Decision

if TYPE_CHECKING:
    from mmau.prove.deadline import prove

__all__ = ["Decision", "prove"]

__getattr__, __dir__ = on_demand(__name__, {"prove": "deadline"}, __all__)
"""Recorded proofs are read where no design can be made."""
