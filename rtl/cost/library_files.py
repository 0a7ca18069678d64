"""The files of a cell library: those that a name stands for, and those of a path or pattern, read as one Liberty text."""

import gzip
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path

import numpy as np

from golden.cache import user_folder
from golden.checks import near
from rtl.tools import MissingTool

SUFFIXES = (".lib", ".lib.gz")
"""Ends of the names of Liberty files."""

FOLDERS = "MMAU_CELLS"
"""Environment variable with folders, parted by colons, that have libraries somewhere below them."""


@dataclass(frozen=True)
class Source:
    """A library that is known by name.

    Attributes:
        files: patterns of file names, a file each; where several versions match, the last one by name counts.
        corner: process, voltage and temperature of these files. licence: under which they are published.
        origin: the repository and the folder in it; empty where a package of Debian has the files.
    """

    files: tuple[str, ...]
    corner: str
    licence: str
    origin: tuple[str, str] | None = None


LAMBDAPDK = "https://github.com/siliconcompiler/lambdapdk"

SOURCES = {
    "osu018": Source(("osu018_stdcells.lib",), "0.18 µm, typical", "of Debian's package qflow-tech-osu018"),
    "osu035": Source(("osu035_stdcells.lib",), "0.35 µm, typical", "of Debian's package qflow-tech-osu035"),
    "asap7": Source(
        tuple(f"asap7sc7p5t_{part}_RVT_TT_nldm*.lib*" for part in ("AO", "INVBUF", "OA", "SEQ", "SIMPLE")),
        "7 nm (predictive), RVT, typical, 0.7 V, 25 °C",
        "BSD 3-Clause",
        (LAMBDAPDK, "lambdapdk/asap7/libs/asap7sc7p5t_rvt/nldm"),
    ),
    "nangate45": Source(
        ("NangateOpenCellLibrary_typical.lib*",),
        "45 nm (predictive), typical, 1.1 V, 25 °C",
        "Nangate Open Cell Library License, not for commercial use",
        (LAMBDAPDK, "lambdapdk/freepdk45/libs/nangate45/nldm"),
    ),
    "sky130": Source(
        ("sky130_fd_sc_hd__tt_025C_1v80.lib*",),
        "130 nm, high density, typical, 1.8 V, 25 °C",
        "Apache-2.0",
        (LAMBDAPDK, "lambdapdk/sky130/libs/sky130hd/nldm"),
    ),
    "ihp130": Source(
        ("sg13g2_stdcell_typ_1p20V_25C.lib*",),
        "130 nm, typical, 1.2 V, 25 °C",
        "Apache-2.0",
        ("https://github.com/IHP-GmbH/IHP-Open-PDK", "ihp-sg13g2/libs.ref/sg13g2_stdcell/lib"),
    ),
}
"""The libraries that have a name."""


def check_library(name: str) -> None:
    """Raise ValueError unless a text is one of `SOURCES`, the path of a Liberty file, or a pattern that such files match."""
    if name in SOURCES:
        return
    if not name.endswith(SUFFIXES) and not has_magic(name):
        raise ValueError(
            f"library must be {', '.join(SOURCES)}, or the path of a Liberty file, NAME.lib or NAME.lib.gz, with * for the "
            f"parts of one library; got {name!r}{near(name, SOURCES)}"
        )
    if not _given(name):
        raise ValueError(f"library must be a Liberty file that exists, got {name!r}")


def files_of(name: str) -> tuple[Path, ...]:
    """The files of a library, as of `check_library`.

    Raises:
        MissingTool: a library of `SOURCES` is not installed. ValueError: no such library.
    """
    check_library(name)
    if name not in SOURCES:
        return _given(name)
    source, folders = SOURCES[name], _folders(name)
    found = [next((each for folder in folders if (each := _newest(folder, file))), None) for file in source.files]
    missing = [file for file, path in zip(source.files, found, strict=True) if path is None]
    if missing:
        raise MissingTool(f"area, delay and power need the cell library {name}, {_how(name, source, missing)}")
    return tuple(path for path in found if path is not None)


def _given(name: str) -> tuple[Path, ...]:
    paths = sorted(map(Path, glob(name))) if has_magic(name) else [Path(name)]
    return tuple(path for path in paths if path.is_file() and path.name.endswith(SUFFIXES))


def _folders(name: str) -> list[Path]:
    named = [Path(each) for each in os.environ.get(FOLDERS, "").split(":") if each]
    shared = (os.environ.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share").split(":")
    return [*named, user_folder("cells"), *(Path(folder, "qflow", "tech", name) for folder in shared)]


def _newest(folder: Path, pattern: str) -> Path | None:
    found = [path for path in folder.rglob(pattern) if path.name.endswith(SUFFIXES)] if folder.is_dir() else []
    return max(found, key=lambda path: path.name, default=None)


def _how(name: str, source: Source, missing: Sequence[str]) -> str:
    if source.origin is None:
        return f"which is not there; install Debian's package qflow-tech-{name}"
    repository, folder = source.origin
    into = user_folder("cells") / repository.rpartition("/")[2]
    looked = os.environ.get(FOLDERS)
    return (
        f"{source.corner}, and {missing[0]} is not there. It is published under: {source.licence}. Get it with\n"
        f"  git clone --depth 1 --filter=blob:none --sparse {repository} {into}\n"
        f"  git -C {into} sparse-checkout set {folder}\n"
        f"or name a folder that has it in {FOLDERS}{f', which is {looked} and has none' * bool(looked)}"
    )


def text_of(path: Path) -> str:
    """The text of a Liberty file, unpacked; comments may be in any encoding.

    Raises:
        ValueError: damaged. OSError: it cannot be read.
    """
    content = path.read_bytes()
    if path.suffix == ".gz":
        try:
            content = gzip.decompress(content)
        except (EOFError, OSError) as error:
            raise ValueError(f"{path} must be a file that gzip packed: {error}") from None
    return content.decode("utf-8", errors="replace")


UNITS = ("time_unit", "voltage_unit", "current_unit", "leakage_power_unit", "capacitive_load_unit", "nom_voltage")
"""Attributes of a library that its parts must state alike."""


def joined(paths: Sequence[Path]) -> str:
    """The text of one library from its parts: the first part, with the cells and tables of the others.

    Raises:
        ValueError: parts that state other units, the same cell twice, or no library. OSError: as `text_of`.
    """
    if len(paths) == 1:
        return text_of(paths[0])
    first, *others = ((path, without_comments(text_of(path))) for path in paths)
    end = first[1].rstrip()
    if not end.endswith("}"):
        raise ValueError(f"{first[0]} must end with the brace that closes its library")
    held = {(kind, name) for kind in _KINDS for name, _ in groups(first[1], kind)}
    added = []
    for path, text in others:
        for unit in UNITS:
            ours, theirs = (_stated(each, unit) for each in (first[1], text))
            if ours != theirs:
                raise ValueError(f"parts of a library must have the same {unit}; {first[0]} has {ours}, {path} has {theirs}")
        for kind in _KINDS:
            for name, body in groups(text, kind):
                if (kind, name) not in held:
                    held.add((kind, name))
                    added.append(f"  {kind} ({name}) {{{body}}}\n")
                elif kind == "cell":
                    raise ValueError(f"{path}: cell {name} is in another part of the library, too")
    tables = [each for each in added if not each.startswith("  cell")]
    cells = [each for each in added if each.startswith("  cell")]
    opened = end.index("{") + 1
    return f"{end[:opened]}\n{''.join(tables)}{end[opened:-1]}\n{''.join(cells)}}}\n"


_KINDS = ("lu_table_template", "power_lut_template", "operating_conditions", "cell")
"""Groups of a part that the others may need, in the order in which a library has them."""


def _stated(text: str, key: str) -> str:
    """What a library says of a unit, without blanks and quotes."""
    found = re.search(rf"\b{key}\s*(?::\s*([^;\n]+)|\(([^)]*)\))", text)
    return "" if found is None else re.sub(r"[\s\"]", "", found[1] or found[2])


def without_comments(text: str) -> str:
    """A Liberty text without its comments."""
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


def groups(text: str, kind: str) -> list[tuple[str, str]]:
    """Name and contents of every group of a kind, `kind (name) { contents }`; names without their quotes.

    Raises:
        ValueError: a group that is not closed.
    """
    # without \b in front, which would keep the search from looking for the word itself first
    heads = [head for head in re.finditer(rf"{kind}\s*\(([^()]*)\)\s*\{{", text) if not _in_word(text, head.start())]
    if not heads:
        return []
    letters = np.frombuffer(text.encode("latin-1", errors="replace"), np.uint8)  # a letter a byte, whatever it is
    places = np.flatnonzero((letters == ord("{")) | (letters == ord("}")))
    depths = np.cumsum(np.where(letters[places] == ord("{"), 1, -1))
    found = []
    for head in heads:
        opened = int(np.searchsorted(places, head.end() - 1))
        length = 64
        while (inside := depths[opened : opened + length] >= depths[opened]).all() and opened + length < len(depths):
            length *= 4
        if inside.all():
            raise ValueError(f"group {kind} ({head[1]}) must be closed by a brace, and is not")
        closed = int(places[opened + int(np.argmin(inside))])
        found.append((head[1].replace('"', "").strip(), text[head.end() : closed]))
    return found


def _in_word(text: str, place: int) -> bool:
    return place > 0 and (text[place - 1].isalnum() or text[place - 1] == "_")
