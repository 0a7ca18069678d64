"""Plots of the points as SVG and PNG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from golden.text import value_as_text
from mmau.explore.answers import representatives
from mmau.explore.columns import described
from mmau.explore.records import (
    Record,
    components,
    equal_work,
    error_of,
    front_of,
    histogram,
    is_number,
    number_of,
    verdict,
    workloads,
)
from mmau.report.figures import COLOURS, drawing, image

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

AGAINST = {"area": "cost.area_um2", "delay": "cost.delay_ns", "energy": "cost.energy_pj"}
"""File name and column of the horizontal axis of each accuracy plot. Costs are divided by the number of products where
points have different numbers."""

SHAPES = ("o", "s", "^", "D", "v", "P", "<", ">")
"""The shapes of points, as many as there are colours."""

LABELS = 12
"""Most points of a front that are named in a plot."""

DISTRIBUTIONS = 8
"""Most points whose error distributions share one plot."""

BARS = 40
"""Most points whose areas are shown by component."""

GRID = 0.25
"""Opacity of the grid."""

NAMES = tuple(
    f"{name}.{kind}"
    for name in (*(f"accuracy-{name}" for name in AGAINST), "error-distributions", "area-by-component")
    for kind in ("svg", "png")
)
"""Every file that `figures` can make."""


def figures(records: Sequence[Record], title: str) -> dict[str, bytes]:
    """The plots that the records have values for: file name to content.

    Raises:
        ModuleNotFoundError: matplotlib is not installed.
    """
    with drawing():
        drawn = [*(accuracy_against(records, equal_work(records, cost), title) for cost in AGAINST.values())]
        drawn += [distributions(records, title), areas(records, title)]
        pairs = [(figure, kind) for figure in drawn for kind in ("svg", "png")]
        return {name: image(figure, kind) for name, (figure, kind) in zip(NAMES, pairs, strict=True) if figure is not None}


def accuracy_against(records: Sequence[Record], cost: str, title: str) -> Figure | None:
    """The error over a cost, a panel for each workload, with the Pareto front; None where no point has both."""
    error = error_of(records)
    shown = [
        workload
        for workload in workloads(records)
        if any(record["status"] == "done" and _pair(record, cost, workload, error) for record in records)
    ]
    if not shown:
        return None
    figure, panels = _panels(len(shown), f"{title}: {_label(error)} against {described(cost, True).label}")
    for axes, workload in zip(panels, shown, strict=True):
        _scatter(axes, records, cost, workload, error)
    _legend(figure, records)
    return figure


def _values_of_axis(records: Sequence[Record], place: int) -> tuple[str, list[Any]]:
    """The swept key at some place, and its values; none beyond as many as there are colours."""
    swept = list(dict.fromkeys(key for record in records for key in record.get("swept") or ()))
    if place >= len(swept):
        return "", []
    key = swept[place]
    values = dict.fromkeys(record["parameters"].get(key) for record in records if record["kind"] == "point")
    return key, sorted(
        values, key=lambda value: (not isinstance(value, (int, float)), value if is_number(value) else 0, str(value))
    )


def _place(record: Record, axis: tuple[str, list[Any]]) -> int:
    key, values = axis
    if not values:
        return 0
    number = values.index(record["parameters"].get(key))
    return number if len(values) <= len(COLOURS) else number * len(COLOURS) // len(values)


def _legend(figure: Figure, records: Sequence[Record]) -> None:
    """What colours, shapes and fillings mean, beside the panels."""
    from matplotlib.lines import Line2D

    entries = []
    for number, (key, values) in enumerate(_values_of_axis(records, place) for place in (0, 1)):
        for place in range(min(len(values), len(COLOURS))):
            of_place = [value for value in values if _place({"parameters": {key: value}}, (key, values)) == place]
            text = value_as_text(of_place[0]) + (f" … {value_as_text(of_place[-1])}" if len(of_place) > 1 else "")
            colour, marker = (COLOURS[place], "s") if number == 0 else ("#444444", SHAPES[place])
            label = f"{key.rpartition('.')[2]} {text}"
            entries.append(Line2D([], [], color=colour, marker=marker, linestyle="none", label=_plain(label)))
    states = {verdict(record).state for record in records if record["status"] == "done" and record["kind"] == "point"}
    for state in sorted(states):
        face, marker = ("#444444" if state == "agrees" else "none"), "x" if state == "differs" else "o"
        style: dict[str, Any] = {"color": "#444444", "markerfacecolor": face, "linestyle": "none"}
        entries.append(Line2D([], [], marker=marker, label=STATES[state], **style))
    if any(record["kind"] == "reference" for record in records):
        entries.append(
            Line2D([], [], color=COLOURS[1], marker="*", markerfacecolor="none", linestyle="none", label="reference")
        )
    entries.append(Line2D([], [], color="#666666", linewidth=1, label="Pareto front"))
    figure.legend(handles=entries, fontsize="small", loc="outside right upper")


def _label(error: str) -> str:
    """What an error is of, on an axis."""
    return "relative error (99th percentile)" + ", with that of quantisation" * error.startswith("total.")


STATES = {"agrees": "co-simulated", "not compared": "not co-simulated", "differs": "circuit differs"}


def _pair(record: Record, cost: str, workload: str, error: str) -> tuple[float, float] | None:
    """The coordinates of a point; None if a value is missing or infinite."""
    x, y = number_of(record, cost), number_of(record, f"accuracy.{workload}.{error}")
    return (float(x), float(y)) if x is not None and y is not None and math.isfinite(x) and math.isfinite(y) else None


def _scatter(axes: Axes, records: Sequence[Record], cost: str, workload: str, error: str) -> None:
    """One panel, of the records that are done: the first swept key gives the colour of a point, the second one its shape.
    Filled: co-simulated without a mismatch; open: not co-simulated; a cross: its circuit differs from its model; a star: an
    instruction of the catalogue."""
    from matplotlib.ticker import MaxNLocator

    colours, shapes = (_values_of_axis(records, place) for place in (0, 1))
    drawn: dict[tuple[str, int, int], list[tuple[float, float]]] = {}
    named = []
    for record in records:
        pair = _pair(record, cost, workload, error)
        if pair is None or record["status"] != "done":
            continue
        is_point = record["kind"] == "point"
        state = verdict(record).state if is_point else record["kind"]
        places = (_place(record, colours), _place(record, shapes)) if is_point else (1, 0)
        drawn.setdefault((state, *places), []).append(pair)
        named += [] if is_point else [(record["name"].rpartition(":")[2], pair)]
    for (state, colour, shape), pairs in drawn.items():
        style: dict[str, Any] = {"color": COLOURS[colour], "marker": "x"}
        if state != "differs":
            marker = "*" if state == "reference" else SHAPES[shape]
            face = COLOURS[colour] if state == "agrees" else "none"
            style = {"edgecolors": COLOURS[colour], "marker": marker, "facecolors": face}
        x, y = zip(*pairs, strict=True)
        axes.scatter(x, y, s=60 if state == "reference" else 28, zorder=3, **style)
    numbers = front_of(records, cost, f"accuracy.{workload}.{error}")
    best = sorted(pair for number in numbers if (pair := _pair(records[number], cost, workload, error)) is not None)
    if best:
        x_values, y_values = zip(*best, strict=True)
        axes.step(x_values, y_values, where="post", color="#666666", linewidth=1, zorder=2, label="Pareto front")
        at_front = {
            pair: records[number]["name"] for number in numbers if (pair := _pair(records[number], cost, workload, error))
        }
        named += [(name, pair) for pair, name in sorted(at_front.items())] if len(at_front) <= LABELS else []
    costs = [x for pairs in drawn.values() for x, _ in pairs]
    for name, place in named:  # towards the middle
        side, by = ("right", -4) if 2 * place[0] > min(costs) + max(costs) else ("left", 4)
        axes.annotate(_plain(name), place, xytext=(by, 3), ha=side, textcoords="offset points", fontsize=6)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.set(xlabel=described(cost, True).title, ylabel=_label(error).replace(", ", ",\n"), title=_plain(workload))
    errors = [y for pairs in drawn.values() for _, y in pairs]
    if any(errors):  # zero has a separate place on the axis
        axes.set_yscale("symlog", linthresh=min(y for y in errors if y)) if 0 in errors else axes.set_yscale("log")


def distributions(records: Sequence[Record], title: str) -> Figure | None:
    """Distributions of the error (ulp), a panel for each workload, of points along the front; None where there are none."""
    shown = [workload for workload in workloads(records) if any(histogram(record, workload) for record in records)]
    if not shown:
        return None
    chosen = [record for record in records if any(histogram(record, workload) for workload in shown)]
    chosen, some = representatives(chosen, DISTRIBUTIONS)
    figure, panels = _panels(len(shown), f"{title}: distribution of the error{some}")
    for axes, workload in zip(panels, shown, strict=True):
        edges = filled_edges([histogram(record, workload) for record in chosen])
        for number, record in enumerate(chosen):
            bins = histogram(record, workload)
            total = sum(count for _, count in bins)
            if total:
                counts = {bin[0]: bin[1] for bin in bins}
                shares = [counts.get(edge, 0) / total for edge in edges]
                # The bins are octaves far from 0: drawn equally wide.
                axes.step(
                    range(len(edges)),
                    shares,
                    where="mid",
                    label=_plain(record["name"]),
                    color=COLOURS[number],
                    linewidth=1.2,
                )
        every = math.ceil(len(edges) / 8)
        axes.set_xticks(range(0, len(edges), every), [f"{edge:g}" for edge in edges[::every]])
        axes.set(xlabel="error (ulp): lower edges of the bins", ylabel="share of the results", title=_plain(workload))
    panels[0].legend(fontsize="x-small")
    return figure


def filled_edges(histograms: Sequence[Sequence[Sequence[float]]]) -> list[float]:
    """The lower edges from the first to the last bin that holds something in any of the histograms."""
    edges = sorted({edge for bins in histograms for edge, _ in bins})
    filled = [edge for bins in histograms for edge, count in bins if count]
    return [edge for edge in edges if min(filled) <= edge <= max(filled)] if filled else edges


def areas(records: Sequence[Record], title: str) -> Figure | None:
    """Area by component, a bar for each of points along the front; None where no point has it."""
    from matplotlib.figure import Figure

    chosen = [record for record in records if components(record)]
    if not chosen:
        return None
    chosen, some = representatives(chosen, BARS)
    figure = Figure(figsize=(8.0, 1.6 + 0.32 * len(chosen)), layout="constrained")
    axes = figure.subplots(1, 1)
    axes.grid(alpha=GRID)
    left = [0.0] * len(chosen)
    names = [_plain(record["name"]) for record in chosen]
    for number, component in enumerate(dict.fromkeys(name for record in chosen for name in components(record))):
        widths = [components(record).get(component, 0.0) for record in chosen]
        hatch = ("", "//", "..")[number // len(COLOURS) % 3]
        axes.barh(
            range(len(names)), widths, left=left, label=_plain(component), color=COLOURS[number % len(COLOURS)], hatch=hatch
        )
        left = [start + width for start, width in zip(left, widths, strict=True)]
    axes.set_yticks(range(len(names)), names)
    axes.margins(y=0.01)
    axes.invert_yaxis()
    axes.set(xlabel="area (µm²)", title=_plain(f"{title}: area by component{some}"))
    axes.legend(fontsize="x-small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def _plain(text: str) -> str:
    """Text of the records, escaped for plots: a dollar sign would begin a formula, and legends leave out labels that begin
    with an underscore."""
    escaped = text.replace("$", "\\$")
    return f" {escaped}" if escaped.startswith("_") else escaped


def _panels(count: int, title: str) -> tuple[Figure, list[Axes]]:
    """A figure with as many panels, at most three in a row."""
    from matplotlib.figure import Figure

    across = min(count, 3)
    down = math.ceil(count / across)
    figure = Figure(figsize=(4.6 * across + 0.6, 3.6 * down + 0.4), layout="constrained")
    figure.suptitle(_plain(title))
    grid = figure.subplots(down, across, squeeze=False).ravel().tolist()
    for axes in grid[:count]:
        axes.grid(alpha=GRID)
    for axes in grid[count:]:
        axes.remove()
    return figure, grid[:count]
