"""Line plots as SVG, without any plotting package."""

from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT, MARGIN = 640, 400, 56
COLOURS = ("#1b6ca8", "#d1495b", "#2e933c", "#edae49", "#6a4c93", "#00798c", "#8d5524")
TICKS = 5


def svg(series: Mapping[str, Sequence[tuple[float, float]]], title: str, x_label: str, y_label: str) -> str:
    """A plot of several series of (x, y), y from zero on.

    Raises:
        ValueError: no point at all.
    """
    points = [point for line in series.values() for point in line]
    if not points:
        raise ValueError(f"a plot needs at least one point, {title!r} has none")
    low, high = min(x for x, _ in points), max(x for x, _ in points)
    top = max(y for _, y in points) or 1.0

    def place(x: float, y: float) -> tuple[float, float]:
        across = (x - low) / (high - low or 1.0)
        return MARGIN + across * (WIDTH - 2 * MARGIN), HEIGHT - MARGIN - y / top * (HEIGHT - 2 * MARGIN)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
        _text(WIDTH / 2, 20, title, "middle"),
        _text(WIDTH / 2, HEIGHT - 12, x_label, "middle"),
        _text(8, 36, y_label, "start"),
    ]
    for x in sorted({x for x, _ in points}):
        parts.append(_text(place(x, 0)[0], HEIGHT - MARGIN + 16, f"{x:g}", "middle"))
    for tick in range(TICKS + 1):
        y = top * tick / TICKS
        height = place(low, y)[1]
        parts.append(f'<line x1="{MARGIN}" x2="{WIDTH - MARGIN}" y1="{height:.1f}" y2="{height:.1f}" stroke="#ddd"/>')
        parts.append(_text(MARGIN - 6, height + 4, f"{y:.3g}", "end"))
    for number, (name, line) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in line))
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(_text(WIDTH - MARGIN + 4, MARGIN + 14 * number, name, "start", colour))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _text(x: float, y: float, text: str, anchor: str, colour: str = "black") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(text)}</text>'
