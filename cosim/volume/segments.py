"""The parts of a run, each a process of its own: what it sends depends on the run alone, never on how many run at a time."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from cosim.bench.crosscheck import SAMPLE
from cosim.bench.selection import Selection
from cosim.bench.stimulus import specification_of
from cosim.bench.timing import Timing
from cosim.compile.power_up import VERILATOR_SEEDS, PowerUp, power_ups
from cosim.volume.plan import products_of
from cosim.volume.rows import LABELS, RowsFile, write_rows
from rtl.designs.design import Design

DIRECTED = 20_000
"""Vectors of a run that are those of a run in cocotb; what comes after them is made by libmmau."""

SEGMENT = 1 << 18
"""Native vectors of a segment: some tenths of a second to some minutes, according to the design."""


@dataclass(frozen=True, kw_only=True)
class Segment:
    """Some vectors of a run, before which the design is powered up anew.

    Attributes:
        first: number of the first vector; vectors: how many, those included that the selection leaves out.
        arguments: of the program.
        classes: name of each class of the stimulus by its number, of native rows.
        write: makes the file of its vectors; None where they are native.
    """

    first: int
    vectors: int
    arguments: tuple[str, ...]
    classes: Mapping[int, str] = field(default_factory=dict)
    write: Callable[[], RowsFile] | None = None


@dataclass(frozen=True, kw_only=True)
class Vectors:
    """What is to be sent to a design.

    Attributes:
        timing: how it is driven. results: dot products that go in and come out at once.
        vectors, seed, selection: as of a run. folder: for files of rows.
    """

    design: Design
    timing: Timing
    results: int
    vectors: int
    seed: int
    selection: Selection
    folder: Path

    def segments(self) -> Iterator[Segment]:
        """All segments, in order: those of a run in cocotb, then native ones."""
        yield from self._directed()
        yield from self._native()

    def _directed(self) -> Iterator[Segment]:
        """The vectors that a run in cocotb sends, and as it shares them among power-ups."""
        for part in power_ups("verilator", self.timing, min(self.vectors, DIRECTED), self.seed):
            yield from self._of_file(part)

    def _of_file(self, part: PowerUp) -> Iterator[Segment]:
        if part.has_any(self.selection):
            arguments = ("--manner-seed", str(part.seed), *part.plusargs)
            write = partial(self._write, part)
            yield Segment(first=part.first, vectors=part.vectors, arguments=arguments, write=write)

    def _write(self, part: PowerUp) -> RowsFile:
        path, specification = self.folder / f"rows{part.first}.bin", specification_of(self.design, self.results)
        return write_rows(
            self.design, specification, part.vectors, part.seed, path,
            results=self.results, first=part.first, selection=self.selection,
        )  # fmt: skip

    def _native(self) -> Iterator[Segment]:
        """All vectors after those, made by libmmau."""
        rows, vector = self.vectors - DIRECTED, self.selection.vector
        classes = native_classes(self.design)
        chosen = _chosen(classes, self.selection)
        every = max(1, rows // SAMPLE)  # the reference engine computes as many of them as of a run in cocotb
        starts: Sequence[int] = range(0, rows, SEGMENT)
        if vector is not None:
            starts = [vector - DIRECTED] if vector >= DIRECTED else []
        for start in starts:
            count = min(SEGMENT, rows - start) if vector is None else 1
            arguments = (
                "--vectors", str(count), "--seed", str(self.seed), "--first", str(start), "--base", str(DIRECTED),
                "--sample", str(every), "--mostly-at-speed", "--manner-seed", str(self.seed + start), *chosen,
                "+verilator+rand+reset+2", f"+verilator+seed+{(self.seed + start // SEGMENT) % VERILATOR_SEEDS + 1}",
            )  # fmt: skip
            yield Segment(first=DIRECTED + start, vectors=count, arguments=arguments, classes=classes)


def native_classes(design: Design) -> dict[int, str]:
    """The classes of native rows, by number, named as those of a run in cocotb are."""
    from golden.stimulus import volume

    return {
        number * LABELS + label: f"{product.name}: {name}" if product.name else name
        for number, product in enumerate(products_of(design))
        for label, name in enumerate(volume.NAMES)
    }


def _chosen(classes: Mapping[int, str], selection: Selection) -> list[str]:
    """The options that select classes."""
    options = []
    for option, wanted in (("--only", selection.only), ("--exclude", selection.exclude)):
        labels = [label for label, name in classes.items() if name in wanted or name.rpartition(": ")[2] in wanted]
        if wanted and option == "--only" and not labels:
            labels = [NO_LABEL]
        options += [word for label in labels for word in (option, str(label))]
    return options


NO_LABEL = (1 << 16) - 1
"""Of no class: to select it selects nothing."""
