"""The features of an arithmetic, each with the questions that show it, in the order in which they are asked."""

from golden.stimulus import OperandShape
from golden.stimulus.integer_classes import is_integer
from mmau.probe.features.feature import INTEGERS, MIXED, OVERFLOW, SPECIAL_VALUES, SUBNORMALS, Feature
from mmau.probe.features.floor import BENEATH, FLOOR, NEARLY_CANCELLED, PRECISION, SMALL_SUMS
from mmau.probe.features.ties_and_carries import ALL_TIES, ORDER, ROUNDING

FEATURES: tuple[Feature, ...] = (ORDER, PRECISION, ROUNDING, FLOOR, SUBNORMALS, OVERFLOW, SPECIAL_VALUES, MIXED)

RARE: tuple[Feature, ...] = (ROUNDING, FLOOR, SUBNORMALS, OVERFLOW)
"""Features whose keys change only few rows."""

UNASKED: tuple[Feature, ...] = (BENEATH, SMALL_SUMS, ALL_TIES)
"""Features that only separate candidate models, since few units have them."""

ROUNDS = 3
"""Number of times that new questions of the features are drawn to separate candidate models."""

RARE_ROUNDS = 6
"""Number of times that new questions of the features in `RARE` are drawn."""

UNASKED_ROUNDS = 3
"""Number of times that questions of the features in `UNASKED` are drawn."""


def features_of(shape: OperandShape) -> tuple[Feature, ...]:
    """The features that operands of these formats can show."""
    return (INTEGERS,) if is_integer(shape) else FEATURES


def telling_features(shape: OperandShape) -> tuple[Feature, ...]:
    """The features whose questions separate candidate models; the rare ones are repeated."""
    features = features_of(shape)
    rare = [feature for feature in features if feature in RARE]
    unasked, last = ((), ()) if is_integer(shape) else (UNASKED, (NEARLY_CANCELLED,))
    return (*features * ROUNDS, *rare * RARE_ROUNDS, *unasked * UNASKED_ROUNDS, *last)


__all__ = ["FEATURES", "RARE", "UNASKED", "Feature", "features_of", "telling_features"]
