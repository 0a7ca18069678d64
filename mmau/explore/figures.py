"""Plots of the points as SVG and PNG."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from golden.text import value_as_text
from mmau.explore.answers import representatives
from mmau.explore.columns import COSTS as described_costs
from mmau.explore.columns import described, flat_name, value_of
from mmau.explore.compared import COSTS, costs_of, fronts, label, measures_of, rank, short_names, title, varied
from mmau.explore.design_space import AT_LEAST, NOTHING_ASKED, Asked, Constraint
from mmau.explore.records import (
    Record,
    components,
    histogram,
    is_candidate,
    is_number,
    is_right,
    verdict,
    workloads,
)
from mmau.report.figures import COLOURS, drawing, image

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

SHAPES = ("o", "s", "^", "D", "v", "P", "<", ">")
"""The shapes of points, as many as there are colours."""

LABELS = 12
"""Most points of a plot, or else of its front, that are named in it."""

DISTRIBUTIONS = 8
"""Most points whose error distributions share one plot."""

BARS = 40
"""Most points whose areas are shown by component."""

GRID = 0.25
"""Opacity of the grid."""

KINDS = ("svg", "png")
"""The kinds of files of a plot."""

SCALE, MOST_HUES = "viridis", 3
"""The colours of a key of numbers with more values than these, in order."""

PALE = 0.35
"""Opacity of points that keep no limit, or not their clock."""


def names_of(costs: Iterable[str]) -> list[str]:
    """Every file that `figures` can make, where accuracy is drawn against these costs."""
    plots = [*(f"accuracy-{name}" for name in costs), "error-distributions", "area-by-component"]
    return [f"{name}.{kind}" for name in plots for kind in KINDS]


NAMES = names_of(dict.fromkeys([*COSTS, *(name for name, figure in described_costs.items() if figure.better)]))
"""Every file that `figures` can make."""


def figures(records: Sequence[Record], heading: str, asked: Asked = NOTHING_ASKED) -> dict[str, bytes]:
    """The plots that the records have values for: file name to content.

    Args:
        asked: the limits, which are drawn as lines, and what else is asked for, which is drawn first.

    Raises:
        ModuleNotFoundError: matplotlib is not installed.
    """
    costs = costs_of(records, asked)
    with drawing():
        drawn = [accuracy_against(records, cost, heading, asked) for cost in costs.values()]
        drawn += [distributions(records, heading, asked), areas(records, heading, asked)]
        pairs = [(figure, kind) for figure in drawn for kind in KINDS]
        names = names_of(costs)
        return {name: image(figure, kind) for name, (figure, kind) in zip(names, pairs, strict=True) if figure is not None}


def accuracy_against(records: Sequence[Record], cost: str, heading: str, asked: Asked = NOTHING_ASKED) -> Figure | None:
    """Accuracy over a cost, a panel for each measure that the report compares, with the Pareto front and the limits; None
    where no point has both."""
    shown = [
        measure
        for measure in measures_of(records, asked)
        if any(record["status"] == "done" and _pair(record, cost, measure) for record in records)
    ]
    if not shown:
        return None
    short, styles = short_names(records), Styles(records)
    figure, panels = _panels(len(shown), f"{heading}: accuracy against {label(cost, short)}", beside=LEGEND)
    for axes, measure in zip(panels, shown, strict=True):
        _scatter(axes, records, cost, measure, asked.limits, styles, short)
    figure.legend(handles=styles.legend(records, bool(asked.limits)), fontsize="small", loc="outside right upper")
    return figure


LEGEND = 1.8
"""The width of a legend beside the panels (inches)."""


class Styles:
    """Colour, shape and filling of points: colour by the first key in which they differ, shape by the second. Filled: not
    known to be wrong; open: not co-simulated where others are; a cross: its circuit differs from its model; a star: an
    instruction of the catalogue."""

    def __init__(self, records: Sequence[Record]) -> None:
        keys = [*varied([record for record in records if record["kind"] == "point"]).items()]
        self._colour, self._shape = (keys[place] if place < len(keys) else ("", []) for place in (0, 1))
        self._hues = hues(self._colour[1])
        states = {verdict(record).state for record in records if record["status"] == "done" and record["kind"] == "point"}
        self._is_checked = "agrees" in states

    def of(self, record: Record) -> dict[str, Any]:
        """The style of a point, for matplotlib's scatter."""
        if record["kind"] != "point":
            return {"edgecolors": "#444444", "facecolors": "none", "marker": "*", "s": 70}
        axes, state = record.get("axes") or {}, verdict(record).state
        colour = self._hues.get(axes.get(self._colour[0]), "#444444")
        if state == "differs":
            return {"color": colour, "marker": "x", "s": 30}
        key, values = self._shape
        marker = SHAPES[_step(values.index(axes[key]), len(values), len(SHAPES)) if key in axes else 0]
        is_open = self._is_checked and state != "agrees"
        alpha = 1.0 if is_candidate(record) else PALE
        return {"edgecolors": colour, "facecolors": "none" if is_open else colour, "marker": marker, "s": 30, "alpha": alpha}

    def legend(self, records: Sequence[Record], has_limits: bool) -> list[Line2D]:
        """What colours, shapes and the rest mean."""
        from matplotlib.lines import Line2D

        def entry(text: str, **style: Any) -> Line2D:
            return Line2D([], [], **{"color": "#444444", "linestyle": "none", "marker": "o", **style}, label=_plain(text))

        found = []
        for (key, values), many in ((self._colour, len(COLOURS)), (self._shape, len(SHAPES))):
            groups: dict[int, list[Any]] = {}
            for place, value in enumerate(values):
                groups.setdefault(_step(place, len(values), many), []).append(value)
            for number, group in groups.items():
                text = f"{key} {value_as_text(group[0])}" + f" … {value_as_text(group[-1])}" * (len(group) > 1)
                is_colour = key == self._colour[0]
                style = {"color": self._hues[group[len(group) // 2]]} if is_colour else {"marker": SHAPES[number]}
                found.append(entry(text, **style))
        done = [record for record in records if record["status"] == "done"]
        points = [record for record in done if record["kind"] == "point"]
        states = {verdict(record).state for record in points}
        if self._is_checked:
            found.append(entry("co-simulated, no mismatch"))
        if self._is_checked and "not compared" in states:
            found.append(entry("not co-simulated", markerfacecolor="none"))
        if "differs" in states:
            found.append(entry("circuit differs", marker="x"))
        if any((is_right(record) and not is_candidate(record)) or record.get("late") for record in points):
            found.append(entry("beyond a limit", alpha=PALE))
        if len(done) > len(points):
            found.append(entry("reference", marker="*", markerfacecolor="none", markersize=9))
        found.append(Line2D([], [], color="#666666", linewidth=1, label="Pareto front"))
        if has_limits:
            found.append(Line2D([], [], color=LIMIT, linewidth=1, linestyle="--", label="limit"))
        return found


LIMIT = "#b3261e"
"""The colour of limits."""


def hues(values: Sequence[Any]) -> dict[Any, str]:
    """A colour for each value: of few, or of words, colours that differ most; of more numbers a scale."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    if len(values) > MOST_HUES and all(map(is_number, values)):
        scale = colormaps[SCALE]
        return {value: to_hex(scale(0.92 * place / (len(values) - 1))) for place, value in enumerate(values)}
    return {value: COLOURS[_step(place, len(values), len(COLOURS))] for place, value in enumerate(values)}


def _step(place: int, count: int, most: int) -> int:
    """The place of a value among as many styles as there are."""
    return place if count <= most else place * most // count


def _pair(record: Record, cost: str, measure: str) -> tuple[float, float] | None:
    """The coordinates of a point, infinite where it has no error; None if a value is missing."""
    x, y = value_of(cost, record), value_of(measure, record)
    return (float(x), float(y)) if x is not None and y is not None and math.isfinite(x) else None


def _scatter(
    axes: Axes,
    records: Sequence[Record],
    cost: str,
    measure: str,
    limits: Sequence[Constraint],
    styles: Styles,
    short: Mapping[str, str],
) -> None:
    """One panel, of the records that are done."""
    from matplotlib.ticker import MaxNLocator

    places = {number: pair for number, record in enumerate(records) if (pair := _pair(record, cost, measure)) is not None}
    places = {number: pair for number, pair in places.items() if records[number]["status"] == "done"}
    values = [y for _, y in places.values() if math.isfinite(y)]
    top = max(values, default=0.0) + 0.15 * ((max(values) - min(values)) or 10.0 if values else 10.0)
    is_exact = any(math.isinf(y) for _, y in places.values())
    places = {number: (x, min(y, top)) for number, (x, y) in places.items()}
    for number, (x, y) in places.items():
        axes.scatter([x], [y], zorder=3, **styles.of(records[number]))
    named = {number: records[number]["name"].rpartition(":")[2] for number in places if records[number]["kind"] != "point"}
    found = fronts(records, cost, measure)
    for numbers in found:
        best = sorted(
            (number for number in numbers if number in places), key=lambda number: rank(cost, records[number]) or 0
        )
        x_values, y_values = zip(*(places[number] for number in best), strict=True)
        axes.step(x_values, y_values, where="post", color="#666666", linewidth=1, zorder=2)
    if len(places) <= LABELS:
        named |= {number: records[number]["name"] for number in places if records[number]["kind"] == "point"}
    elif sum(map(len, found)) <= LABELS:
        named |= {number: records[number]["name"] for numbers in found for number in numbers if number in places}
    for limit in limits:
        text = f" {'≥' if limit.key.startswith(AT_LEAST) else '≤'} {limit.limit:g} {described(measure, True).unit}"
        column = flat_name(limit.column)
        style: dict[str, Any] = {"color": LIMIT, "linewidth": 1, "linestyle": "--", "zorder": 1}
        if limit.parameter is None and column == measure:
            axes.axhline(limit.limit, **style)
            axes.annotate(text, (1, limit.limit), (-2, 2), xycoords=axes.get_yaxis_transform(), **LIMIT_TEXT, ha="right")
        elif limit.parameter is None and column == cost:
            axes.axvline(limit.limit, **style)
    costs = [x for x, _ in places.values()]
    if min(costs) > 0 and max(costs) > WIDE * min(costs):
        axes.set_xscale("log")
    else:
        axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.margins(0.12)
    axes.set(xlabel=_plain(title(cost, short)), ylabel=_plain(title(measure, short)), title=_plain(label(measure, short)))
    if is_exact:
        ticks = [tick for tick in axes.get_yticks() if tick < top]
        axes.set_yticks([*ticks, top], [*(f"{tick:g}" for tick in ticks), "no error"])
    elif described(measure, True).unit != "dB" and any(values):  # zero has a separate place on the axis
        axes.set_yscale("symlog", linthresh=min(y for y in values if y)) if 0 in values else axes.set_yscale("log")
    _write_names(axes, {number: places[number] for number in named}, named, list(places.values()))


LIMIT_TEXT: dict[str, Any] = {"textcoords": "offset points", "fontsize": 7, "color": LIMIT}

WIDE = 20
"""How many times the least cost the largest one is where their axis is logarithmic."""

NAME_SIZE = 6.5
"""Size of names in plots (points)."""

PANEL = (270.0, 190.0)
"""About the size of a panel's axes (points)."""


def _write_names(
    axes: Axes, places: Mapping[int, tuple[float, float]], names: Mapping[int, str], others: Sequence[tuple[float, float]]
) -> None:
    """Write names beside their points, each where it covers no other name and as few points as possible."""
    axes.autoscale_view()

    def at(place: tuple[float, float]) -> tuple[float, float]:
        x, y = axes.transAxes.inverted().transform(axes.transData.transform(place))
        return x * PANEL[0], y * PANEL[1]

    points, taken = [at(place) for place in others], list[tuple[float, float, float, float]]()
    for number, place in sorted(places.items(), key=lambda item: item[1]):
        x, y = at(place)
        width, height = 0.56 * NAME_SIZE * len(names[number]), 1.15 * NAME_SIZE
        choices = []
        for by in (3.0, -10.0, 11.0, -18.0, 19.0, -26.0):
            for right in (False, True):
                left = x - 5 - width if right else x + 5
                box = (left, y + by, left + width, y + by + height)
                out = max(0.0, -box[0]) + max(0.0, box[2] - PANEL[0]) + max(0.0, -box[1]) + max(0.0, box[3] - PANEL[1])
                covered = sum(_overlap(box, each) for each in taken)
                hidden = sum(box[0] - 3 < p < box[2] + 3 and box[1] - 3 < q < box[3] + 3 for p, q in points)
                choices.append((100 * out + 10 * covered + hidden + abs(by) / 100, by, right, box))
        _, by, right, box = min(choices)
        taken.append(box)
        side = "right" if right else "left"
        axes.annotate(
            _plain(names[number]),
            place,
            (-5 if right else 5, by),
            ha=side,
            va="bottom",
            textcoords="offset points",
            fontsize=NAME_SIZE,
        )


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def distributions(records: Sequence[Record], heading: str, asked: Asked = NOTHING_ASKED) -> Figure | None:
    """Distributions of the error (ulp), a panel for each workload, of points along the front; None where there are none."""
    shown = [workload for workload in workloads(records) if any(histogram(record, workload) for record in records)]
    if not shown:
        return None
    chosen = [record for record in records if any(histogram(record, workload) for workload in shown)]
    chosen, some = representatives(chosen, DISTRIBUTIONS, asked)
    figure, panels = _panels(len(shown), f"{heading}: distribution of the error{some}")
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


def areas(records: Sequence[Record], heading: str, asked: Asked = NOTHING_ASKED) -> Figure | None:
    """Area by component, a bar for each of points along the front; None where no point has it."""
    from matplotlib.figure import Figure

    chosen = [record for record in records if components(record)]
    if not chosen:
        return None
    chosen, some = representatives(chosen, BARS, asked)
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
    axes.set(xlabel="area (µm²)", title=_plain(f"{heading}: area by component{some}"))
    axes.legend(fontsize="x-small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def _plain(text: str) -> str:
    """Text of the records, escaped for plots: a dollar sign would begin a formula, and legends leave out labels that begin
    with an underscore."""
    escaped = text.replace("$", "\\$")
    return f" {escaped}" if escaped.startswith("_") else escaped


def _panels(count: int, heading: str, beside: float = 0.0) -> tuple[Figure, list[Axes]]:
    """A figure with as many panels, at most three in a row.

    Args:
        beside: width for a legend (inches).
    """
    from matplotlib.figure import Figure

    across = min(count, 3)
    down = math.ceil(count / across)
    figure = Figure(figsize=(4.6 * across + 0.6 + beside, 3.6 * down + 0.4), layout="constrained")
    figure.suptitle(_plain(heading))
    grid = figure.subplots(down, across, squeeze=False).ravel().tolist()
    for axes in grid[:count]:
        axes.grid(alpha=GRID)
    for axes in grid[count:]:
        axes.remove()
    return figure, grid[:count]
