"""Plots of the points as SVG and PNG."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from mmau.explore.answers import asks, questions_of, representatives
from mmau.explore.columns import COSTS as described_costs
from mmau.explore.columns import described, flat_name, value_of
from mmau.explore.compared import (
    COSTS,
    arithmetics,
    asked_first,
    by_cells,
    costs_of,
    fronts,
    label,
    limit_text,
    measures_of,
    on_front,
    rank,
    short_names,
    title,
)
from mmau.explore.design_space import NOTHING_ASKED, Asked, Constraint
from mmau.explore.names_in_plots import SIZE, write_names
from mmau.explore.premises import parts_of_area
from mmau.explore.records import Record, components, histogram, workloads
from mmau.explore.styles import LIMIT, Styles
from mmau.report.figures import COLOURS, drawing, image, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LABELS = 12
"""Most points of a plot, or else of its front, that are named in it."""

DISTRIBUTIONS = 16
"""Most arithmetics whose error distributions share one plot."""

BARS = 40
"""Most points whose areas are shown by component."""

GRID = 0.25
"""Opacity of the grid."""

KINDS = ("svg", "png")
"""The kinds of files of a plot."""


def names_of(costs: Iterable[str]) -> list[str]:
    """Every file that `figures` can make, where accuracy is drawn against these columns of cost."""
    plots = [*(f"accuracy-{name}" for name in costs), "error-distributions", "area-by-component"]
    return [f"{name}.{kind}" for name in plots for kind in KINDS]


NAMES = names_of(dict.fromkeys([*COSTS, *(name for name, figure in described_costs.items() if figure.better)]))
"""Every file that `figures` can make, or made in earlier versions."""


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
        names = names_of(column.removeprefix("cost.") for column in costs.values())
        return {name: image(figure, kind) for name, (figure, kind) in zip(names, pairs, strict=True) if figure is not None}


def accuracy_against(records: Sequence[Record], cost: str, heading: str, asked: Asked = NOTHING_ASKED) -> Figure | None:
    """Accuracy over a cost, with the Pareto front and the limits: a panel for each library of cells, since costs in
    different ones do not compare, and for each measure that the report compares, what was asked for first; None where no
    point has both."""
    held = by_cells([record for record in records if record["status"] == "done"])
    measures = asked_first(measures_of(records, asked), asked)
    places = [
        [(cells, measure) for measure in measures if any(_pair(each, cost, measure) for each in members)]
        for cells, members in held.items()
    ]
    places = [each for each in places if each]
    if not places:
        return None
    short, styles = short_names(records), Styles(records)
    usual = next(iter(costs_of(records, asked).values()))
    questions = [(each.name, asks(each, usual, short)) for each in questions_of(asked)]
    heads = [f"{heading}: accuracy against {label(cost, short)}", *(": ".join(filter(None, each)) for each in questions)]
    figure, panels = _panels([len(each) for each in places], heads, beside=LEGEND)
    named = []
    for axes, (cells, measure) in zip(panels, chain.from_iterable(places), strict=True):
        in_title = cells if len(places) > 1 else ""
        named.append(_scatter(axes, held[cells], cost, measure, asked.limits, styles, short, in_title))
        if len(places) > 1:
            axes.set_title(plain(f"{cells or 'no cells'}: {label(measure, short)}"))
    drawn = [record for record in records if any(_pair(record, cost, measure) for measure in measures)]
    figure.legend(handles=styles.legend(drawn, bool(asked.limits)), fontsize="small", loc="outside right upper")
    settled(figure)
    if left_out := list(dict.fromkeys(name for write in named for name in write())):
        said = textwrap.fill(f"no room for: {'; '.join(left_out)}", NAMES_IN_A_LINE)
        beside = 1 - LEGEND / figure.get_figwidth()
        figure.text(beside + 0.01, 0.01, plain(said), fontsize=SIZE, va="bottom", in_layout=False)
    return figure


LEGEND = 1.8
"""The width of a legend beside the panels (inches)."""

NAMES_IN_A_LINE = 28
"""Letters of a line of names below a legend."""


def settled(figure: Figure) -> None:
    """Lay a figure out, and let its panels stay where they are."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")


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
    in_title: str,
) -> Callable[[], list[str]]:
    """One panel, of records that are done; what it returns writes their names, but for the word that is in the title, once
    the figure is laid out, and returns those without a place."""
    from matplotlib.ticker import MaxNLocator

    places = {number: pair for number, record in enumerate(records) if (pair := _pair(record, cost, measure)) is not None}
    values = [y for _, y in places.values() if math.isfinite(y)]
    top = max(values, default=0.0) + 0.15 * ((max(values) - min(values)) or 10.0 if values else 10.0)
    is_exact = any(math.isinf(y) for _, y in places.values())
    places = {number: (x, min(y, top)) for number, (x, y) in places.items()}
    for number, (x, y) in places.items():
        axes.scatter([x], [y], zorder=3, **styles.of(records[number]))
    lines, on_fronts = [], list[int]()
    for numbers in fronts(records, cost, measure):
        best = sorted(
            (number for number in numbers if number in places), key=lambda number: rank(cost, records[number]) or 0
        )
        x_values, y_values = zip(*(places[number] for number in best), strict=True)
        axes.step(x_values, y_values, where="post", color="#666666", linewidth=1, zorder=2)
        lines.append([corner for number in best for corner in _corners(places, best, number)])
        on_fronts += best
    references = [number for number in places if records[number]["kind"] != "point"]
    chosen = [*on_fronts, *references] if len(on_fronts) <= LABELS else references
    if len(places) <= LABELS:
        chosen += places
    across, upright = (
        [each for each in limits if each.parameter is None and flat_name(each.column) == column]
        for column in (measure, cost)
    )
    style: dict[str, Any] = {"color": LIMIT, "linewidth": 1, "linestyle": "--", "zorder": 1}
    heights, edges = ({each.limit: limit_text(each, short) for each in found} for found in (across, upright))
    for limit in heights:
        axes.axhline(limit, **style)
    for limit in edges:
        axes.axvline(limit, **style)
    costs = [x for x, _ in places.values()]
    if min(costs) > 0 and max(costs) > WIDE * min(costs):
        axes.set_xscale("log")
    else:
        axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.margins(0.12, 0.18)
    axes.set(xlabel=plain(title(cost, short)), ylabel=plain(title(measure, short)), title=plain(label(measure, short)))
    if is_exact:
        ticks = [tick for tick in axes.get_yticks() if tick < top]
        axes.set_yticks([*ticks, top], [*(f"{tick:g}" for tick in ticks), "no error"])
    elif described(measure, True).unit != "dB" and any(values):  # zero has a separate place on the axis
        axes.set_yscale("symlog", linthresh=min(y for y in values if y)) if 0 in values else axes.set_yscale("log")
    for limit, text in heights.items():
        at: dict[str, Any] = {"xycoords": axes.get_yaxis_transform(), "ha": "right"}
        axes.annotate(plain(text), (1, limit), (-2, 2), **LIMIT_TEXT, **at)
    for limit, text in edges.items():
        at = {"xycoords": axes.get_xaxis_transform(), "ha": "right", "va": "top", "rotation": 90}
        axes.annotate(plain(text), (limit, 1), (-2, -2), **LIMIT_TEXT, **at)
    names = dict[tuple[float, float], str]()
    for number in dict.fromkeys(chosen):
        name = records[number]["name"]
        name = name if records[number]["kind"] == "point" else name.rpartition(":")[2]
        name = " ".join(word for word in name.split() if word != in_title) or name
        here = names.get(places[number])
        names[places[number]] = name if here is None else f"{here}, {name}"
    others = [place for place in places.values() if place not in names]
    return partial(write_names, axes, names, others, lines, [*heights], [*edges])


def _corners(places: Mapping[int, tuple[float, float]], best: Sequence[int], number: int) -> list[tuple[float, float]]:
    """A point of a front, and the corner of the line before it."""
    before = best[best.index(number) - 1] if number != best[0] else number
    return [(places[number][0], places[before][1]), places[number]]


LIMIT_TEXT: dict[str, Any] = {"textcoords": "offset points", "fontsize": 7, "color": LIMIT}

WIDE = 20
"""How many times the least cost the largest one is where their axis is logarithmic."""


def distributions(records: Sequence[Record], heading: str, asked: Asked = NOTHING_ASKED) -> Figure | None:
    """Distributions of the error (ulp): a panel for each workload, in all of them the same rows, one for each arithmetic, so
    that none hides another; of many, those along the front. None where there are none."""
    chosen = [record for record in records if any(histogram(record, workload) for workload in workloads(records))]
    of_each, short = arithmetics(chosen), short_names(records)
    firsts = {of_each[record["name"]]: record for record in [*reversed(chosen), *on_front(chosen, asked)]}
    kept = [record for record in chosen if record in firsts.values()]
    chosen, some = representatives(kept, DISTRIBUTIONS, asked, "arithmetics")
    shown = [workload for workload in workloads(chosen) if any(_counted(record, workload) for record in chosen)]
    if not shown:
        return None
    lines = [f"{heading}: distribution of the error of the arithmetic alone{some}", ABOUT_ERRORS]
    figure, panels = _panels([len(shown)], lines, height=1.4 + 0.45 * len(chosen))
    for axes, workload in zip(panels, shown, strict=True):
        edges = filled_edges([histogram(record, workload) for record in chosen])
        for number, record in enumerate(chosen):
            bins: dict[float, float] = dict(histogram(record, workload))  # type: ignore[arg-type]
            total = sum(bins.values())
            shares = [bins.get(edge, 0) / total if total else 0.0 for edge in edges]
            largest = max(shares, default=0.0) or 1.0
            # The bins are octaves far from 0: drawn equally wide.
            heights = [0.85 * share / largest for share in shares]
            tops = [height - number for height in heights]
            axes.stairs(tops, range(len(edges) + 1), baseline=-number, fill=True, color=COLOURS[0])
            axes.axhline(-number, color="#888888", linewidth=0.5)
        ticks = labelled(edges)
        axes.set_xticks(ticks, [f"{edges[place]:g}" for place in ticks], fontsize="small")
        rows = [_broken(of_each[record["name"]]) for record in chosen]
        axes.set_yticks([0.4 - number for number in range(len(chosen))], rows)
        if axes is not panels[0]:
            axes.tick_params(labelleft=False)
        axes.set(xlabel="error (ulp): lower edges of the bins", title=plain(short[workload]), ylim=(-len(chosen) + 0.95, 1))
    return figure


ABOUT_ERRORS = (
    "Quantising comes before it, and is not in it; points of one arithmetic share a row, whatever they are built of. A row "
    "is as high as its fullest bin; bins are drawn equally wide, and hold an octave each far from 0."
)
"""What the plot of errors shows, in words."""

TICKS = 6
"""Into how many parts the labels of an axis of bins divide it at most."""


def labelled(edges: Sequence[float]) -> list[int]:
    """The places of the edges that have a label: 0, the ends, powers of two, then others, none too near to another."""
    first = [place for place, edge in enumerate(edges) if edge == 0]
    powers = [place for place, edge in enumerate(edges) if edge and math.frexp(abs(edge))[0] == 0.5]
    others = range(len(edges))
    found: list[int] = []
    for place in [*first, 0, len(edges) - 1, *sorted(powers, key=lambda place: -abs(edges[place])), *others]:
        if all(abs(place - other) >= len(edges) / TICKS for other in found):
            found.append(place)
    return sorted(found)


def _counted(record: Record, workload: str) -> bool:
    return any(count for _, count in histogram(record, workload))


def filled_edges(histograms: Sequence[Sequence[Sequence[float]]]) -> list[float]:
    """The lower edges from the first to the last bin that holds something in any of the histograms."""
    edges = sorted({edge for bins in histograms for edge, _ in bins})
    filled = [edge for bins in histograms for edge, count in bins if count]
    return [edge for edge in edges if min(filled) <= edge <= max(filled)] if filled else edges


def areas(records: Sequence[Record], heading: str, asked: Asked = NOTHING_ASKED) -> Figure | None:
    """Area by component, a bar for each of points along the front, a panel for each library of cells; None where no point
    has it."""
    from matplotlib.figure import Figure

    chosen = [record for record in records if components(record)]
    if not chosen:
        return None
    chosen, some = representatives(chosen, BARS, asked)
    held, parts = by_cells(chosen), largest_components(chosen)
    rows = [len(each) for each in held.values()]
    size = (9.0, max(LEAST_HEIGHT, 0.8 + 0.9 * len(rows) + 0.34 * sum(rows)))
    figure = Figure(figsize=size, layout="constrained")
    figure.get_layout_engine().set(**PADDING)  # type: ignore[union-attr]
    lines = [f"{heading}: area by component{some}", parts_of_area(chosen)]
    figure.suptitle(_heading(lines, size[0] - LEGEND), x=0.02, ha="left", fontsize="medium")
    grid = figure.subplots(len(rows), 1, squeeze=False, height_ratios=[0.6 + row for row in rows]).ravel().tolist()
    for axes, (cells, members) in zip(grid, held.items(), strict=True):
        axes.grid(alpha=GRID, axis="x")
        left = [0.0] * len(members)
        for number, (part, of) in enumerate(parts.items()):
            widths = [sum(components(record).get(name, 0.0) for name in of) for record in members]
            axes.barh(range(len(members)), widths, left=left, label=plain(part), color=COLOURS[number])
            left = [start + width for start, width in zip(left, widths, strict=True)]
        whole = [(value_of("cost.area_um2", record), number) for number, record in enumerate(members)]
        for area, number in whole:
            if area is not None:
                (line,) = axes.plot([area, area], [number - 0.45, number + 0.45], color="black", linewidth=2.5)
                line.set_label(WHOLE)
        axes.xaxis.set_major_formatter("{x:,.10g}")
        axes.set_xlabel("area (µm²)")
        axes.set_yticks(range(len(members)), [_broken(record["name"]) for record in members])
        axes.set(
            xlim=(0, 1.05 * max(left) or 1), ylim=(len(members) - 0.4, -0.6), title=plain(cells) if len(held) > 1 else ""
        )
    handles, labels = grid[0].get_legend_handles_labels()
    entries = dict(zip(labels, handles, strict=True))
    figure.legend([*entries.values()], [*entries], fontsize="small", loc="outside right upper")
    return figure


WHOLE = "mapped as a whole"
"""What the line is called at the area of a datapath."""

OTHERS = "others"
"""What the parts of an area are called that are too small for a colour of their own."""


def largest_components(records: Sequence[Record]) -> dict[str, list[str]]:
    """The components by the names of their colours: those with the largest share in some point, and the others together."""
    shares: dict[str, float] = {}
    for record in records:
        whole = sum(components(record).values()) or 1.0
        for name, area in components(record).items():
            shares[name] = max(shares.get(name, 0.0), area / whole)
    kept = sorted(shares, key=lambda name: -shares[name])
    most = len(COLOURS) if len(kept) <= len(COLOURS) else len(COLOURS) - 1
    rest = [name for name in shares if name not in kept[:most]]
    return {name: [name] for name in shares if name in kept[:most]} | ({OTHERS: rest} if rest else {})


LEAST_HEIGHT = 3.0
"""The height that a legend takes (inches)."""

PADDING = {"w_pad": 0.1, "h_pad": 0.1}
"""The space around panels (inches)."""

LONG = 26
"""Letters of a line of a name beside an axis."""


def _broken(name: str) -> str:
    """A name beside an axis, in lines."""
    return plain("\n".join(textwrap.wrap(name, LONG)) or name)


def _heading(lines: Sequence[str], width: float) -> str:
    """A heading above a figure of that width (inches), in lines that are not cut."""
    return plain("\n".join(part for line in lines for part in textwrap.wrap(line, int(LETTERS * width)) or [line]))


LETTERS = 11
"""Letters of a heading in an inch."""


def _panels(
    rows: Sequence[int], heading: Sequence[str], beside: float = 0.0, height: float = 3.6
) -> tuple[Figure, list[Axes]]:
    """A figure with as many panels in each of its groups, at most three beside each other.

    Args:
        heading: its lines. beside: width for a legend (inches). height: that of a panel (inches).
    """
    from matplotlib.figure import Figure

    across = min(max(rows), 3)
    lines = [math.ceil(count / across) for count in rows]
    size = (4.6 * across + 0.6 + beside, height * sum(lines) + 0.4 + 0.2 * len(heading))
    figure = Figure(figsize=size, layout="constrained")
    figure.get_layout_engine().set(**PADDING)  # type: ignore[union-attr]
    figure.suptitle(_heading(heading, size[0] - beside), x=0.02, ha="left", fontsize="medium")
    grid, found = figure.subplots(sum(lines), across, squeeze=False), []
    for group, count in enumerate(rows):
        cells = grid[sum(lines[:group]) : sum(lines[: group + 1])].ravel().tolist()
        found += cells[:count]
        for axes in cells[count:]:
            axes.remove()
    for axes in found:
        axes.grid(alpha=GRID)
    return figure, found
