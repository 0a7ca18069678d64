"""The cache of compiled designs, and the key of an entry: everything that the compiled design depends on."""

import hashlib
import os
import platform
import subprocess
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from cosim.build.sources import Sources
from cosim.dut.files_read import files_read
from golden.cache import Cache, user_folder
from golden.processes import run_tool

SAFE = ("-W", "-D", "-G", "-O", "+define+", "--assert", "--no-assert", "--noassert", "--no-timing", "--coverage")
"""Arguments of Verilator that name no files. A design with any other argument is compiled anew."""

VERILOG = (".v", ".sv", ".vlt")
"""Endings of the files that are made for a run."""

ENVIRONMENT = (
    "CPATH",
    "CPLUS_INCLUDE_PATH",
    "CPPFLAGS",
    "CXXFLAGS",
    "CXX",
    "LDFLAGS",
    "LDLIBS",
    "LIBRARY_PATH",
    "VERILATOR_ROOT",
)
"""Variables that change what the compilers make of the same files."""

MAX_BYTES = 1 << 30
"""Size of the cache (bytes): a few hundred compiled designs."""


def content_of(sources: Sources) -> dict[str, Any] | None:
    """Everything that the compiled sources depend on, as values for JSON; None where the dependencies are not fully known.

    Of a user design these are all files that Verilator has just read, wherever it found them, with their paths, which appear
    in messages. Files that are made for the run count by their contents only.
    """
    made = _made(sources)
    is_known = all(file.suffix in VERILOG for file in made)  # C++ reads headers that Verilator does not list
    if not is_known or not all(argument.startswith(SAFE) for argument in sources.verilator_args):
        return None
    return {
        "top": sources.top,
        "ports": list(sources.ports),
        "order": [str(file.resolve()) for file in sources.files if file not in made],
        "read": {path: file.digest for path, file in sources.read.items()},
        "made": [hashlib.sha256(file.read_bytes()).hexdigest() for file in made],
        "arguments": [*sources.arguments, *sources.verilator_args],
        "tools": tools(),
    }


def is_what_was_elaborated(sources: Sources, build: Path, start: Path, made: Collection[Path] = ()) -> bool:
    """Whether the compilers read the files that the key names, in the state that it names. If not, a file was changed
    meanwhile, or a source includes a C++ header, and the compiled design must not be kept.

    Args:
        build: folder of the build. start: folder in which Verilator ran.
        made: files that were made for the run beside `sources.files`.
    """
    if not sources.read:
        return True
    try:
        read = files_read(
            build, start, [*made, *(file for file in sources.files if str(file.resolve()) not in sources.read)]
        )
    except (OSError, ValueError):
        return False
    libraries = {Path(path).parent for path in read if path.endswith("/verilated_std.sv")}
    return read == sources.read and all(libraries & set(header.parents) for header in _headers(build))


def _made(sources: Sources) -> list[Path]:
    """The source files that were made for the run: all but those that Verilator read when it elaborated a user design."""
    return [file for file in sources.files if str(file.resolve()) not in sources.read]


def _headers(build: Path) -> list[Path]:
    """The C++ headers outside a build's folder that the compiled design includes, from the compiler's own list of them."""
    listings = [path for path in build.glob("V*.d") if not path.name.endswith("__ver.d")]
    words = [word for path in listings for word in path.read_text(encoding="utf-8").replace("\\\n", " ").split()]
    return [Path(word) for word in words if "/" in word]


def compiled() -> Cache:
    """The compiled designs of this user."""
    return Cache(user_folder("cosim"), MAX_BYTES)


@cache
def tools() -> dict[str, str]:
    """The versions that the compilers print, the machine, and the environment of the compilers."""
    lines = {name: _first_line([name, "--version"]) for name in ("verilator", "g++")}
    environment = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
    return lines | environment | {"machine": platform.machine()}


def _first_line(command: Sequence[str]) -> str:
    result = run_tool(command, stderr=subprocess.STDOUT)
    return result.stdout.partition("\n")[0]
