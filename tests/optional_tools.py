"""Tools that only some tests need. A test marked `needs(NAME)` is skipped where the tool is absent; one marked `uses(NAME)`
runs everywhere and checks more where the tool is present.

`python -m tests.optional_tools` prints the Debian packages of each tool, a line for each.
"""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import pytest

from rtl.cost.library_files import files_of
from rtl.tools import MissingTool


@dataclass(frozen=True)
class Tool:
    """An optional tool.

    Attributes:
        packages: of Debian, that have it.
        programs: all of which must be on PATH. libraries: cell libraries, all of which must be there.
    """

    packages: str
    programs: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()


TOOLS = {
    "icarus": Tool("iverilog", ("iverilog", "vvp")),
    "aarch64": Tool(
        "g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user",
        ("aarch64-linux-gnu-gcc", "aarch64-linux-gnu-g++", "qemu-aarch64"),
    ),
    "opensta": Tool("opensta", ("sta",)),
    "cells": Tool("qflow-tech-osu018 qflow-tech-osu035", libraries=("osu018", "osu035")),
    "chromium": Tool("chromium", ("chromium",)),
    "cmake": Tool("cmake", ("cmake",)),
    "ghdl": Tool("ghdl", ("ghdl",)),
    "gtkwave": Tool("gtkwave xvfb xauth", ("gtkwave", "xvfb-run")),
}


def _is_there(library: str) -> bool:
    try:
        return bool(files_of(library))
    except MissingTool:
        return False


@cache
def why_missing(name: str) -> str:
    """Why tests that need the tool are skipped; empty where it is present.

    Raises:
        KeyError: there is no tool of that name.
    """
    tool = TOOLS[name]
    absent = [program for program in tool.programs if shutil.which(program) is None]
    absent += [library for library in tool.libraries if not _is_there(library)]
    return f"needs {', '.join(absent)} (Debian: {tool.packages})" if absent else ""


def changed_tools(marks: Iterable[pytest.Mark]) -> list[str]:
    """The tools of some markers that are there now and were not when they were first looked for, or the reverse."""
    names = sorted({name for mark in marks for name in mark.args})
    return [name for name in names if bool(why_missing(name)) != bool(why_missing.__wrapped__(name))]


if __name__ == "__main__":
    print("\n".join(tool.packages for tool in TOOLS.values()))
