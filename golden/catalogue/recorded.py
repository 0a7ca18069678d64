"""The catalogue's evidence, from the index of the recordings.

    python -m golden.catalogue.recorded

writes golden/catalogue/recorded.toml; run it after recording. Only what replays without a difference belongs there: the
replay tests hold that.
"""

import json
from pathlib import Path

from golden.catalogue import ARCHITECTURES
from golden.files import write_atomically
from golden.recording import FOLDER, read_index

TABLE = Path(__file__).parent / "recorded.toml"

HEAD = """\
# Instructions of which the project keeps a recording of silicon, by architecture: their evidence is "recorded".
# Written by `python -m golden.catalogue.recorded` from the index of the recordings; do not edit.
"""


def table(folder: Path) -> str:
    """The text of recorded.toml for the recordings in a folder.

    Raises:
        ValueError: not a valid index.
    """
    names: dict[str, list[str]] = {}
    for entry in read_index(folder).values():
        names.setdefault(entry["arch"], []).append(entry["instruction"])
    lines = [f"{arch} = {json.dumps(sorted(names[arch]))}" for arch in ARCHITECTURES if arch in names]
    return HEAD + "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    write_atomically(TABLE, table(FOLDER).encode())
