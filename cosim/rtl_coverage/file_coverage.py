"""Coverage of the Verilog that Verilator counts: executed lines and changed bits of each source file, read from its coverage
files, and written as an lcov tracefile.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


@dataclass(frozen=True)
class FileCoverage:
    """Coverage of one source file.

    Attributes:
        file: its path.
        lines: execution count of each line with statements, by number from 1: the smallest count of the parts that Verilator
            counts separately, such as the two values of `?:`.
        bits: toggle count of each bit of signals, by line of the declaration and name: the smaller one of the counts of
            changes from 0 to 1 and from 1 to 0.
    """

    file: str
    lines: Mapping[int, int]
    bits: Mapping[tuple[int, str], int]

    @property
    def lines_hit(self) -> int:
        """The number of lines of which every part was executed."""
        return sum(count > 0 for count in self.lines.values())

    @property
    def bits_toggled(self) -> int:
        """The number of bits that changed from 0 to 1 and from 1 to 0."""
        return sum(count > 0 for count in self.bits.values())

    def as_dict(self) -> dict[str, Any]:
        """The sums and the missed lines and bits, for JSON."""
        return {
            "file": self.file,
            "lines": len(self.lines),
            "lines_hit": self.lines_hit,
            "missed_lines": [line for line, count in self.lines.items() if not count],
            "bits": len(self.bits),
            "bits_toggled": self.bits_toggled,
            "missed_bits": [{"line": line, "bit": bit} for (line, bit), count in self.bits.items() if not count],
        }


def by_file(points: Mapping[Point, int]) -> tuple[FileCoverage, ...]:
    """Collect the points of each file, files and lines in order."""
    lines: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    edges: dict[str, dict[tuple[int, str], Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for point, count in sorted(points.items()):
        if point.kind == "toggle":
            bit, _, edge = point.comment.rpartition(":")
            edges[point.file][point.line, bit][edge] += count
        for line in point.lines:
            lines[point.file][line].append(count)
    return tuple(
        FileCoverage(
            file,
            {line: min(counts) for line, counts in sorted(lines[file].items())},
            {bit: min(counts.values()) for bit, counts in edges[file].items()},
        )
        for file in sorted({*lines, *edges})
    )


def sums(files: Sequence[FileCoverage]) -> str:
    """The lines hit and bits toggled of all files, as text."""
    hit, lines = sum(file.lines_hit for file in files), sum(len(file.lines) for file in files)
    toggled, bits = sum(file.bits_toggled for file in files), sum(len(file.bits) for file in files)
    return f"{hit:,} of {lines:,} lines hit, {toggled:,} of {bits:,} bits toggled"


def lcov_info(files: Sequence[FileCoverage]) -> str:
    """The execution counts of the lines of each file. lcov has no toggle coverage."""
    records = []
    for file in files:
        if file.lines:
            records += ["TN:mmau", f"SF:{file.file}", *(f"DA:{line},{count}" for line, count in file.lines.items())]
            records += [f"LF:{len(file.lines)}", f"LH:{file.lines_hit}", "end_of_record"]
    return "".join(f"{record}\n" for record in records)


class CoverageFiles:
    """The coverage files of one run. The files of an earlier run are removed.

    Args:
        folder: folder of the run, where the simulator runs.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for earlier in folder.glob("coverage-*.dat"):
            earlier.unlink()

    def plusargs(self, number: int) -> tuple[str, ...]:
        """The simulator's argument for the path of the file of simulation `number`."""
        return (f"+verilator+coverage+file+{self._file(number).name}",)

    def executed(self, simulations: int, broke_off: bool) -> tuple[FileCoverage, ...] | None:
        """The coverage of all simulations together; None where the only simulation was interrupted and wrote no file.

        Raises:
            SimulationError: a file is missing or damaged.
        """
        files = [self._file(number) for number in range(simulations)]
        if broke_off and not files[-1].exists():
            files.pop()
        if not files:
            return None
        points = merged_points([(file, read_points(file)) for file in files])
        if not points:
            raise SimulationError(f"{files[0]}: Verilator has counted nothing: are all sources under coverage_off?")
        return by_file(points)

    def _file(self, number: int) -> Path:
        return self._folder / f"coverage-{number}.dat"
