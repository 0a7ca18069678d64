"""Reads Verilator's coverage.dat: one coverage point on each line.

    C '\\x01f\\x02unit.v\\x01l\\x0212\\x01page\\x02v_line/unit\\x01o\\x02if\\x01S\\x0212-14\\x01h\\x02top.unit' 31

Keys follow \\x01, their values \\x02: f file, l line, n column, page kind and module, o comment, S lines that the point
covers, h instance. Source: Verilator 5.048, include/verilated_cov.cpp and verilated_cov_key.h.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cosim.build.errors import SimulationError

HEADER = "# SystemC::Coverage-3"
"""First line of a coverage file."""

KINDS = {"v_line": "line", "v_branch": "line", "v_toggle": "toggle"}
"""Kind of the points of each page."""

EDGES = (":0->1", ":1->0")
"""Endings of the comments of a bit's points: its directions."""

_POINT = re.compile(r"C '(\x01.*)' ([0-9]+)")
_ESCAPED = re.compile(rb"%(?:FFFFFF)?([0-9A-F]{2})")  # Verilator sign-extends bytes above 0x7f


@dataclass(frozen=True, order=True)
class Point:
    """A coverage point, which has one count; instances of a module share it.

    Attributes:
        file: path of the source. line, column: its place there, from 1.
        kind: "line", "toggle", or "other", which only a user's arguments of Verilator produce.
        comment: the part of a statement; for a toggle the bit and its direction, "sum[3]:0->1".
        lines: lines that are executed with it; empty for other kinds than "line".
    """

    file: str
    line: int
    column: int
    kind: str
    comment: str
    lines: tuple[int, ...]


def read_points(path: Path) -> Counter[Point]:
    """Read the points of a file with their counts, which may be 0.

    Raises:
        SimulationError: the file does not exist, is damaged, or has another format.
    """
    try:
        header, *lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, ValueError) as error:
        raise SimulationError(f"{path}: must be a coverage file that Verilator wrote: {error}") from error
    if header != HEADER:
        raise SimulationError(f"{path}: a coverage file must begin with {HEADER!r}, got {header[:40]!r}")
    if not lines or lines.pop():
        raise SimulationError(f"{path}: the last line has no end: the file was cut off; run again")
    counts = Counter[Point]()
    for number, line in enumerate(lines, start=2):
        try:
            point, count = _point(line)
        except ValueError as error:
            raise SimulationError(
                f"{path}, line {number}: not a point of Verilator's coverage: {error}; run again"
            ) from error
        counts[point] += count
    return counts


def merged_points(files: Iterable[tuple[Path, Counter[Point]]]) -> Counter[Point]:
    """Add the counts of several simulations of the same program.

    Raises:
        SimulationError: the files do not have the same points: one of them is incomplete.
    """
    (first, together), *others = files
    together = Counter(together)
    for path, counts in others:
        if counts.keys() != together.keys():
            raise SimulationError(f"{path} and {first}: must have the same points: one was cut off; run again")
        together.update(counts)
    return together


def _point(line: str) -> tuple[Point, int]:
    """Parse one line of a file; raise ValueError for an invalid line."""
    match = _POINT.fullmatch(line)
    if match is None:
        raise ValueError(f"got {line[:60]!r}")
    pairs = (pair.partition("\x02") for pair in match[1][1:].split("\x01"))
    value = {key: _unescaped(text) for key, _, text in pairs}
    page = value.get("page", "").partition("/")[0]
    missing = [key for key in ("f", "l", "n", "page", "o") if key not in value]
    if missing or not page.startswith("v_"):
        raise ValueError(f"no {missing[0]}" if missing else f"got page {page!r}")
    if page == "v_toggle" and not value["o"].endswith(EDGES):
        raise ValueError(f"got a bit without its direction: {value['o']!r}")
    kind = KINDS.get(page, "other")
    lines = _lines(value.get("S", "")) if kind == "line" else ()
    return Point(value["f"], int(value["l"]), int(value["n"]), kind, value["o"], lines), int(match[2])


def _lines(text: str) -> tuple[int, ...]:
    """Parse numbers of lines, such as "12-14,16"."""
    spans = [span.partition("-") for span in text.split(",") if span]
    return tuple(line for first, _, last in spans for line in range(int(first), int(last or first) + 1))


def _unescaped(text: str) -> str:
    """Decode the escaped bytes of a value, such as "%25"."""
    return _ESCAPED.sub(lambda match: bytes.fromhex(match[1].decode()), text.encode()).decode(errors="replace")
