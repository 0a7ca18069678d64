"""A design space as described by its file."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import Any

from golden import Unit
from mmau.explore.accuracy import Workload, check_measurable, check_workload
from mmau.explore.space.axes import Axis
from mmau.explore.space.constraints import Constraint, broken_by_parameters
from mmau.explore.space.keys import Value
from mmau.explore.space.space_points import Point, point_of, reference_of


@dataclass(frozen=True)
class Accuracy:
    """The accuracy measurements of a space.

    Attributes:
        workloads: from the name of each workload to the table that `mmau.explore.accuracy` takes.
        rows: dot products of each. seed: of them.
    """

    workloads: Mapping[str, str | Mapping[str, Any]]
    rows: int
    seed: int

    @cached_property
    def checked(self) -> list[Workload]:
        """The workloads as `mmau.explore.accuracy` understands them."""
        return [check_workload(given) for given in self.workloads.values()]

    def misfit(self, unit: Unit) -> str:
        """Why a unit cannot be measured on one of the workloads; empty where it can."""
        try:
            for workload in self.checked:
                check_measurable(unit, workload, self.rows)
        except (TypeError, ValueError) as error:
            return str(error)
        return ""


@dataclass(frozen=True)
class Cosimulation:
    """How many vectors each datapath is co-simulated with, and their seed."""

    vectors: int
    seed: int


@dataclass(frozen=True)
class Search:
    """A multi-objective search in place of all points.

    Attributes:
        objectives: columns, each "min" or "max". points: how many are evaluated at most.
        population: of a generation, which is evaluated side by side. seed: of the search.
    """

    objectives: Mapping[str, str]
    points: int
    population: int
    seed: int


@dataclass(frozen=True)
class Space:
    """A design space.

    Attributes:
        fixed: keys that all points share, flat. axes: those that are swept.
        constraints: limits. references: catalogue instructions beside it, `ARCH:NAME`.
        accuracy, cosimulation: what is wanted, None where nothing is. cost: the same, as `rtl.cost` takes it.
        proof_seconds: limit for the proof of each co-simulated datapath, None where none is tried.
        search: how points are chosen; None for all of them.
        text: the file.
    """

    name: str
    fixed: Mapping[str, Value]
    axes: tuple[Axis, ...]
    constraints: tuple[Constraint, ...] = ()
    references: tuple[str, ...] = ()
    accuracy: Accuracy | None = None
    cost: Mapping[str, Any] | None = None
    cosimulation: Cosimulation | None = None
    proof_seconds: float | None = None
    search: Search | None = None
    text: str = field(default="", compare=False)

    @property
    def size(self) -> int:
        """How many combinations of values there are."""
        return prod(len(axis.values) for axis in self.axes)

    def values(self, number: int) -> tuple[Value, ...]:
        """Those of the axes of the point with this number, from 0: the last axis is the fastest."""
        found: list[Value] = []
        for axis in reversed(self.axes):
            number, place = divmod(number, len(axis.values))
            found.append(axis.values[place])
        return tuple(reversed(found))

    def point(self, values: Sequence[Value]) -> Point:
        """The point with these values of the axes; its message says if it is beyond a limit or does not fit a workload."""
        found = point_of(self.name, self.fixed, self.axes, values)
        broken = broken_by_parameters(self.constraints, found.parameters) if found.is_valid else ""
        return replace(found, message=broken) if broken else self._measurable(found)

    def points(self) -> Iterator[Point]:
        """All of them, the last axis fastest."""
        return (self.point(self.values(number)) for number in range(self.size))

    def reference_points(self) -> list[Point]:
        """Those of the catalogue."""
        return [self._measurable(reference_of(name)) for name in self.references]

    def _measurable(self, point: Point) -> Point:
        misfit = "" if point.unit is None or self.accuracy is None else self.accuracy.misfit(point.unit)
        return replace(point, message=misfit) if misfit else point
