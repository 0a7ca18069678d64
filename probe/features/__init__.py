"""The features of an arithmetic, each with the questions that show it, in the order in which they are asked."""

from golden.stimulus import OperandShape
from golden.stimulus.integers import is_integer
from probe.features.feature import Feature
from probe.features.floor import FLOOR
from probe.features.integer import INTEGERS
from probe.features.limits import OVERFLOW, SUBNORMALS
from probe.features.mixed import MIXED
from probe.features.order import ORDER
from probe.features.precision import PRECISION
from probe.features.rounding import ROUNDING
from probe.features.special import SPECIAL_VALUES

FEATURES: tuple[Feature, ...] = (ORDER, PRECISION, ROUNDING, FLOOR, SUBNORMALS, OVERFLOW, SPECIAL_VALUES, MIXED)

RARE: tuple[Feature, ...] = (ROUNDING, FLOOR, SUBNORMALS, OVERFLOW)
"""Those whose keys few rows show."""


def features_of(shape: OperandShape) -> tuple[Feature, ...]:
    """The features that operands of these formats can show."""
    return (INTEGERS,) if is_integer(shape) else FEATURES


__all__ = ["FEATURES", "RARE", "Feature", "features_of"]
