"""Import transcribed rows as recordings: `python -m studies.import_recordings ARCHIVE.npz …`.

An archive is one of `studies.import_recordings.archives.ARCHIVES`, by its file's name; its SHA-256 must be the one there.
It has an array `index` (JSON in uint8, a list with an entry for each set) and arrays `{i}_a`, `{i}_b`, `{i}_c`, `{i}_d` …
Every set becomes a recording of an instruction of the catalogue. A recording that is damaged in any way refuses the whole
archive, and nothing of it is written.
"""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from golden.npz import read_npz
from golden.recording import Recording, content
from golden.recording_index import write
from studies.import_recordings.archives import ARCHIVES, Archive, Set


def sets_of(path: Path, archive: Archive) -> list[Set]:
    """The sets of an archive's file, in order.

    Raises:
        ValueError: the file is not the archive, or damaged. OSError: it cannot be read.
    """
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != archive.sha256:
        raise ValueError(f"{path} must have the SHA-256 {archive.sha256}, got {found}; nothing is imported")
    entries: list[dict[str, Any]] = json.loads(read_npz(path, ("index",))["index"].tobytes())
    names = [f"{number}_{key}" for number in range(len(entries)) for key in ("a", "b", "c", "d", "label", "sa", "sb")]
    arrays = read_npz(path, ("index",), names)
    return [
        Set(entry, {name.partition("_")[2]: array for name, array in arrays.items() if name.startswith(f"{number}_")})
        for number, entry in enumerate(entries)
    ]


def imported(path: Path, archive: Archive, into: Path | None = None) -> int:
    """Write every recording of an archive; returns how many.

    Args:
        into: folder of the recordings; that of the archive by default.

    Raises:
        ValueError: as `sets_of`, or a set is no recording. OSError: a file cannot be read or written.
    """
    made: list[tuple[str, Recording]] = []
    for number, found in enumerate(archive.prepared(sets_of(path, archive))):
        try:
            recording = Recording(archive.header(found), archive.operands(found), found.arrays["d"], label_of(found))
            content(recording)  # checks it
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"set {number} of {path} is no recording: {error}; nothing is imported") from error
        made.append((archive.place(found), recording))
    for place, recording in made:
        write(archive.folder if into is None else into, recording, place)
    return len(made)


def label_of(found: Set) -> Any:
    """The label of each row: of its own array, or that of the only name."""
    return found.arrays.get("label", np.zeros(len(found.arrays["d"]), np.uint8))


def main(paths: list[Path]) -> None:
    """Import archives.

    Raises:
        ValueError: an unknown name of an archive, or as `imported`. OSError: as `imported`.
    """
    for path in paths:
        if path.name not in ARCHIVES:
            raise ValueError(f"{path} must be one of the archives {', '.join(ARCHIVES)}")
    for path in paths:
        print(f"{path.name}: {imported(path, ARCHIVES[path.name])} recordings")


if __name__ == "__main__":
    try:
        main([Path(word) for word in sys.argv[1:]])
    except (ValueError, OSError) as error:
        print(f"studies.import_recordings: {error}", file=sys.stderr)
        sys.exit(2)
