"""Searches rows whose errors come close to their bounds: it starts from given rows and changes them bit by bit."""

import random
from collections.abc import Iterable, Sequence
from fractions import Fraction

from golden.stimulus import Row
from mmau.analysis.adverse_rows import changed
from mmau.analysis.error_bound import Bounded

STARTS = 4
"""Number of rows that the search continues from: the rows with the largest known shares of their bounds."""


def shares(bounded: Bounded, rows: Iterable[Row]) -> list[tuple[Fraction, Row]]:
    """Each row that has a bound, with its error divided by that bound."""
    found = ((bounded.share(row), row) for row in rows)
    return [(share, row) for share, row in found if share is not None]


def searched(bounded: Bounded, start: Sequence[tuple[Fraction, Row]], steps: int, seed: int) -> tuple[Fraction, Row]:
    """The largest share of a bound found by changing rows bit by bit, beginning with the given rows of largest share.

    The search also continues from a row whose share equals the previous one, so that plateaus are crossed.
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
