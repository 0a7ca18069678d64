"""Coverage of source files: executed lines, and bits that changed."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cosim.rtl_coverage.coverage_points import Point


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
