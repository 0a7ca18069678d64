"""Put what the calls of `python -m studies.h200` handed over together again. Calls on machines that were given the state
alone begin files anew: points of the microbenchmarks and rows that differ are those of all calls.

python -m studies.h200.unpack OUT... INTO
"""

import sys
import tempfile
from pathlib import Path

from golden import recording, recording_index
from hwtests.conform import differing_rows
from studies.h200 import state as states
from studies.h200.pieces import unpack
from studies.microbenchmarks.run import POINTS, read_points, write_plots, write_points, write_tables

POINTS_FILE = f"microbenchmarks/{POINTS}"


def main(outs: list[Path], into: Path) -> int:
    """Unpack, index the recordings, and write the tables and plots of all points; returns how many files were unpacked.

    Raises:
        ValueError: no piece, or one that is damaged or not all there. OSError: it cannot be read or written.
    """
    names = unpack(outs, into, merged)
    for name in names:
        if name.startswith("recordings/"):
            recording_index.write(into / "recordings", recording.read(into / name))
    if POINTS_FILE in names:
        points = read_points(into / POINTS_FILE)
        write_tables(into / "microbenchmarks", points, states.load(outs[-1]).device.get("device", "unknown device"))
        print(write_plots(into / "microbenchmarks", points))
    return len(names)


def merged(name: str, earlier: bytes, later: bytes) -> bytes:
    """Points and rows that differ of both; of any other file the later one."""
    if name != POINTS_FILE and not name.startswith("mismatches"):
        return later
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / word for word in ("earlier", "later")]
        for path, content in zip(paths, (earlier, later), strict=True):
            path.write_bytes(content)
        if name != POINTS_FILE:
            return differing_rows.content(differing_rows.merged(*map(differing_rows.read, paths)))
        points = {(point.name, point.ilp, point.warps): point for path in paths for point in read_points(path)}
        write_points(paths[0], points.values())
        return paths[0].read_bytes()


if __name__ == "__main__":
    try:
        *given, last = map(Path, sys.argv[1:])
        print(f"{main(given, last):,} files")
    except (ValueError, OSError) as error:
        print(f"studies.h200.unpack: {error}", file=sys.stderr)
        sys.exit(2)
