"""The catalogue's evidence, from the index of the recordings.

    python -m golden.catalogue.recorded

writes golden/catalogue/recorded.toml; run it after recording. A recording is evidence only where the model gives every row
of it: the others are named and left out.
"""

import json
from pathlib import Path

import numpy as np

from golden.catalogue import ARCHITECTURES
from golden.comparison import differing
from golden.files import write_atomically
from golden.recording import FOLDER, Recording, read_index, read_listed

TABLE = Path(__file__).parent / "recorded.toml"

NOT_A_DEVICE = "not a device"
"""What the models that stand in for a device in tests and rehearsals call themselves."""

HEAD = """\
# Instructions of which the project keeps a recording of silicon, by architecture: their evidence is "recorded".
# Written by `python -m golden.catalogue.recorded` from the index of the recordings; do not edit.
"""


def rows_that_differ(recording: Recording) -> int:
    """Rows of a recording that the model does not give, on the fastest engine of this machine."""
    got = recording.instruction.dot(*recording.operands)
    return int(np.count_nonzero(differing(got, recording.d, recording.instruction.operation)))


def disagreeing(folder: Path) -> dict[str, int]:
    """Recordings of a folder that are no evidence: file name to rows that differ.

    Raises:
        ValueError: not a valid index, or a damaged recording. OSError: it cannot be read.
    """
    counts = {name: rows_that_differ(read_listed(folder, name)) for name in read_index(folder)}
    return {name: count for name, count in counts.items() if count}


def table(folder: Path) -> str:
    """The text of recorded.toml for the recordings in a folder that the model agrees with.

    Raises:
        ValueError: a recording that no device made, and as `disagreeing`. OSError: as there.
    """
    for name, entry in read_index(folder).items():
        if NOT_A_DEVICE in entry["device"]:
            raise ValueError(
                f"{folder / name} is no evidence: {entry['device']} made it; remove it and its entry in the index"
            )
    names: dict[str, list[str]] = {}
    left_out = disagreeing(folder)
    for name, entry in read_index(folder).items():
        if name not in left_out:
            names.setdefault(entry["arch"], []).append(entry["instruction"])
    lines = [f"{arch} = {json.dumps(sorted(names[arch]))}" for arch in ARCHITECTURES if arch in names]
    return HEAD + "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    for file, rows in disagreeing(FOLDER).items():
        print(f"{file} is no evidence: {rows:,} rows differ from the model")
    write_atomically(TABLE, table(FOLDER).encode())
