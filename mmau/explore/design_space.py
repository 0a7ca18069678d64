"""A design space: the units that its file describes as points, the measurements and the limits."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from math import prod
from typing import Any, NamedTuple

import golden
from golden.chains.chain import ChainTable
from golden.chains.sum_chain import SumTable
from golden.checks import listed
from golden.operations import OPERATIONS, Operation
from golden.text import value_as_text
from golden.units.controls import Control
from golden.units.own_formats import formats_of, table_of
from golden.units.unit import PLACEMENT, Array, Implementation, Unit
from golden.units.unit_file import unit_from_table, unit_to_toml
from mmau.explore.accuracy import Workload, check_measurable, check_workload
from mmau.explore.columns import flat_name, value_of

TABLES: dict[str, type[Implementation] | type[ChainTable] | type[SumTable] | type[Array]] = {
    "implementation": Implementation, "chain": ChainTable, "sums": SumTable, "array": Array,
}  # fmt: skip
"""The tables of a unit's file."""

OWN_FORMATS = "formats"
"""The table of a unit's file that has a table for each format of its own."""

CONTROLS = "controls"
"""The table of a unit's file with inputs that choose its arithmetic: one flat key, whose value are the controls."""

Value = int | float | str | bool

Given = Value | tuple[Control, ...]
"""What a flat key of a unit is given."""


def known_keys(operation: str | None) -> list[str]:
    """The keys, besides tables, that a unit of an operation may have. With None, the keys of all operations."""
    operations = OPERATIONS.values() if operation is None else [OPERATIONS[operation]]
    return ["operation", *dict.fromkeys(key for each in operations for key in each.unit_keys())]


def table_keys(table: str) -> list[str]:
    """The keys of one of `TABLES`."""
    return [each.name for each in fields(TABLES[table])]


def nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    """A unit's file as `golden.units.unit_file` reads it, of flat keys."""
    found: dict[str, Any] = {}
    for key, value in flat.items():
        *tables, inner = key.split(".")
        place = found
        for table in tables:
            place = place.setdefault(table, {})
        place[inner] = {each.port: each.as_table() for each in value} if isinstance(value, tuple) else value
    return found


def parameters(unit: Unit, always: Collection[str] = ()) -> dict[str, Value]:
    """The parameters of a unit by flat keys; of its chain those that are not the default, and those named in `always`."""
    operation: Operation = unit.operation
    found = {key: _plain(getattr(operation, key)) for key in operation.unit_keys()}
    found |= {"a": unit.a.name, "b": unit.b.name}
    built = unit.implementation
    placed = {key: _listed(getattr(built, key)) for key, default in PLACEMENT.items() if getattr(built, key) != default}
    others = {key: getattr(built, key) for key in table_keys("implementation") if key not in PLACEMENT}
    found |= {f"implementation.{key}": value for key, value in {**others, **placed}.items()}
    for each in fields(ChainTable):
        value = getattr(unit.chain, each.name)
        if value is not None and (value != each.default or f"chain.{each.name}" in always):
            found[f"chain.{each.name}"] = value
    if unit.sums is not None:
        found |= {
            f"sums.{key}": value_as_text(value) if key == "tree" else value for key, value in unit.sums.as_table().items()
        }
    for form in formats_of(operation):
        found |= {f"{OWN_FORMATS}.{form.name}.{key}": value for key, value in table_of(form).items() if key != "values"}
    if unit.controls:
        found[CONTROLS] = controls_text(unit.controls)
    if unit.array is not None:
        found |= {f"array.{key}": value for key, value in unit.array.as_table().items()}
    return {"operation": operation.name, **found}


def controls_text(controls: Sequence[Control]) -> str:
    """Controls as text: each port with its values."""
    return "; ".join(f"{each.port}: {listed(map(str, each.values)) if each.values else each.key}" for each in controls)


def _listed(value: Any) -> Value:
    return " ".join(value) if isinstance(value, tuple) else value


def _plain(value: Any) -> Value:
    return value if isinstance(value, int) else str(value)


@dataclass(frozen=True)
class Choice:
    """Values of several keys that vary together.

    Attributes:
        name: text in the names of points. keys: flat keys with their values.
    """

    name: str
    keys: tuple[tuple[str, Given], ...]

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Axis:
    """A key that is swept, or several that vary together.

    Attributes:
        key: flat, such as `implementation.stages`; of choices, the name that the file gives them.
        values: in the order of the file, all of them choices or none.
    """

    key: str
    values: tuple[Value | Choice, ...]

    @property
    def label(self) -> str:
        """The key without its table; of a format with the format's name."""
        return self.key.partition(".")[2] or self.key

    @property
    def keys(self) -> tuple[str, ...]:
        """The flat keys of the unit that vary."""
        return tuple(dict.fromkeys(key for value in self.values for key in self.set(value)))

    def set(self, value: Value | Choice) -> dict[str, Given]:
        """The flat keys that a value of the axis sets."""
        return dict(value.keys) if isinstance(value, Choice) else {self.key: value}


def value_or_name(value: Value | Choice) -> Value:
    """What records have for a value of an axis."""
    return value.name if isinstance(value, Choice) else value


def prefixes(axes: Sequence[Axis]) -> dict[Axis, str | None]:
    """What stands in front of the value of an axis in the names of points: the key, nothing where the value is a word that
    no other axis has, and None for an axis with one value, which names leave out.

    A word of a name that has no `=` belongs to one axis, so that different points have different names.
    """
    texts = {axis: [value_as_text(value) for value in axis.values] for axis in axes}
    words = {axis: {word for text in texts[axis] for word in text.split()} for axis in axes}
    found: dict[Axis, str | None] = {}
    for axis in axes:
        others = {word for other in axes if other is not axis for word in words[other]}
        is_word = all(isinstance(value, (str, Choice)) for value in axis.values) and not any(map(_is_number, texts[axis]))
        speaks = is_word and words[axis].isdisjoint(others) and "=" not in "".join(texts[axis])
        found[axis] = None if len(axis.values) == 1 else "" if speaks else f"{axis.label}="
    return found


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


AT_LEAST, AT_MOST = "min_", "max_"

STAGES = "stages"
"""The key of an implementation whose value is a number."""


@dataclass(frozen=True)
class Constraint:
    """A limit on a parameter or on a measured column.

    Attributes:
        key: the key in the file, such as `max_cells`. column: the column that is limited. limit: the least or largest
            allowed number.
        parameter: the flat key of a parameter; None where a measured column is limited.
    """

    key: str
    column: str
    limit: float
    parameter: str | None

    def broken(self, value: float) -> str:
        """Why a value is beyond the limit; empty where it is not."""
        if (value < self.limit) if self.key.startswith(AT_LEAST) else (value > self.limit):
            side = "below" if self.key.startswith(AT_LEAST) else "above"
            return f"{self.column} = {value:g} is {side} {self.key} = {self.limit:g}"
        return ""


def broken_by_parameters(constraints: Sequence[Constraint], parameters: Mapping[str, Value]) -> str:
    """A message with the limits that the parameters of a point break; empty if there are none."""
    messages = []
    for constraint in constraints:
        value = None if constraint.parameter is None else parameters.get(constraint.parameter)
        if isinstance(value, int):
            messages.append(constraint.broken(value))
    return "; ".join(filter(None, messages))


def broken_by_measures(constraints: Sequence[Constraint], measured: Mapping[str, Any]) -> str:
    """A message about the limits that measured values exceed; empty if none does. A missing value exceeds no limit (see
    `unchecked`)."""
    messages = []
    for constraint in constraints:
        value = None if constraint.parameter is not None else value_of(constraint.column, measured)
        if value is not None:
            messages.append(constraint.broken(value))
    return "; ".join(filter(None, messages))


def unchecked(constraints: Sequence[Constraint], measured: Mapping[str, Any]) -> str:
    """A message with the limits that could not be checked for lack of a figure; empty if there are none."""
    missing = [each.key for each in constraints if each.parameter is None and value_of(each.column, measured) is None]
    return f"not checked against {', '.join(missing)}: no figure was measured" if missing else ""


@dataclass(frozen=True)
class Question:
    """A question to a space: which point is the best in a column, of those within limits.

    Attributes:
        name: for the report. best: the column; None for the area, or what else the report compares first.
        constraints: the limits that a winner must keep. where: values of swept keys that a winner has, by the key's label.
    """

    name: str
    best: str | None = None
    constraints: tuple[Constraint, ...] = ()
    where: Mapping[str, Value] = field(default_factory=dict)


class Asked(NamedTuple):
    """What a report is asked for.

    Attributes:
        constraints: the limits of the space. questions: its questions.
        objectives: the columns that its strategy makes best.
        workloads: those that it names. cosimulation, proof: whether it asks for them. cost: the keys of its table [cost].
    """

    constraints: tuple[Constraint, ...] = ()
    questions: tuple[Question, ...] = ()
    objectives: tuple[str, ...] = ()
    workloads: tuple[Workload, ...] = ()
    cosimulation: bool = False
    proof: bool = False
    cost: tuple[str, ...] = ()

    @property
    def limits(self) -> list[Constraint]:
        """Those of the space and of its questions."""
        return [*self.constraints, *(limit for question in self.questions for limit in question.constraints)]

    @property
    def columns(self) -> list[str]:
        """The measured columns that are limited, or made best, each once, by their flat names."""
        best = [question.best for question in self.questions if question.best is not None]
        named = [*self.objectives, *(limit.column for limit in self.limits if limit.parameter is None), *best]
        return list(dict.fromkeys(map(flat_name, named)))


POINT, REFERENCE = "point", "reference"


NOTHING_ASKED = Asked()


@dataclass(frozen=True)
class Point:
    """One unit of a space, or a catalogue instruction beside it.

    Attributes:
        name: text made of what differs in the space: the swept keys with several values, and the point's values.
        kind: `POINT` or `REFERENCE`.
        parameters: the flat keys: all keys where the point is a unit, else the keys in the file.
        unit: the unit; None where the keys are invalid.
        message: the reason why it is not a unit, or not one of this space; empty if it is valid.
        axes: the point's values of the swept keys that its name has, by their labels.
    """

    name: str
    kind: str
    parameters: Mapping[str, Value]
    unit: Unit | None
    message: str = ""
    axes: Mapping[str, Value] = field(default_factory=dict)

    @property
    def is_valid(self) -> bool:
        """Whether the point is to be evaluated."""
        return self.unit is not None and not self.message

    @property
    def file_name(self) -> str:
        """Name of the point's files, without suffix."""
        return "".join(each if each.isalnum() or each in "-_." else "-" for each in self.name.replace(" ", "_"))

    @property
    def toml(self) -> str:
        """The unit's file; empty where there is none."""
        return "" if self.unit is None else unit_to_toml(self.unit)


def point_of(
    name: str,
    fixed: Mapping[str, Given],
    axes: Mapping[Axis, str | None],
    values: Sequence[Value | Choice],
) -> Point:
    """The point with these values of the axes. Where the operation varies, keys that one does not have are left out.

    Args:
        name: the space's. axes: with their `prefixes`.
    """
    swept = {axis: axis.set(value) for axis, value in zip(axes, values, strict=True)}
    flat = {**fixed, **{key: value for each in swept.values() for key, value in each.items()}}
    operation = str(flat.get("operation"))
    if any("operation" in each for each in swept.values()) and operation in OPERATIONS:
        kept = known_keys(operation)
        flat = {key: value for key, value in flat.items() if key in kept or "." in key or key == CONTROLS}
    applies = [
        (axis, prefix, value)
        for (axis, prefix), value in zip(axes.items(), values, strict=True)
        if prefix is not None and swept[axis].keys() & flat.keys()
    ]
    chosen = " ".join(f"{prefix}{value_as_text(value)}" for _, prefix, value in applies) or name
    labelled = {axis.label: value_or_name(value) for axis, _, value in applies}
    try:
        unit = unit_from_table({"name": chosen, **nested(flat)})
    except (TypeError, ValueError) as error:
        plain = {key: controls_text(value) if isinstance(value, tuple) else value for key, value in flat.items()}
        return Point(chosen, POINT, plain, None, str(error), labelled)
    return Point(chosen, POINT, parameters(unit, flat), unit, axes=labelled)


def reference_of(instruction: str) -> Point:
    """The point of a catalogue instruction, `ARCH:NAME`.

    Raises:
        ValueError: there is none.
    """
    arch, _, name = instruction.partition(":")
    if not name:
        raise ValueError(f"an instruction must be written ARCH:NAME, like sm_90:{EXAMPLE}; got {instruction!r}")
    found = golden.instruction(arch, name)
    chain = found.chain_table
    if chain is None:
        raise ValueError(f"{instruction} rounds products and sums by themselves, which no unit does: omit it")
    converted = None if chain.convert is None else (found.a, found.b)
    unit = Unit(name=f"{found.arch}:{found.name}", operation=found.operation, chain=chain, converted=converted)
    return Point(unit.name, REFERENCE, parameters(unit), unit)


EXAMPLE = "mma.m16n8k16.f32.f16.f16.f32"


def arithmetic_of(unit: Unit) -> Unit:
    """The unit that represents all units with the same arithmetic: without name, implementation and array."""
    return replace(unit, name="unit", implementation=Implementation(), array=None)


@dataclass(frozen=True)
class Accuracy:
    """The accuracy measurements of a space.

    Attributes:
        workloads: from the name of each workload to the table that `mmau.explore.accuracy` takes.
        rows: number of dot products in each workload. seed: seed of the operands.
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
    """The settings of a multi-objective search, which evaluates some of the points of a space.

    Attributes:
        objectives: columns, each "min" or "max". points: the largest number of points to evaluate.
        population: points of a generation, which are evaluated side by side. seed: seed of the search's random numbers.
    """

    objectives: Mapping[str, str]
    points: int
    population: int
    seed: int


@dataclass(frozen=True)
class Estimation:
    """The settings of a strategy that measures a sample, estimates the costs of all points, and measures the front.

    Attributes:
        objectives: columns, each "min" or "max"; costs are estimated, accuracies measured for each arithmetic.
        points: the largest number of points whose costs are measured. sample: those of them that come first.
        seed: seed of the choice of the sample.
    """

    objectives: Mapping[str, str]
    points: int
    sample: int
    seed: int


@dataclass(frozen=True)
class Space:
    """A design space: the points, and what is measured of them.

    Attributes:
        fixed: keys that all points share, flat. axes: the keys that are swept.
        constraints: the limits: of parameters those that points must keep, of measures those that the front keeps.
        questions: what the report answers. references: catalogue instructions to compare with, `ARCH:NAME`.
        accuracy, cosimulation: what is to be measured; None for nothing. cost: the costs to measure, as `rtl.cost` takes
            them.
        proof_seconds: limit for the proof of each co-simulated datapath, None where none is tried.
        strategy: how points are chosen; None for all of them.
        warnings: what the file asks for and may not mean.
        text: the text of the file.
    """

    name: str
    fixed: Mapping[str, Given]
    axes: tuple[Axis, ...]
    constraints: tuple[Constraint, ...] = ()
    questions: tuple[Question, ...] = ()
    references: tuple[str, ...] = ()
    accuracy: Accuracy | None = None
    cost: Mapping[str, Any] | None = None
    cosimulation: Cosimulation | None = None
    proof_seconds: float | None = None
    strategy: Search | Estimation | None = None
    warnings: tuple[str, ...] = ()
    text: str = field(default="", compare=False)

    @property
    def asked(self) -> Asked:
        """What its report is asked for."""
        return Asked(
            self.constraints,
            self.questions,
            () if self.strategy is None else tuple(self.strategy.objectives),
            () if self.accuracy is None else tuple(self.accuracy.checked),
            self.cosimulation is not None,
            self.proof_seconds is not None,
            tuple(self.cost or ()),
        )

    @property
    def size(self) -> int:
        """How many combinations of values there are."""
        return prod(len(axis.values) for axis in self.axes)

    @property
    def swept(self) -> tuple[str, ...]:
        """The flat keys of the unit that vary."""
        return tuple(dict.fromkeys(key for axis in self.axes for key in axis.keys))

    @cached_property
    def _prefixes(self) -> dict[Axis, str | None]:
        return prefixes(self.axes)

    def values(self, number: int) -> tuple[Value | Choice, ...]:
        """The value of each axis at the point with this number, counted from 0. The last axis changes fastest."""
        found: list[Value | Choice] = []
        for axis in reversed(self.axes):
            number, place = divmod(number, len(axis.values))
            found.append(axis.values[place])
        return tuple(reversed(found))

    def point(self, values: Sequence[Value | Choice]) -> Point:
        """The point with these values of the axes; its message says if the point exceeds a limit or does not fit a
        workload."""
        found = point_of(self.name, self.fixed, self._prefixes, values)
        broken = broken_by_parameters(self.constraints, found.parameters) if found.is_valid else ""
        return replace(found, message=broken) if broken else self._measurable(found)

    def points(self) -> Iterator[Point]:
        """All points of the space, each once. The last axis changes fastest."""
        found: set[str] = set()
        for number in range(self.size):
            point = self.point(self.values(number))
            if point.name not in found:  # another one that differs in keys which its operation does not have
                found.add(point.name)
                yield point

    def reference_points(self) -> list[Point]:
        """The points of the catalogue's instructions that the space names."""
        return [self._measurable(reference_of(name)) for name in self.references]

    def _measurable(self, point: Point) -> Point:
        misfit = "" if point.unit is None or self.accuracy is None else self.accuracy.misfit(point.unit)
        return replace(point, message=misfit) if misfit else point
