"""What was executed of each source file."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cosim.rtl_coverage.points import Point


@dataclass(frozen=True)
class FileCoverage:
    """What was executed of one source file.

    Attributes:
        file: its path.
        lines: that hold statements, by number from 1, to how often they ran: of several parts that Verilator counts, as the
            two values of `?:`, the one that ran least.
        bits: of signals, by line of their declaration and name, to how often they changed: from 0 to 1 or back, whichever
            was less often.
    """

    file: str
    lines: Mapping[int, int]
    bits: Mapping[tuple[int, str], int]

    @property
    def lines_hit(self) -> int:
        """Lines all of whose parts ran."""
        return sum(count > 0 for count in self.lines.values())

    @property
    def bits_toggled(self) -> int:
        """Bits that changed from 0 to 1 and from 1 to 0."""
        return sum(count > 0 for count in self.bits.values())

    def as_dict(self) -> dict[str, Any]:
        """The sums and what was missed, ready for JSON."""
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
    """The points of each file together, files and lines in order."""
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
    """Lines hit and bits toggled of all of them, in words."""
    hit, lines = sum(file.lines_hit for file in files), sum(len(file.lines) for file in files)
    toggled, bits = sum(file.bits_toggled for file in files), sum(len(file.bits) for file in files)
    return f"{hit:,} of {lines:,} lines hit, {toggled:,} of {bits:,} bits toggled"
