"""How near errors come to their bounds: of given rows, and of rows that a search changes toward larger errors."""

import random
from collections.abc import Iterable, Sequence
from fractions import Fraction

from golden.stimulus import Row
from mmau.analysis.adverse_rows import changed
from mmau.analysis.error_bound import Bounded

STARTS = 4
"""Rows that the search goes on from, the worst that are known."""


def shares(bounded: Bounded, rows: Iterable[Row]) -> list[tuple[Fraction, Row]]:
    """Each row's error as a part of its bound, where it has one."""
    found = ((bounded.share(row), row) for row in rows)
    return [(share, row) for share, row in found if share is not None]


def searched(bounded: Bounded, start: Sequence[tuple[Fraction, Row]], steps: int, seed: int) -> tuple[Fraction, Row]:
    """The largest share of the bound that changing rows bit by bit comes to; from the worst of the rows to start from.

    A row that loses nothing against the one before it is gone on from, so that plateaus are crossed.
    """
    rng = random.Random(seed)
    best = sorted(start, key=lambda found: found[0], reverse=True)[:STARTS]
    for n in range(steps):
        place = n % len(best)
        row = changed(best[place][1], bounded.arithmetic, rng)
        share = bounded.share(row)
        if share is not None and share >= best[place][0]:
            best[place] = (share, row)
    return max(best, key=lambda found: found[0])
