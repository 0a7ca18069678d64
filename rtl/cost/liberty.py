"""Cell libraries: where they are, and what the evaluation of a netlist must know of them, read from the Liberty file."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rtl.cost.liberty_functions import Function, function_of
from rtl.cost.outlines import outline_areas, outlined_library
from rtl.tools import MissingTool


def _installed(name: str) -> Path:
    """The Liberty file of a library, in the first of XDG_DATA_DIRS that has it, else in the last of these."""
    folders = (os.environ.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share").split(":")
    paths = [Path(folder, "qflow", "tech", name, f"{name}_stdcells.lib") for folder in folders]
    return next((path for path in paths if path.is_file()), paths[-1])


LIBRARIES = {name: _installed(name) for name in ("osu018", "osu035")}
"""OSU's standard cells for TSMC's 0.18 µm and AMI's 0.35 µm processes, typical corner, where Debian's packages
qflow-tech-osu018 and qflow-tech-osu035 put them."""

UNITS = {
    "time_unit": '"1ns"',
    "voltage_unit": '"1V"',
    "leakage_power_unit": '"1nW"',
}
"""The unit statements that a library file must contain."""


@dataclass(frozen=True)
class Register:
    """The next state of a flip-flop at the rising edge of its clock pin.

    Attributes:
        names: what its pins' functions call the bit that it holds, and the inverse of that.
    """

    clock: str
    next_state: Function
    names: tuple[str, str]


@dataclass(frozen=True)
class Cell:
    """A cell.

    Attributes:
        area: µm².
        functions: of each output pin.
        register: of a flip-flop clocked by a rising edge without set and reset; of others None.
    """

    area: float
    functions: Mapping[str, Function]
    register: Register | None


@dataclass(frozen=True)
class Library:
    """A cell library.

    Attributes:
        name: of its file. text: the file's, with the areas of the cells' outlines.
        cells: those that the evaluation of a netlist knows, by name.
    """

    name: str
    text: str
    cells: Mapping[str, Cell]


def library(name: str) -> Library:
    """A library by name.

    Raises:
        MissingTool: its file is not there. ValueError: it is not one of `LIBRARIES`, or its file is not as it must be.
    """
    if name not in LIBRARIES:
        raise ValueError(f"library must be one of {', '.join(LIBRARIES)}, got {name!r}")
    path = LIBRARIES[name]
    if not path.is_file():
        raise MissingTool(
            f"area, delay and power need the cell library {path}, which is not there; "
            f"install Debian's package qflow-tech-{name}"
        )
    return read_library(path)


@cache
def read_library(path: Path) -> Library:
    """A library by its Liberty file. Cells without an outline, latches, three-state cells and flip-flops with set or reset
    are left out: no unit has them.

    Raises:
        ValueError: other units than `UNITS`, or a cell that cannot be read.
    """
    whole, outlined = outlined_library(path), outline_areas(path)
    text = re.sub(r"/\*.*?\*/", "", whole, flags=re.DOTALL)
    for key, value in UNITS.items():
        if attribute(text, key) != value:
            raise ValueError(f"{path}: {key} must be {value}, got {attribute(text, key)}")
    if not re.search(r"capacitive_load_unit\s*\(\s*1\s*,\s*pf\s*\)", text):
        raise ValueError(f"{path}: capacitive_load_unit must be (1,pf)")
    bodies = [(name, body) for name, body in groups(text, "cell") if name in outlined]
    cells = {name: cell for name, body in bodies if (cell := _cell(path, name, body)) is not None}
    if not cells:
        raise ValueError(f"{path}: a library must have cells, and none was found")
    return Library(path.name, whole, cells)


def groups(text: str, kind: str) -> list[tuple[str, str]]:
    """Name and contents of every group of a kind, `kind (name) { contents }`."""
    found = []
    for head in re.finditer(rf"\b{kind}\s*\(([^()]*)\)\s*\{{", text):
        depth, position = 1, head.end()
        while depth:
            brace = re.compile(r"[{}]").search(text, position)
            if brace is None:
                raise ValueError(f"group {kind} ({head[1]}) must be closed by a brace, and is not")
            depth += 1 if brace[0] == "{" else -1
            position = brace.end()
        found.append((head[1].strip(), text[head.end() : position - 1]))
    return found


def attribute(text: str, key: str) -> str | None:
    """The value of the first `key : value ;`."""
    found = re.search(rf"\b{key}\s*:\s*(\"[^\"]*\"|[^;]+?)\s*;", text)
    return None if found is None else found[1]


def _cell(path: Path, name: str, body: str) -> Cell | None:
    area = attribute(body, "area")
    if area is None or not float(area) >= 0:
        raise ValueError(f"{path}: cell {name} must have an area, got {area}")
    registers = [(head, contents) for head, contents in groups(body, "ff") if not re.search(r"\b(clear|preset)\b", contents)]
    if not registers and re.search(r"\b(ff|latch|three_state)\b", body):
        return None
    register = None
    for head, contents in registers:
        clock, following = attribute(contents, "clocked_on"), attribute(contents, "next_state")
        if clock is None or following is None:
            raise ValueError(f"{path}: flip-flop {name} must say next_state and clocked_on")
        if not re.fullmatch(r'"\w+"', clock):
            return None  # clocked by a falling edge
        register = Register(clock.strip('"'), function_of(following.strip('"')), _pair(path, name, head))
    functions = {
        pin: function_of(function.strip('"'))
        for pin, contents in groups(body, "pin")
        if (function := attribute(contents, "function")) is not None
    }
    return Cell(float(area), functions, register)


def _pair(path: Path, cell: str, head: str) -> tuple[str, str]:
    names = [part.strip() for part in head.split(",")]
    if len(names) != 2:
        raise ValueError(f"{path}: flip-flop {cell} must name its state and the inverse, got ({head})")
    return names[0], names[1]
