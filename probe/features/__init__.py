"""The features of an arithmetic, each with the questions that show it, in the order in which they are asked."""

from probe.features.feature import Feature
from probe.features.floor import FLOOR
from probe.features.limits import OVERFLOW, SUBNORMALS
from probe.features.mixed import MIXED
from probe.features.order import ORDER
from probe.features.precision import PRECISION
from probe.features.rounding import ROUNDING
from probe.features.special import SPECIAL_VALUES

FEATURES: tuple[Feature, ...] = (ORDER, PRECISION, ROUNDING, FLOOR, SUBNORMALS, OVERFLOW, SPECIAL_VALUES, MIXED)

__all__ = ["FEATURES", "FLOOR", "OVERFLOW", "SUBNORMALS", "Feature"]
