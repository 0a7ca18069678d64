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
from mmau.explore.answers import NO_WIRES
from mmau.explore.columns import Column, columns
from mmau.explore.records import (
    STATUSES,
    Record,
    components,
    equal_work,
    error_of,
    flattened,
    histogram,
    is_candidate,
    missing_columns,
    numbers_of_products,
    value_at,
    verdict,
    workloads,
)

SCRIPTS = ("unpack.js", "values.js", "filters.js", "scatter.js", "table.js", "charts.js", "dialog.js", "main.js")

FIRST = (
    "cost.area_um2", "cost.delay_ns", "cost.energy_pj", "cost.power_mw", "cost.cells", "cost.depth",
)  # fmt: skip
"""Columns of cost in the order in which the table shows them. The first one with values is the horizontal axis of the plot.
"""

FIRST_MEASURES = ("total_snr_db", "ulp.mean", "bias.mean_ulp")
"""Columns of each of the first workloads that the table shows first, behind the error of the plots."""

FIRST_WORKLOADS = 2

OPENED = 10
"""Number of messages that are open at first."""

_PLACE = re.compile(r"\{\{([a-z-]+)\}\}")


def page(records: Sequence[Record], title: str, space: str, estimates: Sequence[str] = ()) -> str:
    """The page.

    Args:
        space: the text of the space's TOML file; it is omitted if empty. estimates: sentences about those of other points.

    Raises:
        ModuleNotFoundError: plotly is not installed.
    """
    from plotly.offline import get_plotlyjs

    plotly, script = str(get_plotlyjs()), '"use strict";\n' + "\n".join(_asset(name) for name in SCRIPTS)
    return _filled(
        _asset("page.html"),
        {
            "title": html.visible(title),
            "style": html.STYLE + _asset("report.css"),
            "summary": joined((summary(records), *(element("p", sentence) for sentence in estimates))),
            "problems": problems(records),
            "missing": missing(records),
            "tools": tools(records),
            "space": details("The space, as TOML", element("pre", space, tabindex="0")) if space else "",
            "data": _json(data(records)),
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


def data(records: Sequence[Record]) -> dict[str, Any]:
    """The data of the page's scripts."""
    found = columns(records)
    keys = {column.key for column in found}
    numbers, error = [column.key for column in found if column.number], error_of(records)
    swept = list(dict.fromkeys(f"parameters.{name}" for record in records for name in record.get("swept") or ()))
    errors = [key for name in workloads(records) if (key := f"accuracy.{name}.{error}") in numbers]
    costs = list(dict.fromkeys(found for key in FIRST for found in (equal_work(records, key), key) if found in keys))
    first = [
        f"accuracy.{name}.{measure}" for name in workloads(records)[:FIRST_WORKLOADS] for measure in (error, *FIRST_MEASURES)
    ]
    return {
        "columns": [{**column._asdict(), "title": column.title} for column in found],
        "points": [point(record, found) for record in records],
        "swept": [key for key in swept if key in keys],
        "chosen": [key for key in [column.key for column in found] if key in {*swept, *costs, *first}],
        "steps": [key for key in costs if equal_work(records, key) != key],
        "workloads": [name for name in workloads(records) if any(histogram(record, name) for record in records)],
        "x": next(iter([*costs, *numbers]), None),
        "y": next(iter([*errors, *numbers]), None),
    }


def point(record: Record, found: Sequence[Column]) -> dict[str, Any]:
    """The data of one point: its named fields, and its values in the order of the columns."""
    flat, proved = flattened(record), verdict(record)
    fields = {key: record.get(key) for key in ("name", "kind", "status", "message", "toml", "unit", "verilog")}
    return fields | {
        "verdict": proved.text,
        "state": proved.state,
        "candidate": is_candidate(record),
        "values": [_sendable(flat.get(column.key), column.number) for column in found],
        "histograms": {name: histogram(record, name) for name in workloads([record])},
        "components": components(record),
        "missing": {f"cost.{key}": str(why) for key, why in (value_at(record, "cost", "missing") or {}).items()},
    }


def _sendable(value: Any, number: bool) -> Any:
    """A value as JSON can hold it: infinities and NaN as text, truth values of a mixed column too."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value if number or value is None or isinstance(value, str) else json.dumps(value)


def summary(records: Sequence[Record]) -> Markup:
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
        lines.append(
            element(
                "p", f"A step takes {few} products. For equal work compare costs per product, which the plots begin with."
            )
        )
    return joined(lines)


def problems(records: Sequence[Record]) -> Markup:
    """The points that are not done, and others that have a message; nothing where there are none."""
    rows = [
        (record["name"], element("span", record["status"], class_="failed"), str(record.get("message") or ""))
        for record in records
        if record["status"] != "done" or record.get("message")
    ]
    if not rows:
        return Markup("")
    title = f"Invalid, failed and timed-out points, and other messages ({len(rows):,})"
    table = html.table(("point", "status", "message"), rows, "Points that are not done, and messages of others")
    return element("section", details(title, table, opened=len(rows) <= OPENED), class_="problems", id="problems")


def missing(records: Sequence[Record]) -> Markup:
    """Why columns have no value; nothing where all have."""
    found = missing_columns(records)
    if not found:
        return Markup("")
    rows = [(column, reason, f"{len(names):,}") for (column, reason), names in found.items()]
    heading = element("h2", "Missing values", id="missing")
    return element(
        "section", heading, html.table(("column", "reason", "points"), rows, "Why a column is empty", numbers=(2,))
    )


def tools(records: Sequence[Record]) -> Markup:
    """The tools that the cost was measured with, clock and activity; nothing where the records name none."""
    found = [
        dict.fromkeys(
            f"{name} {value}" for record in records for name, value in (value_at(record, "cost", key) or {}).items()
        )
        for key in ("tools", "wanted")
    ]
    lines = [
        f"{label}: {', '.join(each)}."
        for label, each in zip(("Cost measured with", "Asked for"), found, strict=True)
        if each
    ]
    return element("p", " ".join([*lines, NO_WIRES]), class_="soft") if lines else Markup("")
