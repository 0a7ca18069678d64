"""The segments of a volume run, one process each. Their vectors do not depend on the number of parallel processes."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from cosim.bench.coverage import SAMPLE
from cosim.bench.operand_widths import THE_UNITS, OperandWidths
from cosim.bench.protocol import Timing
from cosim.bench.runs import REPEATED
from cosim.bench.schedule import NATIVE, Schedule, schedule
from cosim.bench.scoreboard import Selection
from cosim.bench.stimulus import specification_of
from cosim.build.power_up import VERILATOR_SEEDS, PowerUp, power_ups
from cosim.volume.design_plan import products_of
from cosim.volume.vector_files import LABELS, RowsFile, write_rows
from golden.stimulus.volume import takes
from rtl.designs.design import Design

DIRECTED = 20_000
"""Number of first vectors of a run that equal the vectors of a run in cocotb; libmmau generates the later ones."""

SEGMENT = 1 << 18
"""Native vectors of a segment, which take from tenths of a second to minutes, depending on the design."""

DRAWN = 1 << 16
"""Vectors of a later segment that golden draws, which take seconds."""

LONG_SEGMENT = 1 << 21
"""Least number of native vectors of the first segment, if the run has that many; in a longer run it has half of them. The
design is powered up once and reset only at the beginning of it, so that it ages."""

RESET_ROUNDS = 128
"""How many times all resets come in a further native segment: more often than its vectors last."""


@dataclass(frozen=True, kw_only=True)
class Segment:
    """Consecutive vectors of a run, with a power-up of the design before them.

    Attributes:
        first: number of the first vector; vectors: number of vectors, including those that the selection excludes.
        arguments: options of the program. schedule: draws its schedule.
        classes: name of each class of native rows, by number.
        write: writes the file of its vectors; None for native vectors.
    """

    first: int
    vectors: int
    arguments: tuple[str, ...]
    schedule: Callable[[], Schedule]
    classes: Mapping[int, str] = field(default_factory=dict)
    write: Callable[[], RowsFile] | None = None


@dataclass(frozen=True, kw_only=True)
class Vectors:
    """The vectors of a volume run of a design.

    Attributes:
        timing: timing of the design. results: dot products in a vector.
        vectors, seed, selection: as in `cosim.runner.request.Request`. folder: folder for files of rows.
        widths: the widths of c and d.
    """

    design: Design
    timing: Timing
    results: int
    vectors: int
    seed: int
    selection: Selection
    folder: Path
    widths: OperandWidths = THE_UNITS

    def segments(self) -> Iterator[Segment]:
        """All segments in order: those with the vectors of a run in cocotb, then native ones, or where these cannot be, more
        like the first."""
        yield from self._directed()
        yield from self._native() if self.are_native else self._drawn()

    @property
    def are_native(self) -> bool:
        """Whether libmmau generates the later vectors: all operands may be sent, and it makes rows of their formats and
        computes the results, which it does of no elements with zero points."""
        makes = all(takes(product.shape) for product in products_of(self.design, self.widths))
        computes = specification_of(self.design, self.results, self.widths).is_native
        plain = not any(choice.unit.zeros for choice in self.design.choices)
        return makes and computes and plain and not self.widths.assumed

    def _drawn(self) -> Iterator[Segment]:
        """The segments of the later vectors, with those of runs of other seeds."""
        for first in range(DIRECTED, self.vectors, DRAWN):
            seed = self.seed + first
            arguments = ("+verilator+rand+reset+2", f"+verilator+seed+{seed % VERILATOR_SEEDS + 1}")
            yield from self._of_file(PowerUp(first, min(DRAWN, self.vectors - first), seed, arguments))

    def _directed(self) -> Iterator[Segment]:
        """The segments with the vectors of a run in cocotb, split among power-ups in the same way."""
        for part in power_ups("verilator", self.timing, min(self.vectors, DIRECTED), self.seed):
            yield from self._of_file(part)

    def _of_file(self, part: PowerUp) -> Iterator[Segment]:
        if part.has_any(self.selection):
            write, plan = partial(self._write, part), partial(schedule, part.seed)
            yield Segment(first=part.first, vectors=part.vectors, arguments=part.plusargs, schedule=plan, write=write)

    def _write(self, part: PowerUp) -> RowsFile:
        path, specification = self.folder / f"rows{part.first}.bin", specification_of(self.design, self.results, self.widths)
        return write_rows(
            self.design, specification, part.vectors, part.seed, path,
            results=self.results, first=part.first, selection=self.selection,
        )  # fmt: skip

    def _native(self) -> Iterator[Segment]:
        """The segments of the later vectors, which libmmau generates."""
        rows, vector = self.vectors - DIRECTED, self.selection.vector
        classes = native_classes(self.design)
        chosen = _chosen(classes, self.selection)
        every = max(1, rows // SAMPLE)  # the reference engine's sample is as large as for a run in cocotb
        for start, count in native_parts(rows) if vector is None else [(vector - DIRECTED, 1)]:
            if start < 0:
                continue
            plan = partial(schedule, self.seed + start, NATIVE, RESET_ROUNDS if start else 1)
            arguments = (
                "--vectors", str(count), "--seed", str(self.seed), "--first", str(start), "--base", str(DIRECTED),
                "--sample", str(every), *chosen,
                "+verilator+rand+reset+2", f"+verilator+seed+{(self.seed + start // SEGMENT) % VERILATOR_SEEDS + 1}",
            )  # fmt: skip
            yield Segment(first=DIRECTED + start, vectors=count, arguments=arguments, schedule=plan, classes=classes)


def native_parts(rows: int) -> list[tuple[int, int]]:
    """The first row and the number of rows of each native segment."""
    long = min(rows, max(LONG_SEGMENT, rows // 2))
    return [(0, long)] * (rows > 0) + [(start, min(SEGMENT, rows - start)) for start in range(long, rows, SEGMENT)]


def native_classes(design: Design) -> dict[int, str]:
    """The classes of native rows by number, with the names that a run in cocotb gives them."""
    from golden.stimulus import volume

    names = {**dict(enumerate(volume.NAMES)), LABELS - 1: REPEATED}
    return {
        number * LABELS + label: f"{product.name}: {name}" if product.name else name
        for number, product in enumerate(products_of(design))
        for label, name in names.items()
    }


def _chosen(classes: Mapping[int, str], selection: Selection) -> list[str]:
    """The program's options that select classes."""
    options = []
    for option, wanted in (("--only", selection.only), ("--exclude", selection.exclude)):
        labels = [label for label, name in classes.items() if name in wanted or name.rpartition(": ")[2] in wanted]
        if wanted and option == "--only" and not labels:
            labels = [NO_LABEL]
        options += [word for label in labels for word in (option, str(label))]
    return options


NO_LABEL = (1 << 16) - 1
"""The number of no class: selecting it selects no vector."""
