"""An additive model of costs: estimates for all points of a space, from those of its points that were measured.

The area of a point is the sum of its components' areas, each a product of powers and levels of the keys that vary: a
logarithm is fitted by least squares. Joining the components shares some cells; the share is fitted in the same way, and so
is every other cost. How far estimates are off is found by leaving measured points out of the fit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from mmau.explore.columns import value_of
from mmau.explore.design_space import Axis, Choice, Value
from mmau.explore.records import Record, components

Values = tuple[Value | Choice, ...]
"""The value of each axis at a point."""

Floats = npt.NDArray[np.float64]

FOLDS = 10
"""Parts of the measured points, each of which is left out once to see how far its estimates are off."""

AREAS = ("area_um2", "area_um2_per_product")
"""The costs that are the sum of components."""


class Terms:
    """The terms of a fit: for every point a row of numbers from the values of its axes.

    A number on an axis enters by its logarithm, or as it is where one is below 1, and by the square of that; every other
    value has a level of its own.

    Args:
        axes: those of the space. points: the values of all points.
    """

    def __init__(self, axes: Sequence[Axis], points: Sequence[Values]) -> None:
        single: list[tuple[int, Floats]] = []
        numbers: list[tuple[int, Floats]] = []
        for place, axis in enumerate(axes):
            places = {value: number for number, value in enumerate(axis.values)}
            at = np.array([places[point[place]] for point in points])
            if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in axis.values):
                exact = np.array([float(str(value)) for value in axis.values])
                scaled = np.log(exact) if exact.min() >= 1 else exact
                scaled = (scaled - scaled.mean()) / (np.ptp(scaled) or 1.0)
                numbers.append((place, scaled[at]))
                single += [(place, scaled[at] ** power) for power in range(1, min(3, len(axis.values)))]
            else:
                single += [(place, (at == level).astype(np.float64)) for level in range(1, len(axis.values))]
        pairs = [x * y for (of_x, x), (of_y, y) in combinations(numbers, 2) if of_x != of_y]
        levels = [one for one in single if one[0] not in {place for place, _ in numbers}]
        mixed = [x * y for _, x in numbers for _, y in levels]
        one = [np.ones(len(points))]
        main = [*one, *(column for _, column in single)]
        self.sets = [np.stack(columns, axis=1) for columns in (one, main, [*main, *pairs], [*main, *pairs, *mixed])]
        """Sets of terms, each with those of the one before: a constant, every key by itself, numbers by numbers, and numbers
        by levels."""


def fitted(terms: Terms, measured: npt.NDArray[np.int64], values: Floats) -> Floats:
    """Values at all points, from those at some, by the set of terms that best predicts a value left out of the fit.

    Args:
        measured: the points with values. values: one for each of them.
    """
    best, found = np.inf, np.full(len(terms.sets[0]), values.mean())
    for columns in terms.sets:
        known = columns[measured]
        if 3 * known.shape[1] > 2 * len(known) and known.shape[1] > 1:  # a fit to so few would say little of the others
            break
        inverse = np.linalg.pinv(known)
        leverage = np.einsum("ij,ji->i", known, inverse)
        solved = inverse @ values
        left_out = (values - known @ solved) / np.maximum(1 - leverage, 1e-3)
        if (error := float(np.square(left_out).mean())) < best:
            best, found = error, columns @ solved
    return found


@dataclass(frozen=True)
class Errors:
    """How far estimates are off, relative to the measured value.

    Attributes:
        points: how many were compared. median, largest: magnitudes.
    """

    points: int
    median: float
    largest: float

    @classmethod
    def of(cls, estimated: Sequence[float], measured: Sequence[float]) -> "Errors":
        """Those of some estimates."""
        off = np.abs(np.array(estimated) / np.array(measured) - 1)
        return cls(len(off), float(np.median(off)), float(off.max()))

    def __str__(self) -> str:
        return f"{100 * self.median:.1f} % in the median, {100 * self.largest:.1f} % at most, of {self.points} points"


class CostModel:
    """Estimates of costs at all points of a space.

    Args:
        terms: of all points. records: the records of those that were measured, by their number among the points.
        columns: the costs that are estimated, as objectives name them.

    Attributes:
        estimates: of every point, by column. errors: of points that are left out of the fit, by column.

    Raises:
        ValueError: a column that no record has, or that is not above 0.
    """

    def __init__(self, terms: Terms, records: Mapping[int, Record], columns: Sequence[str]) -> None:
        self.estimates: dict[str, Floats] = {}
        self.errors: dict[str, Errors] = {}
        for column in columns:
            known = {number: value for number, record in records.items() if (value := value_of(column, record)) is not None}
            if not known:
                raise ValueError(f"the model of costs needs {column} of some point, and no point that was measured has it")
            if min(known.values()) <= 0:
                raise ValueError(f"the model of costs needs {column} above 0, got {min(known.values()):g}")
            parts = {number: components(records[number]) for number in known}
            if column.removeprefix("cost.") not in AREAS or not all(parts.values()):
                parts = {number: {column: value} for number, value in known.items()}
            places = sorted(known)
            self.estimates[column] = summed(terms, places, known, parts)
            estimated, measured = [], []
            for fold in range(min(FOLDS, len(places) // 2)):
                out, kept = places[fold::FOLDS], [place for number, place in enumerate(places) if number % FOLDS != fold]
                estimated += summed(terms, kept, known, parts)[out].tolist()
                measured += [known[place] for place in out]
            if measured:
                self.errors[column] = Errors.of(estimated, measured)


def summed(
    terms: Terms, places: Sequence[int], costs: Mapping[int, float], parts: Mapping[int, Mapping[str, float]]
) -> Floats:
    """A cost of all points, as the sum of components that are fitted one by one, times the share that joining them leaves.

    Args:
        places: the points that are fitted to. costs: theirs. parts: the components of each.
    """
    at, total = np.array(places), np.zeros(len(terms.sets[0]))
    for name in dict.fromkeys(name for place in places for name in parts[place]):
        areas = np.array([parts[place].get(name, 0.0) for place in places])
        if areas.min() > 0:
            total += np.exp(fitted(terms, at, np.log(areas)))
        else:  # a component that some points do not have
            total += np.maximum(fitted(terms, at, areas), 0.0)
    share = np.array([costs[place] for place in places]) / total[at]
    return total * np.exp(fitted(terms, at, np.log(share)))
