"""Draws figures with matplotlib (extra `plots`): equal data give equal bytes."""

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#b8860b", "#6a4c93", "#444444")
"""Colours that people with colour blindness, too, can distinguish (after Okabe and Ito)."""

DATELESS: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "png": {"Software": None}}


def plain(text: str) -> str:
    """Text escaped for plots: a dollar sign would begin a formula, and legends leave out labels that begin with an
    underscore."""
    escaped = text.replace("$", "\\$")
    return f" {escaped}" if escaped.startswith("_") else escaped


@contextmanager
def drawing() -> Iterator[None]:
    """Settings in which to draw and write a figure: no id is random, and text stays text, so that no font of this machine
    enters the file.

    Raises:
        ModuleNotFoundError: matplotlib is not installed.
    """
    import matplotlib

    settings = {"svg.hashsalt": "mmau", "svg.fonttype": "none", "font.family": "sans-serif", "axes.axisbelow": True}
    with matplotlib.rc_context(settings):  # type: ignore[arg-type]
        yield


def image(figure: "Figure", kind: str = "svg") -> bytes:
    """The figure's file, `svg` or `png`, without a date in it; to be called within `drawing`."""
    written = io.BytesIO()
    figure.savefig(written, format=kind, metadata=DATELESS[kind], dpi=120)
    return written.getvalue()


def panels(draw: Sequence["Callable[[Axes], None]"], width: float = 4.6) -> bytes:
    """An SVG of panels side by side.

    Args:
        draw: functions that fill the panels. width: the width of a panel (inches).

    Raises:
        ModuleNotFoundError: matplotlib is not installed.
    """
    with drawing():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width * len(draw), 3.6), layout="constrained")
        for fill, axes in zip(draw, figure.subplots(1, len(draw), squeeze=False)[0], strict=True):
            fill(axes)
        return image(figure)


def line_plot(series: Mapping[str, Sequence[tuple[float, float]]], title: str, x_label: str, y_label: str) -> bytes:
    """An SVG of lines through points (x, y), y from zero on, with a tick at each x.

    Raises:
        ValueError: no point at all. ModuleNotFoundError: matplotlib is not installed.
    """
    every_x = sorted({x for line in series.values() for x, _ in line})
    if not every_x:
        raise ValueError(f"a plot needs at least one point, {title!r} has none")

    def fill(axes: "Axes") -> None:
        for number, (name, line) in enumerate(series.items()):
            axes.plot([x for x, _ in line], [y for _, y in line], label=name, color=COLOURS[number % len(COLOURS)])
        axes.set(xlabel=x_label, ylabel=y_label, title=title, ylim=(0, None))
        axes.set_xticks(every_x)
        axes.grid(axis="y", alpha=0.3)
        axes.legend(fontsize="small")

    return panels([fill], 7.0)
