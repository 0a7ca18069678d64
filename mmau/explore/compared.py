"""What a report compares: the costs and measures that were limited or made best, else area and signal-to-noise ratio; the
front of these, and which of its points are equal within the uncertainty of their figures."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from golden.text import value_as_text
from mmau.explore.columns import SNR, STANDARD_ERROR, described, named, value_of
from mmau.explore.design_space import AT_LEAST, Asked, Constraint
from mmau.explore.records import (
    Record,
    equal_work,
    front,
    is_candidate,
    number_of,
    value_at,
    workloads,
)

COSTS: Mapping[str, tuple[str, ...]] = {
    "area": ("cost.area_um2", "cost.cells"),
    "delay": ("cost.delay_ns", "cost.depth"),
    "energy": ("cost.energy_pj",),
}
"""The costs that every report compares: of each the first one with values."""

OF_ARRAY: Mapping[str, str] = {
    "area": "cost.array_area_um2_per_mac",
    "delay": "cost.array_clock_ns",
    "energy": "cost.array_energy_pj_per_mac",
}
"""What takes their place where every point has it. Where some have, it is compared among these, after the others."""

SURE = 2.0
"""Standard errors by which figures must differ to count as different: 95 %, were they normally distributed."""


def costs_of(records: Sequence[Record], asked: Asked) -> dict[str, str]:
    """The costs that a report compares, by name: an objective comes first, and the first one is that of the front; what
    limits and questions name, and what some points alone have, come last. Costs are those of equal work where steps take
    unequal numbers of products."""
    usual = {name: first for name, each in COSTS.items() if (first := _first(records, each)) is not None}
    points = [record for record in records if record["kind"] == "point"]
    usual |= {name: of_array for name, of_array in OF_ARRAY.items() if _has_all(points, of_array, usual.get(name))}
    names, some = {column: name for name, column in usual.items()}, OF_ARRAY.values()
    best, named = (list(filter(None, map(_flat_cost, wanted))) for wanted in (asked.objectives, asked.columns))
    known = [column for column in dict.fromkeys([*best, *names, *named, *some]) if _having(records, column)]
    return {names.get(column, column.removeprefix("cost.")): column for column in known}


def _flat_cost(column: str) -> str:
    return "" if column.startswith("accuracy.") else f"cost.{column.removeprefix('cost.')}"


def _first(records: Sequence[Record], columns: Sequence[str]) -> str | None:
    equal = [equal_work(records, column) for column in columns]
    return next((column for column in equal if _having(records, column)), None)


def _has_all(records: Sequence[Record], column: str, other: str | None) -> bool:
    """Whether records have a column, and all those that have the other one."""
    having = _having(records, column)
    return bool(having) and (other is None or having >= _having(records, other))


def _having(records: Sequence[Record], column: str) -> set[int]:
    """The numbers of the records that have a value in a column."""
    return {number for number, record in enumerate(records) if number_of(record, column) is not None}


def measures_of(records: Sequence[Record], asked: Asked) -> list[str]:
    """The measures of accuracy that a report compares: of each workload those that were limited or made best, else its
    signal-to-noise ratio, with that of quantising where operands' formats or scales vary, or the loss of a network."""
    swept = list(dict.fromkeys(key for record in records for key in record.get("swept") or ()))
    found = []
    for workload in workloads(records):
        prefix = f"accuracy.{workload}."
        wanted = [column for column in asked.columns if column.startswith(prefix)]
        usual = [named(f"{prefix}{SNR}", swept), f"{prefix}loss"]
        known = [column for column in [*wanted, *usual] if any(value_of(column, record) is not None for record in records)]
        found += [column for column in known if column in wanted] or known[:1]
    return list(dict.fromkeys(found))


def asked_first(measures: Sequence[str], asked: Asked) -> list[str]:
    """The measures, those first that are limited or made best."""
    return sorted(measures, key=lambda measure: measure not in asked.columns)


def rank(column: str, record: Record) -> float | None:
    """The value of a column, signed so that less is better; None where it has none, or no better end."""
    value, better = value_of(column, record), described(column, True).better
    if value is None or better is None:
        return None
    return {"low": float(value), "high": -float(value), "zero": abs(float(value))}[better]


def fronts(records: Sequence[Record], x: str, y: str) -> list[list[int]]:
    """The numbers of the records on the front of two columns: a front for each library of cells, since costs in different
    ones do not compare."""
    found = []
    for cells in by_cells(filter(is_candidate, records)):
        of_cells = [is_candidate(record) and cells_of(record) == cells for record in records]
        pairs = [
            (rank(x, record), rank(y, record)) if kept else (None, None)
            for record, kept in zip(records, of_cells, strict=True)
        ]
        if numbers := front(pairs):
            found.append(numbers)
    return found


def cells_of(record: Record) -> str:
    """The library of cells of a record's costs; empty where there are none."""
    return str(value_at(record, "cost", "wanted", "library") or "")


def by_cells(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Records by the library of cells of their costs: nothing is compared across libraries."""
    found: dict[str, list[Record]] = {}
    for record in records:
        found.setdefault(cells_of(record), []).append(record)
    return found


def on_front(records: Sequence[Record], asked: Asked) -> list[Record]:
    """The points that are on the front of the first cost and some measure of accuracy, the smallest first."""
    costs = [*costs_of(records, asked).values()]
    if not costs:
        return []
    numbers = {
        number for measure in measures_of(records, asked) for each in fronts(records, costs[0], measure) for number in each
    }
    return sorted(
        (records[number] for number in numbers),
        key=lambda record: (cells_of(record), rank(costs[0], record) or 0.0, record["name"]),
    )


def uncertainty(column: str, record: Record) -> float | None:
    """`SURE` standard errors of a signal-to-noise ratio; None where a column or a record has none."""
    for which in ("total", "quantisation", "arithmetic"):
        end = f".{which}_{SNR}"
        if column.endswith(end):
            error = value_of(f"{column.removesuffix(end)}.{STANDARD_ERROR}.{which}", record)
            return None if error is None else SURE * error
    return None


def are_equal(column: str, one: Record, other: Record) -> bool:
    """Whether two values of a column are the same, or differ by less than their uncertainty.

    Both are taken as if from samples of their own: where they are of the same rows, fewer pairs are equal than this says.
    """
    first, second = value_of(column, one), value_of(column, other)
    if first is None or second is None or first == second:
        return first == second
    errors = [uncertainty(column, record) for record in (one, other)]
    return None not in errors and abs(first - second) <= math.hypot(*(error or 0.0 for error in errors))


CUT = " with cut blocks"
"""What names of workloads end in whose rows have no whole blocks of some unit."""


def short_names(records: Sequence[Record]) -> dict[str, str]:
    """A name of each workload without the settings that it shares with all others: its first word where no other has it;
    then a remark where it cuts the blocks of some unit."""
    names = workloads(records)
    first = [name.partition(" ")[0] for name in names]
    cut = {name for record in records for name in record.get("cut_blocks") or ()}
    words = {name: word if first.count(word) == 1 else name for name, word in zip(names, first, strict=True)}
    return {name: f"{word}{CUT}" if name in cut else word for name, word in words.items()}


def label(column: str, short: Mapping[str, str]) -> str:
    """What a column is, without its unit: the measure, then the workload."""
    for workload in sorted(short, key=len, reverse=True):
        if column.startswith(f"accuracy.{workload}."):
            measure = described(f"accuracy.x.{column.removeprefix(f'accuracy.{workload}.')}", True).label
            return f"{measure.removeprefix('x: ')}, {short[workload]}"
    return described(column, True).label


def title(column: str, short: Mapping[str, str]) -> str:
    """The label of a column with its unit."""
    unit = described(column, True).unit
    return f"{label(column, short)} ({unit})" if unit else label(column, short)


def limit_text(limit: Constraint, short: Mapping[str, str]) -> str:
    """A limit in words."""
    sign = "≥" if limit.key.startswith(AT_LEAST) else "≤"
    if limit.parameter is not None:
        return f"{limit.column} {sign} {value_as_text(limit.limit)}"
    column = _flat_cost(limit.column) or limit.column
    return f"{label(column, short)} {sign} {limit.limit:g} {described(column, True).unit}".strip()


def beyond_text(record: Record, asked: Asked, short: Mapping[str, str]) -> str:
    """Which limits of the space a record does not keep, in words; empty where it keeps all."""
    found = []
    for limit in asked.constraints if record["kind"] == "point" and record.get("beyond") else ():
        value = None if limit.parameter else value_of(limit.column, record)
        if value is not None and limit.broken(value):
            column = _flat_cost(limit.column) or limit.column
            found.append(f"{number(value)} {described(column, True).unit}".strip() + f": not {limit_text(limit, short)}")
    return "; ".join(found)


def number(value: float | None) -> str:
    """A value in four digits."""
    if value is None:
        return "–"
    if math.isinf(value):
        return "no error" if value > 0 else "−∞"
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e7 else f"{value:.4g}"


def shared_words(names: Sequence[str]) -> str:
    """The words that all names of points have, in the order of the first one."""
    first, *others = (name.split() for name in names)
    return " ".join(word for word in first if all(word in other for other in others))


def arithmetics(records: Sequence[Record]) -> dict[str, str]:
    """What the arithmetic of each record is called, by the record's name: the words that all points of this arithmetic have
    in theirs. Points that differ in how they are built alone have the same errors."""
    groups: dict[str, list[str]] = {}
    for record in records:
        built = ("implementation.", "array.")
        keys = {key: value for key, value in record["parameters"].items() if not key.startswith(built)}
        groups.setdefault(json.dumps([record["kind"], keys], sort_keys=True), []).append(str(record["name"]))
    found: dict[str, str] = {}
    for names in groups.values():
        words = shared_words(names)
        found |= dict.fromkeys(names, words if words and words not in found.values() else names[0])
    return found


def varied(records: Sequence[Record]) -> dict[str, list[object]]:
    """The labels of the keys that points differ in, with their values: numbers in order, others as they come."""
    found: dict[str, dict[object, None]] = {}
    for record in records:
        for key, value in (record.get("axes") or {}).items():
            found.setdefault(key, {})[value] = None
    return {key: sorted_values(list(values)) for key, values in found.items()}


def sorted_values(values: Sequence[object]) -> list[object]:
    """Values in order, if all are numbers."""
    numbers = [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
    return [*sorted(numbers)] if len(numbers) == len(values) else list(values)


def pairs_of(records: Sequence[Record], key: str, one: object, other: object) -> Iterator[tuple[Record, Record]]:
    """Points that differ in nothing but one key, in one library of cells: that with one value, and that with the other."""
    by_rest: dict[tuple[str, tuple[tuple[str, object], ...]], dict[object, Record]] = {}
    for record in records:
        axes = dict(record.get("axes") or {})
        if key in axes:
            value = axes.pop(key)
            by_rest.setdefault((cells_of(record), tuple(axes.items())), {})[value] = record
    for found in by_rest.values():
        if one in found and other in found:
            yield found[one], found[other]
