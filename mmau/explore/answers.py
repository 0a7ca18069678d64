"""answers.md: the front of a space, the best point of each column and under each limit, and the units' files."""

from collections.abc import Iterator, Sequence
from typing import Any

from golden.text import value_as_text
from mmau.explore.columns import described, value_of
from mmau.explore.design_space import AT_LEAST, Constraint
from mmau.explore.records import (
    Record,
    components,
    equal_work,
    error_of,
    front_of,
    is_candidate,
    number_of,
    value_at,
    workloads,
)

AREA, ERROR_MEASURES = "cost.area_um2", ("total_snr_db", "arithmetic_snr_db")

COSTS = (
    AREA, "cost.delay_ns", "cost.energy_pj", "cost.array_area_um2_per_mac", "cost.array_energy_pj_per_mac",
    "cost.tops_per_mm2", "cost.tops_per_watt",
)  # fmt: skip
"""The costs of the tables, where they were measured."""

MOST = 40
"""Most points of the table of the front."""

NO_WIRES = (
    "Areas and energies are those of mapped gates and registers, without wires and a clock tree: they compare designs, and "
    "are no forecast of a layout."
)


def answers(
    records: Sequence[Record], title: str, constraints: Sequence[Constraint] = (), estimates: Sequence[str] = ()
) -> str:
    """The page.

    Args:
        constraints: the limits of the space; a winner is named under each by itself, and under all.
        estimates: sentences about those of other points.
    """
    columns = shown_columns(records)
    front = on_front(records)
    reproduced: dict[str, Record] = {}
    lines = [f"# {title}", "", *_counts(records), ""]
    if estimates:
        lines += ["## Estimates", "", *(f"- {sentence}" for sentence in estimates), ""]
    if front:
        reproduced |= {record["name"]: record for record in front}
        said = f"No other point has both a smaller {_area_label(records)} and a smaller error, on some workload."
        lines += ["## The front", "", said, "", *_table(front[:MOST], columns)]
        if len(front) > MOST:
            lines += [f"{len(front) - MOST} more are in results.csv.", ""]
    best = list(_winners(records, columns))
    if best:
        lines += ["## The best of each column", "", "| best | point | value |", "| --- | --- | ---: |"]
        lines += [f"| {what} | {_cell(record['name'])} | {value} |" for what, record, value in best] + [""]
    if limits := list(_under(records, constraints)):
        lines += [f"## The smallest {_area_label(records)} under each limit", "", "| limit | point |", "| --- | --- |"]
        lines += [f"| {what} | {'none' if record is None else _cell(record['name'])} |" for what, record in limits] + [""]
    chosen = [record for _, record, _ in best] + [record for _, record in limits if record is not None]
    reproduced |= {record["name"]: record for record in chosen}
    if any(number_of(record, column) is not None for record in records for column in columns if column.startswith("cost.")):
        lines += [NO_WIRES, ""]
    lines += ["## The units", ""] if reproduced else []
    for record in reproduced.values():
        lines += [f"{record['name']}:", "", "```toml", record["toml"].rstrip(), "```", ""]
    return "\n".join(lines)


def on_front(records: Sequence[Record]) -> list[Record]:
    """The points that are on the front of area and error of some workload, the smallest first."""
    area, error = equal_work(records, AREA), error_of(records)
    numbers = {number for name in workloads(records) for number in front_of(records, area, f"accuracy.{name}.{error}")}
    return sorted(
        (records[number] for number in numbers), key=lambda record: (number_of(record, area) or 0.0, record["name"])
    )


def representatives(records: Sequence[Record], most: int) -> tuple[list[Record], str]:
    """At most so many records for a plot, and words that say which: all, or those on the front, evenly spread over it."""
    if len(records) <= most:
        return list(records), ""
    front = on_front(records) or sorted(filter(is_candidate, records), key=lambda record: str(record["name"]))
    kept = front or list(records)
    if len(kept) > most:
        kept = [kept[number * (len(kept) - 1) // (most - 1)] for number in range(most)]
    return kept, f", {len(kept)} of {len(records)} points, along the front of area and error"


def shown_columns(records: Sequence[Record]) -> list[str]:
    """The columns of the tables."""
    wanted = [equal_work(records, cost) for cost in COSTS]
    wanted += [f"accuracy.{name}.{measure}" for name in workloads(records) for measure in ERROR_MEASURES]
    return [column for column in dict.fromkeys(wanted) if any(number_of(record, column) is not None for record in records)]


def arrays(records: Sequence[Record]) -> list[dict[str, Any]]:
    """What a model of a system needs of each point with an array: its file, and its costs."""
    found = []
    for record in records:
        cost = record.get("cost") or {}
        figures = {key.removeprefix("array_"): value for key, value in cost.items() if key.startswith("array_")}
        if figures:
            named = {key: record[key] for key in ("name", "status", "parameters", "toml")}
            found.append({**named, "wanted": cost["wanted"], **figures})
    return found


def _area_label(records: Sequence[Record]) -> str:
    return described(equal_work(records, AREA), True).label


def _counts(records: Sequence[Record]) -> list[str]:
    points = [record for record in records if record["kind"] == "point"]
    done = sum(record["status"] == "done" for record in points)
    mapped = sum(bool(components(record)) for record in points)
    return [f"{len(points)} points, {done} of them done, {mapped} mapped to cells."]


def _table(rows: Sequence[Record], columns: Sequence[str]) -> list[str]:
    heads = [described(column, True).title for column in columns]
    lines = ["| " + " | ".join(["point", *heads]) + " |", "| --- |" + " ---: |" * len(heads)]
    lines += [
        "| " + " | ".join([_cell(row["name"]), *(_number(number_of(row, column)) for column in columns)]) + " |"
        for row in rows
    ]
    return [*lines, ""]


def _cell(text: Any) -> str:
    return str(text).replace("|", "\\|")


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


def _winners(records: Sequence[Record], columns: Sequence[str]) -> Iterator[tuple[str, Record, str]]:
    """The best point of each column with a better end."""
    for column in columns:
        about = described(column, True)
        held = [
            (value, record) for record in records if _is_point(record) and (value := number_of(record, column)) is not None
        ]
        if held and about.better in ("low", "high"):
            sign = 1 if about.better == "low" else -1
            value, record = min(held, key=lambda pair: (sign * pair[0], pair[1]["name"]))
            yield about.title, record, _number(value)


def _is_point(record: Record) -> bool:
    return record["kind"] == "point" and is_candidate(record)


def _under(records: Sequence[Record], constraints: Sequence[Constraint]) -> Iterator[tuple[str, Record | None]]:
    """The smallest point under each limit by itself, whatever the others say of it, and under all."""
    area = equal_work(records, AREA)

    def smallest(kept: Sequence[Record]) -> Record | None:
        held = [(value, record["name"], record) for record in kept if (value := number_of(record, area)) is not None]
        return min(held, key=lambda entry: entry[:2])[2] if held else None

    for each in constraints:
        what = f"{each.column} {'≥' if each.key.startswith(AT_LEAST) else '≤'} {value_as_text(each.limit)}"
        yield what, smallest([record for record in records if record["kind"] == "point" and _keeps(record, each)])
    if constraints:
        yield "all", smallest([record for record in records if _is_point(record)])


def _keeps(record: Record, limit: Constraint) -> bool:
    value = value_at(record, "parameters", limit.parameter) if limit.parameter else value_of(limit.column, record)
    return isinstance(value, (int, float)) and not limit.broken(value)
