"""The catalogue's evidence, from the index of the recordings.

    python -m golden.catalogue.recorded

writes golden/catalogue/recorded.toml; run it after recording. A recording is evidence only if the model reproduces every
row; the others are reported and omitted.
"""

import json
from pathlib import Path

import numpy as np

from golden.catalogue import ARCHITECTURES
from golden.comparison import differing
from golden.files import write_atomically
from golden.recordings.recording import OWN, Recording
from golden.recordings.recording_index import FOLDER, read_elsewhere, read_index, read_listed

TABLE = Path(__file__).parent / "recorded.toml"

RECORDED, THIRD_PARTY = "recorded", "third-party"

NOT_A_DEVICE = "not a device"
"""Device name in recordings of the models that stand in for a device in tests and rehearsals."""

HEAD = """\
# Instructions whose model reproduces rows of silicon, by the evidence that this gives them and by architecture.
# Written by `python -m golden.catalogue.recorded` from the index of the recordings and the reports elsewhere; do not edit.
"""


def rows_that_differ(recording: Recording) -> int:
    """Rows of a recording that the model does not reproduce, on the fastest engine available."""
    return int(np.count_nonzero(differing(recording.dot(), recording.d, recording.instruction.operation)))


def disagreeing(folder: Path) -> dict[str, int]:
    """Recordings of a folder with which the model disagrees: file name to number of rows that differ.

    Raises:
        ValueError: not a valid index, or a damaged recording. OSError: it cannot be read.
    """
    counts = {name: rows_that_differ(read_listed(folder, name)) for name in read_index(folder)}
    return {name: count for name, count in counts.items() if count}


def table(folder: Path) -> str:
    """The text of recorded.toml for the recordings in a folder that the model agrees with.

    Raises:
        ValueError: a recording of a stand-in device, or as `disagreeing`. OSError: as `disagreeing`.
    """
    for name, entry in read_index(folder).items():
        if NOT_A_DEVICE in entry["device"]:
            raise ValueError(
                f"{folder / name} is no evidence: {entry['device']} made it; remove it and its entry in the index"
            )
    found: dict[str, dict[str, set[str]]] = {RECORDED: {}, THIRD_PARTY: {}}
    left_out = disagreeing(folder)
    for name, entry in read_index(folder).items():
        if name not in left_out and entry["kind"] != "computed":
            evidence = RECORDED if entry["who"] == OWN else THIRD_PARTY
            found[evidence].setdefault(entry["arch"], set()).add(entry["instruction"])
    for report in read_elsewhere(folder):
        found[THIRD_PARTY].setdefault(report["arch"], set()).update(report["instructions"])
    text = HEAD
    for evidence, names in found.items():
        lines = [f"{arch} = {json.dumps(sorted(names[arch]))}\n" for arch in ARCHITECTURES if arch in names]
        text += f"\n[{evidence}]\n{''.join(lines)}" if lines else ""
    return text


if __name__ == "__main__":
    for file, rows in disagreeing(FOLDER).items():
        print(f"{file} is no evidence: {rows:,} rows differ from the model")
    write_atomically(TABLE, table(FOLDER).encode())
