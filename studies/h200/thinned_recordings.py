"""The rows of the job that the project keeps: the recordings, thinned, and the diagonals of the integer tiles as recordings.

    python -m studies.h200.thinned_recordings UNPACKED PLACE

reads what `studies.h200.unpack` wrote and writes below hwtests/recordings/PLACE. Of a recording every row of the directed
classes and corners stays, and the first rows of each random generator; rows are chosen by their place alone, never by their
result. Of `wgmma` only N = 8 is kept.
"""

import dataclasses
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import golden
from golden import recording
from golden.recording import OWN, VERSION, Header, Recording
from golden.recording_index import FOLDER, write
from golden.stimulus import CLASSES, Operands
from hwtests.nvidia.sparse_and_integer import MatrixInstruction
from studies.h200.job_stages import RECORDED_N
from studies.sparse_and_integer.recorded_tiles import RecordedTiles
from studies.sparse_and_integer.recorded_tiles import read as read_tiles

RANDOM_ROWS = 36
"""Rows that stay of each random generator; all generators together have thousands in the whole recording."""

DIAGONAL = "diagonals"
"""The only name of the rows of integer tiles."""


def thinned(whole: Recording) -> Recording:
    """The rows that are kept of a recording, in their order; its note says of how many."""
    names, label = whole.header.names, np.asarray(whole.label)
    stays = np.ones(len(whole), bool)
    for name in CLASSES:
        stays[np.flatnonzero(label == names.index(name))[RANDOM_ROWS:]] = False
    note = (
        f"{int(stays.sum()):,} of the {len(whole):,} rows that were recorded: all of the directed generators, the first "
        f"{RANDOM_ROWS} of {', '.join(CLASSES)}; the model reproduced the others too (docs/evidence/h100.md)"
    )
    return dataclasses.replace(
        whole, header=dataclasses.replace(whole.header, note=note), operands=whole.operands.rows(stays),
        d=whole.d[stays], label=label[stays],
    )  # fmt: skip


def name_in_catalogue(instruction: MatrixInstruction) -> str:
    """`mma.m16n8k16.satfinite.s32.…`, as the catalogue writes `mma.satfinite.m16n8k16.s32.…`."""
    m, n, k = instruction.shape
    limited = ["satfinite"] if instruction.saturate else []
    return ".".join([instruction.family, f"m{m}n{n}k{k}", *limited, *instruction.types])


def of_integers(tiles: RecordedTiles, date: str) -> Recording:
    """The diagonal of each tile of a dense integer instruction: places (i, i mod n), so that no row of A comes twice."""
    i = golden.instruction(tiles.instruction.arch, name_in_catalogue(tiles.instruction))
    count, m, n = tiles.d.shape
    at = np.arange(m), np.arange(m) % n

    def rows(array: npt.NDArray[Any], side: int) -> npt.NDArray[Any]:
        return np.ascontiguousarray(array[:, at[side]].reshape(count * m, -1))

    def elements(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.ascontiguousarray(array[:, at[0], at[1]].reshape(-1))

    about = tiles.device
    header = Header(
        version=VERSION, arch=i.arch, instruction=i.name, kind="silicon", device=about["device"], driver=about["driver"],
        runtime=about["runtime"], compiler=about["compiler"], machine_code=tiles.machine_code, date=date, seed=0,
        names=(DIAGONAL,), who=OWN, licence="Apache-2.0",
        note=f"the places (i, i mod {n}) of {count} tiles: uniform random bytes, c near the ends of its range",
    )  # fmt: skip
    operands = Operands(rows(tiles.tiles.a, 0), rows(tiles.tiles.b, 1), elements(tiles.tiles.c), None, None)
    return Recording(header, operands, elements(tiles.d), np.zeros(count * m, np.uint8))


def keep(unpacked: Path, folder: Path, place: str) -> int:
    """Write the kept rows into a folder of recordings; returns how many files.

    Raises:
        ValueError: a file of the job is damaged, or nothing was recorded. OSError: it cannot be read or written.
    """
    kept: list[Recording] = []
    for path in sorted((unpacked / "recordings").glob("*.npz")):
        whole = recording.read(path)
        if not whole.header.instruction.startswith("wgmma.") or whole.instruction.n == min(RECORDED_N):
            kept.append(thinned(whole))
    if not kept:
        raise ValueError(f"{unpacked} must have recordings, it has none")
    for path in sorted((unpacked / "tiles").glob("*.npz")):
        tiles = read_tiles(path)
        if not tiles.instruction.sparse:
            kept.append(of_integers(tiles, kept[0].header.date))
    for found in kept:
        write(folder, found, place)
    return len(kept)


if __name__ == "__main__":
    try:
        given, where = sys.argv[1:]
        print(f"{keep(Path(given), FOLDER, where):,} files")
    except (ValueError, OSError) as error:
        print(f"studies.h200.thinned_recordings: {error}", file=sys.stderr)
        sys.exit(2)
