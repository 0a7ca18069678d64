"""The results of the list as files: recordings with their index, rows that differ, products with the orders that explain
them, conversions, and the tables of the timed loops.

    python -m studies.lent_minutes.unpack OUT INTO [PLACE]

PLACE, such as h100, is a folder below hwtests/recordings to which the recordings go too.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import golden
from golden import recording, recording_index
from golden.arrays import bits_dtype
from golden.files import write_atomically
from studies.lent_minutes.instructions import RECORDINGS
from studies.lent_minutes.orders import explained_by
from studies.lent_minutes.products import problem_of, sampled
from studies.lent_minutes.records import DONE, Records
from studies.microbenchmarks.run import POINTS, Measured, write_points, write_tables

REPORTS = {"instructions": "instructions.json", "products": "products.json", "conversions": "conversions.json"}
"""Item to file of what its units found."""


def unpack(out: Path, into: Path, place: str = "", *, kept: Path = recording_index.FOLDER) -> int:
    """Write the files, and return the number of recordings.

    Args:
        place: folder below `kept` for the recordings; empty for none.

    Raises:
        ValueError: the folder has no results, or one is damaged. OSError: it cannot be read or written.
    """
    records = Records(out)
    if not records.machine:
        raise ValueError(f"{out} must have results of the list, it has none")
    count = 0
    for name, content in records.files.items():
        path = into / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, content)
        if path.parent.name == RECORDINGS:
            found, count = recording.read(path), count + 1
            recording_index.write(path.parent, found)
            if place:
                recording_index.write(kept, found, place)
    for item, file in REPORTS.items():
        units = records.units.get(item, {})
        if item == "products":
            units = {unit: explained(unit, entry) for unit, entry in units.items()}
        text = {"machine": records.machine, "runs": records.runs, "units": units}
        into.mkdir(parents=True, exist_ok=True)
        write_atomically(into / file, (json.dumps(text, indent=1, ensure_ascii=False) + "\n").encode())
    points = [
        Measured(*point) for entry in records.units.get("timed again", {}).values() for point in entry.get("points", [])
    ]
    if points:
        write_points(into / POINTS, points)
        write_tables(into, points, records.machine["device"])
    return count


def explained(unit: str, entry: dict[str, Any]) -> dict[str, Any]:
    """The entry of a product with the orders that give all its elements; the elements are dropped where an order does."""
    if entry["status"] != DONE or "elements" not in entry:
        return entry
    problem = problem_of(unit)
    rows, columns = sampled(problem)
    codes = np.frombuffer(bytes.fromhex(entry["elements"]), "<u4").reshape(len(rows), len(columns))
    elements = codes.astype(bits_dtype(golden.FORMATS[problem.d]))
    orders = explained_by(problem, entry["algorithm"]["SPLITK_NUM"], elements, "scaled" in unit)
    return {key: value for key, value in entry.items() if key != "elements" or not orders} | {"explained_by": orders}


if __name__ == "__main__":
    try:
        given, where, *to_keep = sys.argv[1:]
        print(f"{unpack(Path(given), Path(where), *to_keep[:1]):,} recordings")
    except (ValueError, OSError) as error:
        print(f"studies.lent_minutes.unpack: {error}", file=sys.stderr)
        sys.exit(2)
