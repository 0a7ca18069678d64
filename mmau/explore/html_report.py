"""report.html: one page that contains everything it shows, and loads nothing."""

import base64
import hashlib
import json
import lzma
import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from golden import html
from golden.html import Markup, details, element, joined
from mmau.explore.answers import ABOUT_CHANGES, ANSWER, answered, changes, head
from mmau.explore.columns import Column, columns, flat_name
from mmau.explore.compared import (
    arithmetics,
    asked_first,
    beyond_text,
    cells_of,
    costs_of,
    label,
    limit_text,
    measures_of,
    short_names,
    uncertainty,
)
from mmau.explore.design_space import NOTHING_ASKED, Asked
from mmau.explore.premises import about_costs, measured, parts_of_area
from mmau.explore.records import (
    STATUSES,
    Record,
    components,
    equal_work,
    flattened,
    histogram,
    is_candidate,
    is_number,
    missing_columns,
    number_of,
    numbers_of_products,
    reasons,
    value_at,
    verdict,
    workloads,
)
from mmau.explore.styles import Styles, hues
from mmau.report.figures import COLOURS

SCRIPTS = ("unpack.js", "values.js", "filters.js", "scatter.js", "table.js", "charts.js", "dialog.js", "main.js")

OPENED = 10
"""Number of messages that are open at first."""

_PLACE = re.compile(r"\{\{([a-z-]+)\}\}")


def page(
    records: Sequence[Record], heading: str, space: str, asked: Asked = NOTHING_ASKED, estimates: Sequence[str] = ()
) -> str:
    """The page.

    Args:
        space: the text of the space's TOML file; it is omitted if empty. asked: its limits and objectives, which the plot
            begins with. estimates: sentences about those of other points.

    Raises:
        ModuleNotFoundError: plotly is not installed.
    """
    from plotly.offline import get_plotlyjs

    plotly, script = str(get_plotlyjs()), '"use strict";\n' + "\n".join(_asset(name) for name in SCRIPTS)
    return _filled(
        _asset("page.html"),
        {
            "title": html.visible(heading),
            "style": html.STYLE + _asset("report.css"),
            "summary": joined((summary(records, asked), *(element("p", sentence) for sentence in estimates))),
            "measured": premises(records, asked),
            "asked": questions(records, asked),
            "changes": changed(records, asked),
            "problems": problems(records, asked),
            "missing": missing(records),
            "tools": tools(records, asked),
            "space": details("The space, as TOML", element("pre", space, tabindex="0")) if space else "",
            "data": _json(data(records, asked)),
            "plotly": base64.b64encode(packed(plotly.encode())).decode(),
            "script": script,
            "script-hashes": " ".join(_hash(text) for text in (plotly, script)),
        },
    )


@cache
def packed(content: bytes) -> bytes:
    """LZMA, as assets/unpack.js takes it apart: a quarter less than what browsers unpack themselves."""
    filters = [{"id": lzma.FILTER_LZMA1, "preset": 6, "pb": 0, "dict_size": 1 << 23}]
    found = lzma.compress(content, lzma.FORMAT_ALONE, filters=filters)
    return found[:5] + len(content).to_bytes(8, "little") + found[13:]  # the size, which the library leaves open


def _asset(name: str) -> str:
    return (files("mmau.explore") / "assets" / name).read_text(encoding="utf-8")


def _filled(template: str, values: Mapping[str, str]) -> str:
    """The template with its places filled, in one pass, so that a place in a value is not filled."""
    return _PLACE.sub(lambda match: values[match[1]], template)


def _hash(script: str) -> str:
    """The hash under which the page's policy permits exactly this script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def _json(value: Any) -> str:
    """JSON for a script element: `<` is escaped, so that no text can end the element."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def data(records: Sequence[Record], asked: Asked = NOTHING_ASKED) -> dict[str, Any]:
    """The data of the page's scripts."""
    found = columns(records)
    keys = {column.key for column in found}
    numbers = [column.key for column in found if column.number]
    swept = list(dict.fromkeys(f"axes.{name}" for record in records for name in record.get("axes") or {}))
    costs, short = [*costs_of(records, asked).values()], short_names(records)
    measures = asked_first(measures_of(records, asked), asked)
    limits = [(flat_name(limit.column), limit) for limit in asked.limits if limit.parameter is None]
    lacking = reasons(records)
    of_each = arithmetics(records)
    titles = {column.key: head(column.key, short, records) for column in found}
    return {
        "columns": [column._asdict() | {"label": label(column.key, short), "title": titles[column.key]} for column in found],
        "points": [
            point(record, found)
            | {"arithmetic": of_each[record["name"]]}
            | {"missing": lacking.get(record["name"], {})}
            | {"beyond": "; ".join(filter(None, (record.get("late"), beyond_text(record, asked, short))))}
            for record in records
        ],
        "swept": [key for key in swept if key in keys],
        "styles": {f"axes.{key}": _styles(values) for key, values in Styles(records).values.items()},
        "chosen": [key for key in [*measures, *costs] if key in keys],
        "steps": [column.key for column in found if equal_work(records, column.key) != column.key],
        "limits": [
            {"key": key, "at": at, "text": text}
            for key, at, text in dict.fromkeys((key, each.limit, limit_text(each, short)) for key, each in limits)
        ],
        "parts": parts_of_area(records),
        "workloads": [name for name in workloads(records) if any(histogram(record, name) for record in records)],
        "x": next(iter([*costs, *numbers]), None),
        "y": next(iter([*(key for key in measures if key in numbers), *numbers]), None),
    }


def point(record: Record, found: Sequence[Column]) -> dict[str, Any]:
    """The data of one point: its named fields, and its values in the order of the columns."""
    flat, proved = flattened(record), verdict(record)
    fields = {key: record.get(key) for key in ("name", "kind", "status", "message", "toml", "unit", "verilog")}
    return fields | {
        "verdict": proved.text,
        "state": proved.state,
        "candidate": is_candidate(record),
        "cells": cells_of(record),
        "area": number_of(record, "cost.area_um2"),
        "values": [_sendable(flat.get(column.key), column.number) for column in found],
        "histograms": {name: histogram(record, name) for name in workloads([record])},
        "components": components(record),
        "errors": {
            column.key: max(error, 0.1) for column in found if (error := uncertainty(column.key, record)) is not None
        },
    }


def _styles(values: Sequence[object]) -> list[list[object]]:
    """The values of a key with their colours: those of the page's palette by name, since each theme has its own."""
    number = all(map(is_number, values))
    named = {colour: f"--{place + 1}" for place, colour in enumerate(COLOURS)}
    return [[_sendable(value, number), named.get(colour, colour)] for value, colour in hues(values).items()]


def _sendable(value: Any, number: bool) -> Any:
    """A value as JSON can hold it: infinities and NaN as text, truth values of a mixed column too."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value if number or value is None or isinstance(value, str) else json.dumps(value)


def questions(records: Sequence[Record], asked: Asked) -> Markup:
    """The questions and limits of the space, and their answers; nothing where there are none."""
    found = list(answered(records, asked, [*costs_of(records, asked).values()], short_names(records)))
    if not found:
        return Markup("")
    rows = [(": ".join(filter(None, (name, asks))), *cells) for name, asks, _, cells in found]
    heads = ("question", *["cells"] * (len(rows[0]) > len(ANSWER) + 1), *ANSWER)
    table = html.table(heads, rows, "What the space asks, and which point answers it")
    return element("section", element("h2", "Questions", id="asked"), table)


def premises(records: Sequence[Record], asked: Asked) -> Markup:
    """What was measured, in sentences."""
    sentences = [element("li", sentence) for sentence in measured(records, asked)]
    return element("section", element("h2", "What was measured", id="measured"), element("ul", *sentences))


def changed(records: Sequence[Record], asked: Asked) -> Markup:
    """What each key changes; nothing where no points differ in one alone."""
    tables = [
        html.table(each.heads, [[_KEPT.sub("\u00a0", cell) for cell in row] for row in each.rows], each.key, each.numbers)
        for each in changes(records, asked)
    ]
    if not tables:
        return Markup("")
    heading = element("h2", "What each key changes", id="changes")
    return element("section", heading, element("p", ABOUT_CHANGES, class_="soft"), *tables, class_="changes")


_KEPT = re.compile(r" (?=→|to |%)|(?<=→) |(?<=\bto) ")
"""The blanks of a change at which no line ends."""


def summary(records: Sequence[Record], asked: Asked = NOTHING_ASKED) -> Markup:
    """The number of points, by their status, and how many were verified."""
    counts = [(status, sum(record["status"] == status for record in records)) for status in STATUSES]
    references = sum(record["kind"] == "reference" for record in records)
    verdicts = [verdict(record).state for record in records if record["status"] == "done"]
    agree, differ = verdicts.count("agrees"), verdicts.count("differs")
    how_many = (
        f"Points: {len(records) - references:,}; instructions of the catalogue beside them: {references:,}. Together: "
    )
    lines = [
        element("p", how_many + ", ".join(f"{count:,} {status}" for status, count in counts if count) + "."),
        element(
            "p",
            f"Of those that are done, co-simulated without a mismatch: {agree:,}; not co-simulated: "
            f"{verdicts.count('not compared'):,}. ",
            *([element("span", f"Circuits that differ from their models: {differ:,}.", class_="failed")] if differ else []),
        ),
    ]
    products = numbers_of_products(records)
    if len(products) > 1:
        few = f"{', '.join(map(str, products[:-1]))} or {products[-1]}"
        first = next(iter(costs_of(records, asked).values()), "")
        begun = f": the plots begin with {label(first, {})}" if first.endswith(("_per_product", "_per_mac")) else ""
        lines.append(element("p", f"A step takes {few} products. For equal work compare costs per product{begun}."))
    return joined(lines)


def problems(records: Sequence[Record], asked: Asked = NOTHING_ASKED) -> Markup:
    """The points that are not done, and others that have a message; nothing where there are none."""
    short = short_names(records)
    rows = [
        (record["name"], element("span", status, class_="failed"), message)
        for record in records
        for status, message in (
            (record["status"] if record["status"] != "done" else "note", str(record.get("message") or "")),
            ("beyond its clock", str(record.get("late") or "")),
            ("beyond a limit", beyond_text(record, asked, short)),
        )
        if message
    ]
    if not rows:
        return Markup("")
    heading = f"Points that are not done or beyond a limit, and other messages ({len(rows):,})"
    table = html.table(("point", "status", "message"), rows, "Points that are not done, and messages of others")
    return element("section", details(heading, table, opened=len(rows) <= OPENED), class_="problems", id="problems")


def missing(records: Sequence[Record]) -> Markup:
    """Why columns have no value; nothing where all have."""
    found = missing_columns(records)
    if not found:
        return Markup("")
    alike: dict[tuple[str, int], list[str]] = {}
    for (column, reason), names in found.items():
        alike.setdefault((reason, len(names)), []).append(column)
    rows = [(", ".join(columns), reason, f"{count:,}") for (reason, count), columns in alike.items()]
    heading = element("h2", "Missing values", id="missing")
    return element(
        "section", heading, html.table(("columns", "reason", "points"), rows, "Why a column is empty", numbers=(2,))
    )


def tools(records: Sequence[Record], asked: Asked) -> Markup:
    """What the costs are and are not, the tools that they were measured with, and what the space asks of them; nothing where
    the records name none."""
    found = [
        dict.fromkeys(
            f"{name} {value}"
            for record in records
            for name, value in (value_at(record, "cost", key) or {}).items()
            if key == "tools" or name in asked.cost
        )
        for key in ("tools", "wanted")
    ]
    lines = [
        f"{label}: {', '.join(each)}."
        for label, each in zip(("Cost measured with", "Asked for"), found, strict=True)
        if each
    ]
    if not lines:
        return Markup("")
    said = element("ul", *(element("li", each) for each in [*about_costs(records), *lines]), class_="soft")
    return element("section", element("h2", "How far to trust the costs", id="costs"), said)
