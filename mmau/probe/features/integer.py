"""Integers: a sum that wraps around or is clamped, and nothing else to find."""

from golden.stimulus import GeneratorDraws, Operands, OperandShape
from mmau.probe.features.feature import Feature, concatenated
from mmau.probe.features.limits import drawn

ROWS = 48
"""Rows of each class of the stimulus."""


def questions(shape: OperandShape, draws: GeneratorDraws) -> Operands:
    """Rows of every class of the stimulus; rows of huge numbers lie around the ends of the range."""
    return concatenated(
        [drawn(name, ROWS)(shape, draws) for name in ("bits", "normal", "cancel", "specials", "tiny", "huge")]
    )


INTEGERS = Feature("integers", "sums inside the range of int32 and beyond it", ("L", "overflow"), questions)
