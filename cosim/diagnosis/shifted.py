"""Whether a design gives right results at the wrong places: each is the one expected some vectors earlier or later."""

from collections.abc import Sequence
from dataclasses import dataclass

from cosim.bench.mismatch import ComparedRow

FARTHEST = 16
"""Largest shift that is tried (vectors)."""

SHARE = 0.9
"""Smallest share of the mismatches that a shift explains: pauses and resets break a few."""

DISTINCT = 8
"""Smallest number of different results that it explains: a constant is no shift."""


@dataclass(frozen=True)
class Shift:
    """A shift of all results.

    Attributes:
        vectors: how many vectors earlier each result was expected; negative where it was expected later.
        explained: mismatches that the shift explains. mismatches: those for which the other vector is known.
    """

    vectors: int
    explained: int
    mismatches: int

    def text(self, latency: int | None) -> str:
        """The shift as a sentence.

        Args:
            latency: the design's latency by its description (cycles), None where results have a valid signal.
        """
        count = abs(self.vectors)
        far = "a vector" if count == 1 else f"{count} vectors"
        when = "earlier" if self.vectors > 0 else "later"
        found = f"each result equals the one expected {far} {when} ({self.explained:,} of {self.mismatches:,} mismatches)"
        return found if latency is None else f"{found}: the latency is {latency + self.vectors}, not {latency}"


def shift_of(differing: Sequence[ComparedRow], agreeing: Sequence[ComparedRow]) -> Shift | None:
    """The smallest shift that explains the mismatches; None if there is none."""
    expected = {(row.vector, row.place): row.expected for row in (*differing, *agreeing)}
    for vectors in sorted({*range(-FARTHEST, FARTHEST + 1)} - {0}, key=abs):
        others = [(row.got, expected.get((row.vector - vectors, row.place))) for row in differing]
        known = [(got, other) for got, other in others if other is not None]
        same = [got for got, other in known if got == other]
        if len(known) >= len(differing) // 2 and len(same) > SHARE * len(known) and len(set(same)) >= DISTINCT:
            return Shift(vectors, len(same), len(known))
    return None
