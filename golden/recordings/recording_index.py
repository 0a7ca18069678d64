"""The index of a folder of recordings: what each file holds, who recorded it, and the SHA-256 of its bytes.

`index.json` maps the name of each file, relative to the folder, to an object with exactly the keys of `ENTRY`. A reader that
wants rows checks that the file is the one that the index describes.
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from golden.arithmetic.formats import INTEGERS, Cls, Format
from golden.files import write_atomically
from golden.recordings.recording import Recording, content, file_name, read

INDEX = "index.json"

FOLDER = Path(__file__).resolve().parents[2] / "hwtests" / "recordings"
"""Rows of silicon that the project holds; they are installed with it."""

COMPUTED = Path(__file__).resolve().parents[2] / "tests" / "data"
"""Folder of rows that another model computed; it is in the project's source tree alone."""

ENTRY: dict[str, type] = {
    "arch": str, "instruction": str, "kind": str, "device": str, "software": str, "who": str, "source": str, "commit": str,
    "licence": str, "rows": int, "specials": list, "sha256": str,
}  # fmt: skip
"""The keys of an entry. `software`: driver, runtime, compiler; `specials`: those of `SPECIALS` among operands and scales."""

ELSEWHERE = "elsewhere.toml"
"""File name of a folder's list of reports of silicon whose rows it does not hold, because they have no licence."""

REPORT: dict[str, type] = {
    "arch": str, "instructions": list, "device": str, "software": str, "who": str, "source": str, "commit": str,
    "licence": str, "rows": int, "specials": list, "compared_by": str,
}  # fmt: skip
"""The keys of a report. `rows`: number of rows of all its instructions together; `compared_by`: the test that
compares them."""

SPECIALS = ("NaN", "infinity", "subnormal", "−0")

Index = dict[str, dict[str, Any]]


class Held(NamedTuple):
    """A recording that the project holds: its folder, its name in the index there, and its entry."""

    folder: Path
    name: str
    entry: dict[str, Any]

    def read(self) -> Recording:
        """The recording.

        Raises:
            ValueError: as `read_listed`. OSError: it cannot be read.
        """
        return read_listed(self.folder, self.name)


def held() -> Iterator[Held]:
    """Yield every recording of the project; nothing for a folder that is not installed.

    Raises:
        ValueError: not a valid index.
    """
    for folder in (FOLDER, COMPUTED):
        for name, entry in read_index(folder).items():
            yield Held(folder, name, entry)


def write(folder: Path, recording: Recording, place: str = "") -> Path:
    """Write a recording and enter it in the folder's index; both appear whole or not at all.

    Args:
        place: folder below `folder` for the file, which is made where it is missing.

    Raises:
        TypeError, ValueError: a recording that `read` would refuse. OSError: the folder is missing or not writable.
    """
    data = content(recording)
    name = str(Path(place) / file_name(recording.header.arch, recording.header.instruction))
    listed = read_index(folder)
    if place:
        (folder / place).mkdir(parents=True, exist_ok=True)
    write_atomically(folder / name, data)
    listed[name] = entry_of(recording, data)
    write_atomically(folder / INDEX, text_of(listed).encode())
    return folder / name


def text_of(listed: dict[str, dict[str, Any]]) -> str:
    """The text of an index."""
    return json.dumps(dict(sorted(listed.items())), indent=1, ensure_ascii=False) + "\n"


def entry_of(recording: Recording, data: bytes) -> dict[str, Any]:
    """The entry of a recording, whose file has the bytes `data`."""
    header = recording.header
    named = {key: getattr(header, key) for key in ENTRY if hasattr(header, key)}
    software = "; ".join(filter(None, (header.driver, header.runtime, header.compiler)))
    found = named | {"software": software, "rows": len(recording), "specials": special_operands(recording)}
    return {key: (found | {"sha256": hashlib.sha256(data).hexdigest()})[key] for key in ENTRY}


def read_index(folder: Path) -> Index:
    """Read the folder's index; empty if there is none.

    Raises:
        ValueError: not an index.
    """
    path = folder / INDEX
    if not path.exists():
        return {}
    try:
        index = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"{path} is no valid index: {error}") from error
    if not isinstance(index, dict):
        raise ValueError(f"{path} is no valid index: it must be an object, got {type(index).__name__}")
    for name, entry in index.items():
        fits = isinstance(entry, dict) and entry.keys() == ENTRY.keys()
        if not fits or not all(isinstance(entry[key], kind) for key, kind in ENTRY.items()):
            raise ValueError(f"{path} is no valid index: entry {name!r} must have the keys {', '.join(ENTRY)}")
        *places, last = name.split("/")
        if last != file_name(entry["arch"], entry["instruction"]) or not all(_is_plain(part) for part in (*places, last)):
            raise ValueError(f"{path} is no valid index: {name!r} is not the file name of {entry['instruction']!r}")
    return index


def _is_plain(part: str) -> bool:
    """Whether a part of a path is a plain name: neither `..` nor a separator."""
    return re.fullmatch(r"[\w.-]+", part) is not None and part.strip(".") != ""


def read_listed(folder: Path, name: str) -> Recording:
    """Read a recording that the index lists, and check that it is the listed one.

    Raises:
        ValueError: as `read`; the file is missing, does not have the listed digest, or is not what the entry says.
        OSError: it cannot be read.
    """
    entry = read_index(folder)[name]
    path = folder / name
    if not path.is_file():
        raise ValueError(f"{path} is missing, but {INDEX} lists it")
    data = path.read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != entry["sha256"]:
        raise ValueError(f"{path} must have the SHA-256 that {INDEX} says, {entry['sha256']}; got {found}")
    recording = read(path)
    wrong = [key for key, value in entry_of(recording, data).items() if value != entry[key]]
    if wrong:
        raise ValueError(f"{path} is not what {INDEX} says of it: {', '.join(wrong)} differ")
    return recording


def read_elsewhere(folder: Path) -> list[dict[str, Any]]:
    """Read the folder's list of reports of silicon whose rows it does not hold; empty if there is no list.

    Raises:
        ValueError: not a list of reports.
    """
    path = folder / ELSEWHERE
    if not path.exists():
        return []
    try:
        reports: list[dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))["report"]
        for report in reports:
            if report.keys() != REPORT.keys() or not all(isinstance(report[key], kind) for key, kind in REPORT.items()):
                raise ValueError(f"a report must have the keys {', '.join(REPORT)}")
    except (KeyError, AttributeError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is no list of reports: {error}") from error
    return reports


def special_operands(recording: Recording) -> list[str]:
    """Which of `SPECIALS` are among the operands and scales of a recording, in their order."""
    i = recording.instruction
    a, b, c, *scales = recording.operands
    found: set[str] = set()
    for codes, operand in ((a, i.a), (b, i.b), (c, i.c), *((scale, i.scale) for scale in scales)):
        if codes is not None and operand is not None:
            found |= _specials(codes, operand)
    return [name for name in SPECIALS if name in found]


def _specials(codes: npt.NDArray[Any], operand: Format) -> set[str]:
    if operand.name in INTEGERS:
        return set()
    names = {Cls.NAN: "NaN", Cls.INFINITY: "infinity", Cls.SUBNORMAL: "subnormal"}
    distinct = np.unique(codes).tolist()
    found = {names[cls] for cls in {operand.decode(code).cls for code in distinct} if cls in names}
    return found | ({"−0"} if operand.negative_zero and operand.negative_zero in distinct else set())
