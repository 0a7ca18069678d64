"""What a compiled design depends on, as plain values: the key under which it is kept."""

import hashlib
import platform
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from cosim.compile.sources import Sources
from rtl.tools import run_tool

SAFE = ("-W", "-D", "-G", "-O", "+define+", "--assert", "--no-assert", "--noassert", "--no-timing", "--coverage")
"""Arguments of Verilator that say all by themselves. Others may name files, and a design that has one is compiled anew."""


def content_of(sources: Sources, folder: Path) -> dict[str, Any] | None:
    """All that Verilator makes of the sources depends on; None where that cannot be known.

    Args:
        folder: of the run. What was generated into it counts by its contents, all else by its path too, which messages name.
    """
    if not all(argument.startswith(SAFE) for argument in sources.verilator_args):
        return None
    contents = [file.read_bytes() for file in sources.files]
    elsewhere = [str(file.resolve()) for file in sources.files if file.resolve().parent != folder.resolve()]
    return {
        "top": sources.top,
        "ports": list(sources.ports),
        "contents": [hashlib.sha256(content).hexdigest() for content in contents],
        "paths": elsewhere,
        "included": _preprocessed(sources) if any(b"`include" in content for content in contents) else "",
        "arguments": [*sources.arguments, *sources.verilator_args],
        "tools": tools(),
    }


@cache
def tools() -> dict[str, str]:
    """The versions of the compilers, as they state them, and the machine."""
    lines = {name: _first_line([name, "--version"]) for name in ("verilator", "g++")}
    return lines | {"machine": platform.machine()}


def _first_line(command: Sequence[str]) -> str:
    result = run_tool(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return result.stdout.partition("\n")[0]


def _preprocessed(sources: Sources) -> str:
    """A hash of the sources with all that they include."""
    command = ["verilator", "-E", "-P", *sources.arguments, *map(str, sources.files)]
    result = run_tool(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return hashlib.sha256(f"{result.returncode}\n{result.stdout}".encode()).hexdigest()
