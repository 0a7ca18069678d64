"""The parts of a run, each a process of its own: what it sends depends on the run alone, never on how many run at a time."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cosim.bench.crosscheck import SAMPLE
from cosim.bench.selection import Selection
from cosim.bench.stimulus import specification_of
from cosim.bench.timing import Timing
from cosim.compile.power_up import VERILATOR_SEEDS, power_ups
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
        classes: name of each class of the stimulus by its number.
        rows: the file of its vectors; None where they are native.
    """

    first: int
    vectors: int
    arguments: tuple[str, ...]
    classes: Mapping[int, str]
    rows: RowsFile | None = None


def directed_segments(
    design: Design, timing: Timing, vectors: int, seed: int, selection: Selection, results: int, folder: Path
) -> Iterator[Segment]:
    """The vectors that a run in cocotb sends, and as it shares them among power-ups."""
    specification = specification_of(design, results)
    for part in power_ups("verilator", timing, min(vectors, DIRECTED), seed):
        if not part.has_any(selection):
            continue
        path = folder / f"rows{part.first}.bin"
        rows = write_rows(
            design, specification, part.vectors, part.seed, path, results=results, first=part.first, selection=selection
        )
        arguments = ("--rows", str(path), "--manner-seed", str(part.seed), *part.plusargs)
        yield Segment(first=part.first, vectors=part.vectors, arguments=arguments, classes=rows.classes, rows=rows)


def native_segments(design: Design, vectors: int, seed: int, selection: Selection) -> Iterator[Segment]:
    """All vectors after those."""
    rows = vectors - DIRECTED
    if rows <= 0:
        return
    classes = native_classes(design)
    chosen = _chosen(classes, selection)
    every = max(1, rows // SAMPLE)  # the reference engine computes as many of them as of a run in cocotb
    starts: Sequence[int] = range(0, rows, SEGMENT)
    if selection.vector is not None:
        starts = [selection.vector - DIRECTED] if selection.vector >= DIRECTED else []
    for start in starts:
        count = min(SEGMENT, rows - start) if selection.vector is None else 1
        number = start // SEGMENT
        arguments = (
            "--vectors", str(count), "--seed", str(seed), "--first", str(start), "--base", str(DIRECTED),
            "--sample", str(every), "--mostly-at-speed", "--manner-seed", str(seed + start), *chosen,
            "+verilator+rand+reset+2", f"+verilator+seed+{(seed + number) % VERILATOR_SEEDS + 1}",
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
