"""Finds an operand that takes more or fewer cycles than the others: every result then uses that operand of another
vector."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cosim.bench.mismatch import ComparedRow
from cosim.diagnosis.mismatch_places import rows_of
from cosim.diagnosis.shifted import DISTINCT
from golden import Instruction, Unit
from golden.comparison import differing
from golden.variants import Model

FARTHEST = 4
"""Largest distance (vectors) of another vector whose operand is tried."""

SHARE = 0.7
"""Smallest share of the mismatches that the other operand must explain. The rest may lie in a pause of the stream, where an
operand belongs to no vector."""

PROBE = 24
"""Mismatches on which every operand is tried first."""

OPERANDS = (("a",), ("b",), ("c",), ("scale_a",), ("scale_b",), ("a", "b"))


def late_operand(model: Unit | Instruction, wrong: Sequence[ComparedRow], agreeing: Sequence[ComparedRow]) -> str | None:
    """The operand that comes from another vector, as a sentence; None where no single one explains the mismatches.

    Args:
        wrong: rows that differ. agreeing: rows that do not.
    """
    wrong, agreeing = ([row for row in rows if isinstance(row.got, int)] for rows in (wrong, agreeing))
    at = {(row.vector, row.place): row for row in (*wrong, *agreeing)}
    if not wrong:
        return None
    K = len(wrong[0].a)
    of_unit = Model.of(model, K)
    for far in sorted({*range(-FARTHEST, FARTHEST + 1)} - {0}, key=abs):
        for names in OPERANDS:
            if getattr(wrong[0], names[0]) is None:
                continue

            def agree(rows: Sequence[ComparedRow], far: int = far, names: tuple[str, ...] = names) -> tuple[Any, int]:
                """For which rows the results are right with the other operand; how many have one that is known."""
                pairs = [(row, at[key]) for row in rows if (key := (row.vector - far, row.place)) in at]
                if not pairs:
                    return np.zeros(0, bool), 0
                mixed = rows_of(
                    of_unit, [replace(row, **{name: getattr(other, name) for name in names}) for row, other in pairs], K
                )
                return ~differing(of_unit.results(mixed), mixed.got, of_unit.operation), len(pairs)

            same, known = agree(wrong[:PROBE])
            if same.sum() <= SHARE / 2 * known:
                continue
            (same, known), (kept, sampled) = agree(wrong), agree(agreeing)
            if known >= max(DISTINCT, len(wrong) // 2) and same.sum() > SHARE * known and kept.sum() >= SHARE * sampled:
                words = " and ".join(names)
                which = f"{abs(far)} vector{'s' if abs(far) > 1 else ''} {'before' if far > 0 else 'after'}"
                verb = "are those" if len(names) > 1 else "is that"
                return f"{words} {verb} of {which} ({int(same.sum()):,} of {known:,} mismatches)"
    return None
