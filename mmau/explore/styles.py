"""Colours and shapes of points, which plots and page share: what a point looks like in one, it looks like in the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from golden.text import value_as_text
from mmau.explore.compared import varied
from mmau.explore.records import Record, is_candidate, is_number, is_right, verdict
from mmau.report.figures import COLOURS, plain

if TYPE_CHECKING:
    from matplotlib.lines import Line2D

SHAPES = ("o", "s", "^", "D", "v", "P", "<", ">")
"""The shapes of points, as many as there are colours; assets/scatter.js has the same in plotly's words."""

SCALE, MOST_HUES = "viridis", 3
"""The colours of a key of numbers with more values than these, in order."""

PALE = 0.35
"""Opacity of points that keep no limit, or not their clock."""

LIMIT = "#b3261e"
"""The colour of limits."""


class Styles:
    """Colour, shape and filling of points: colour by the first key in which they differ, shape by the second. Filled: not
    known to be wrong; open: not co-simulated where others are; a cross: its circuit differs from its model; a star: an
    instruction of the catalogue.

    Attributes:
        values: the values of each key in which points differ, in the order of colours and shapes.
    """

    def __init__(self, records: Sequence[Record]) -> None:
        self.values = varied([record for record in records if record["kind"] == "point"])
        keys = [*self.values.items()]
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
        """What colours, shapes and the rest mean, of the records that are drawn."""
        from matplotlib.lines import Line2D

        def entry(text: str, **style: Any) -> Line2D:
            return Line2D([], [], **{"color": "#444444", "linestyle": "none", "marker": "o", **style}, label=plain(text))

        found = []
        for (key, values), many in ((self._colour, len(COLOURS)), (self._shape, len(SHAPES))):
            groups: dict[int, list[Any]] = {}
            drawn = {(record.get("axes") or {}).get(key) for record in records}
            for place, value in enumerate(values):
                if value not in drawn:
                    continue
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
