"""The strategy that estimates: costs of a sample are measured, a model of them tells the front among all points, and what is
on it is measured, until the model names nothing new. So that an estimate that is too high hides no point, those count as on
the front that would be if theirs were lower by the median error."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mmau.explore.columns import described, is_cost, value_of
from mmau.explore.cost_model import CostModel, Errors, Floats, Terms, Values
from mmau.explore.design_space import POINT, Estimation, Point, Space
from mmau.explore.records import Record, is_candidate

FILE = "estimates.csv"
"""The file of all points with their estimates."""


@dataclass(frozen=True)
class Estimates:
    """What a strategy that estimates has found.

    Attributes:
        names: of all points that are units. columns: the objectives and limits of each, measured or estimated.
        measured: whether each was measured. left_out: how far the last model is off, at points that its fit left out.
        of_front: how far estimates were off at points that were measured because they were on the estimated front.
        open: how many points may be on the front by the last model, and were not measured, since `points` was reached.
    """

    names: Sequence[str]
    columns: Mapping[str, Floats]
    measured: npt.NDArray[np.bool_]
    left_out: Mapping[str, Errors]
    of_front: Mapping[str, Errors]
    open: int = 0

    def csv(self) -> bytes:
        """All points, one a line."""
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow(["name", "measured", *self.columns])
        found = [[f"{value:.6g}" for value in column.tolist()] for column in self.columns.values()]
        yes_no = ["true" if each else "false" for each in self.measured.tolist()]
        writer.writerows(zip(self.names, yes_no, *found, strict=True))
        return text.getvalue().encode()

    def sentences(self) -> list[str]:
        """What the reports say of them."""
        count = int(self.measured.sum())
        beyond = f"{self.open:,} more that may be on it were not, since points = {count} was reached" if self.open else ""
        found = [
            f"Costs of {len(self.names):,} points were estimated ({FILE}), from {count:,} that were measured. All points of "
            f"the front were measured; {beyond or 'by these estimates no other point is on it'}."
        ]
        for column, errors in self.left_out.items():
            label = described(f"cost.{column.removeprefix('cost.')}", True).label
            said = f"Estimates of the {label} are off by {errors} that the fit left out"
            front = self.of_front.get(column)
            found.append(f"{said}." if front is None else f"{said}; by {front} that were thought to be on the front.")
        return found


def estimate(
    space: Space,
    strategy: Estimation,
    evaluate: Callable[[Sequence[Point]], list[dict[str, Any]]],
    accuracy: Callable[[Sequence[Point], Sequence[str]], list[Mapping[str, Any]]],
    say: Callable[[str], None],
) -> Estimates:
    """Measure a sample, then what the model of its costs puts on the front of the objectives, until that is all measured or
    the number of points is reached.

    Args:
        evaluate: the records of points that were not evaluated before. accuracy: `accuracy` of a record, for each point, of
            the workloads that these columns name; equal arithmetics are computed once.

    Raises:
        ValueError: no point is a unit, or no point that was measured has an objective.
    """
    values, points = units_of(space)
    terms = Terms(space.axes, values)
    columns = list(dict.fromkeys([*strategy.objectives, *(each.column for each in space.constraints if not each.parameter)]))
    costs, others = [name for name in columns if is_cost(name)], [name for name in columns if not is_cost(name)]
    known = [{"accuracy": found} for found in accuracy(points, others)]
    table = {name: np.array([_number(value_of(name, each)) for each in known]) for name in others}
    records: dict[int, Record] = {}
    foreseen: dict[str, list[tuple[float, float]]] = {name: [] for name in costs}

    def measure(chosen: Sequence[int], model: CostModel | None) -> None:
        records.update(zip(chosen, evaluate([points[number] for number in chosen]), strict=True))
        if model is None:
            return
        for name in costs:
            for number in chosen:
                if (value := value_of(name, records[number])) is not None:
                    foreseen[name].append((float(model.estimates[name][number]), value))

    measure(sampled(space, strategy, values), None)
    while True:
        model = CostModel(terms, records, costs)
        shown = {name: column.copy() for name, column in {**table, **model.estimates}.items()}
        for number, record in records.items():
            for name in costs:
                shown[name][number] = _number(value_of(name, record) if is_candidate(record) else None)
        front = _front(space, strategy, shown, records, model.errors)
        new = [number for number in front if number not in records]
        on_front = f"{len(front):,} of {len(points):,} may be on the front, {len(new):,} of them not measured"
        say(f"{len(records):,} points measured; {on_front}")
        left = strategy.points - len(records)
        if not new or left <= 0:
            break
        measure(new if len(new) <= left else [new[number * len(new) // left] for number in range(left)], model)
    of_front = {name: Errors.of(*zip(*pairs, strict=True)) for name, pairs in foreseen.items() if pairs}
    done = np.array([number in records for number in range(len(points))])
    return Estimates([point.name for point in points], shown, done, model.errors, of_front, len(new))


def units_of(space: Space) -> tuple[list[Values], list[Point]]:
    """All points that may be evaluated, with the values of their axes, each once."""
    found: dict[str, tuple[Values, Point]] = {}
    for number in range(space.size):
        values = space.values(number)
        point = space.point(values)
        if point.is_valid and point.kind == POINT:
            found.setdefault(point.name, (values, point))
    if not found:
        raise ValueError(f"no point of the space can be evaluated; the last one, {point.name}: {point.message}")
    return [values for values, _ in found.values()], [point for _, point in found.values()]


def sampled(space: Space, strategy: Estimation, values: Sequence[Values]) -> list[int]:
    """The numbers of the points that the first model is fitted to: every value of every axis about equally often."""
    places = {each: number for number, each in enumerate(values)}
    draws, wanted = np.random.default_rng(strategy.seed), min(strategy.sample, len(values))
    columns = []
    for axis in space.axes:
        turns = [axis.values[number % len(axis.values)] for number in range(wanted)]
        columns.append([turns[number] for number in draws.permutation(wanted)])
    chosen = dict.fromkeys(places[each] for each in zip(*columns, strict=True) if each in places)
    for number in draws.permutation(len(values)).tolist():
        if len(chosen) >= wanted:
            break
        chosen.setdefault(number)
    return list(chosen)


def _front(
    space: Space,
    strategy: Estimation,
    shown: Mapping[str, Floats],
    records: Mapping[int, Record],
    errors: Mapping[str, Errors],
) -> list[int]:
    """The points on the front of the objectives within the limits, if estimates are too bad by their median error."""
    signs = {"min": 1.0, "max": -1.0}
    table = np.stack([signs[side] * shown[name] for name, side in strategy.objectives.items()], axis=1)
    is_estimate = np.array([number not in records for number in range(len(table))])
    for place, name in enumerate(strategy.objectives):
        if name in errors:
            table[is_estimate, place] -= errors[name].median * np.abs(table[is_estimate, place])
    kept: npt.NDArray[np.bool_] = ~np.any(np.isnan(table), axis=1)
    for limit in space.constraints:
        if limit.parameter is None:
            kept &= np.array([not limit.broken(value) for value in shown[limit.column].tolist()])
    for number, record in records.items():
        kept[number] &= is_candidate(record)
    numbers = np.flatnonzero(kept)
    return [int(numbers[place]) for place in nondominated(table[numbers])]


def nondominated(table: Floats) -> list[int]:
    """The rows that no other row is below or equal to in every column, of equal ones the first, sorted by columns."""
    front, kept = np.empty((0, table.shape[1])), []
    for number in np.lexsort(table.T[::-1]).tolist():
        row = table[number]
        if not (front <= row).all(axis=1).any():
            front = np.vstack([front, row])
            kept.append(number)
    return kept


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)
