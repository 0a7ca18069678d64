"""Writes the names of points into a panel, so that nothing is cut, nothing lies on top of a name, and each name is near its
own point alone, or joined to it by a line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from mmau.report.figures import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    Place = tuple[float, float]
    Box = tuple[float, float, float, float]  # left, lower, right, upper end

SIZE = 6.5
"""Size of names (points)."""

RADIUS = 4.0
"""Half the size of a point that names keep clear of (points)."""

LEADER = 14.0
"""How far a name stands from its point where a line joins them (points)."""

CLEAR = 2.0
"""How many times as far as its own point every other one is from a name without a line."""

DISTANCES = (4.0, 8.0, 13.0, 19.0, 26.0, 34.0, 44.0, 56.0, 70.0, 88.0, 110.0)
"""How far from its point a name may stand (points)."""

SIDES = tuple(
    (right, up)
    for straight in (True, False)
    for right in (1, -1, 0, 0.4, -0.4)
    for up in (0, 1, -1, 0.4, -0.4)
    if (right, up) != (0, 0) and straight == (0 in (right, up)) and 1 in (abs(right), abs(up))
)
"""On which side of its point: right and up."""


def write_names(
    axes: Axes,
    names: Mapping[Place, str],
    others: Sequence[Place] = (),
    lines: Sequence[Sequence[Place]] = (),
    across: Sequence[float] = (),
    upright: Sequence[float] = (),
) -> list[str]:
    """Write names beside their points, each where it covers no name, no point and no line, the first ones first, and return
    those for which there is no such place. A name that is not near its own point alone has a line to it, and is nearer to
    another one where there is no other place. The figure is laid out before, and its panels stay where they are.

    Args:
        others: the points of the panel that have no name. lines: lines from corner to corner.
        across: heights of lines from side to side. upright: places of lines from top to bottom.
    """
    figure: Any = axes.figure
    scale = 72 / figure.dpi

    def at(place: Place) -> Place:
        x, y = axes.transData.transform(place)
        return float(x) * scale, float(y) * scale

    frame = axes.get_window_extent()
    low_x, low_y, high_x, high_y = (float(end) * scale for end in frame.extents)
    points = [at(place) for place in dict.fromkeys([*names, *others])]
    taken = [_around(point) for point in points]
    for text in axes.texts:
        written = text.get_window_extent()
        taken.append((written.x0 * scale, written.y0 * scale, written.x1 * scale, written.y1 * scale))
    drawn = [(at(one), at(other)) for line in lines for one, other in pairwise(line)]
    any_x, any_y = (ends[0] for ends in (axes.get_xlim(), axes.get_ylim()))
    drawn += [((low_x, height), (high_x, height)) for height in (at((any_x, each))[1] for each in across)]
    drawn += [((place, low_y), (place, high_y)) for place in (at((each, any_y))[0] for each in upright)]
    left_out = []
    for place, name in names.items():
        text = axes.annotate(plain(name), place, (0, 0), textcoords="offset points", fontsize=SIZE, va="bottom")
        extent = text.get_window_extent()
        width, height = extent.width * scale, extent.height * scale
        x, y = at(place)
        places = [*_boxes(x, y, width, height)]
        for is_last, (box, distance) in [*((False, each) for each in places), *((True, each) for each in places)]:
            if box[0] < low_x or box[1] < low_y or box[2] > high_x or box[3] > high_y:
                continue
            if any(_overlap(box, each) for each in taken) or any(_crosses(box, part) for part in drawn):
                continue
            leader = ((x, y), _nearest(box, (x, y)))
            own, gaps = _gap(box, (x, y)), [_gap(box, point) for point in points if point != (x, y)]
            if min(gaps, default=own) < own and not (is_last and distance > LEADER):
                continue
            if distance <= LEADER and min(gaps, default=math.inf) < CLEAR * own:
                continue
            if distance > LEADER and any(_crosses(each, leader) for each in taken if not _overlap(each, _around((x, y)))):
                continue
            text.remove()
            (_, end), lower_left = leader, box[:2]
            beside = (end[0] - lower_left[0]) / width, (end[1] - lower_left[1]) / height
            arrow = {"arrowstyle": "-", "color": "#888888", "linewidth": 0.5, "shrinkA": 0, "shrinkB": 3, "relpos": beside}
            text = axes.annotate(
                plain(name),
                place,
                (box[0] - x, box[1] - y),
                textcoords="offset points",
                fontsize=SIZE,
                va="bottom",
                arrowprops=arrow if distance > LEADER else None,
            )
            text.set_in_layout(False)
            taken.append(box)
            if distance > LEADER:
                drawn.append(leader)
            break
        else:
            text.remove()
            left_out.append(name)
    return left_out


def _boxes(x: float, y: float, width: float, height: float) -> Iterator[tuple[Box, float]]:
    """Where a name may stand beside its point, the nearest places first, and how far each is."""
    for distance in DISTANCES:
        for right, up in SIDES:
            step = distance if right == 0 or up == 0 else 0.7 * distance
            left = x + (right * step if right > 0 else right * step - width if right < 0 else -width / 2)
            lower = y + (up * step if up > 0 else up * step - height if up < 0 else -height / 2)
            yield (left, lower, left + width, lower + height), distance


def _nearest(box: Box, place: Place) -> Place:
    """The point of a box that is nearest to a place."""
    return min(max(place[0], box[0]), box[2]), min(max(place[1], box[1]), box[3])


def _gap(box: Box, place: Place) -> float:
    """How far a place is from a box."""
    return math.dist(_nearest(box, place), place)


def _around(place: Place) -> Box:
    x, y = place
    return x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _crosses(box: Box, part: tuple[Place, Place]) -> bool:
    """Whether a line from point to point touches a box (Liang and Barsky's clipping)."""
    (x, y), (to_x, to_y) = part
    first, last = 0.0, 1.0
    for from_, step, low, high in ((x, to_x - x, box[0], box[2]), (y, to_y - y, box[1], box[3])):
        if step == 0:
            if not low < from_ < high:
                return False
            continue
        enter, leave = sorted(((low - from_) / step, (high - from_) / step))
        first, last = max(first, enter), min(last, leave)
    return first < last
