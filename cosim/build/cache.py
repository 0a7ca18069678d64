"""The cache of compiled designs and of object files that all designs share: keys of entries, and arguments of compilers."""

import hashlib
import os
import platform
import shlex
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from cosim.build.sources import Sources
from cosim.dut.files_read import files_read
from golden.cache import Cache, content_key, user_folder
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
"""Environment variables that change how the compilers translate the same files."""

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


LATER = 3600
"""Cached objects are dated this far ahead (s), because make recompiles objects older than the design's makefile."""

RUNTIME = "verilated*.o"
"""The objects of Verilator's runtime library."""

HEADER = "runtime.h"
"""A header that includes those of the runtime library."""

PRECOMPILED = f"{HEADER}.fast.gch"
"""The precompiled header, as a rule of Verilator's makefile makes it: 72 MB, which save g++ from reading the other
headers."""

INCLUDE_FIRST = f"-include {HEADER}.fast"
"""The compiler's option: it takes what is precompiled, or else the text in the file of this name."""


def new_folder(build: Path) -> None:
    """Make the folder of a build, without objects of an earlier one, which may be of other sources and yet dated later."""
    build.mkdir(parents=True, exist_ok=True)
    for old in [*build.glob("*.o"), *build.glob("*.a"), *build.glob("*.gch")]:
        old.unlink()
    for name in (HEADER, f"{HEADER}.fast"):
        (build / name).write_text('#include "verilated.h"\n#include "verilated_dpi.h"\n', encoding="utf-8")


_COMPILING = defaultdict[str, Lock](Lock)
"""Held while this process compiles the objects of a key."""


class Runtime:
    """The object files that builds with the same dependencies share.

    Args:
        build_dir: folder of the build, where make finds them.
        objects: patterns of their file names; the precompiled header is one more.
        depends: everything that they depend on beside the compilers' versions, as values for JSON.
    """

    def __init__(self, build_dir: Path, objects: tuple[str, ...], depends: Mapping[str, Any]) -> None:
        self._build_dir, self._objects = build_dir, (*objects, PRECOMPILED)
        self._key = content_key({"objects": self._objects, "depends": dict(depends), "tools": tools()})

    @contextmanager
    def shared(self) -> Iterator[None]:
        """A context for the build, with the cached objects in its folder. Where there are none, one build of this process
        compiles and stores them, and the others wait for it. The precompiled header, which is large, is then removed."""
        self._build_dir.mkdir(parents=True, exist_ok=True)
        with ExitStack() as alone:
            is_cached = self._is_placed()
            if not is_cached:
                alone.enter_context(_COMPILING[self._key])
                is_cached = self._is_placed()
                if is_cached:
                    alone.close()
            yield
            if not is_cached:
                compiled().store(self._key, self._found())
        (self._build_dir / PRECOMPILED).unlink(missing_ok=True)

    def _is_placed(self) -> bool:
        """Put the cached objects, if any, into the folder of the build."""
        if not compiled().fetch(self._key, self._build_dir):
            return False
        for target in self._found():
            os.utime(target, (time.time() + LATER,) * 2)
        return True

    def _found(self) -> list[Path]:
        return sorted(path for pattern in self._objects for path in self._build_dir.glob(pattern))


VERILATOR_ARGUMENTS = (
    "-O3",
    "-Wno-fatal",  # lint warnings are not errors here
    "--no-timing",  # a design's delays count as zero
    "--no-public-flat-rw",  # only the ports are accessed, so all other signals may be optimised away
    "--output-split", "10000000",  # one C++ file: several need precompiled headers, which g++ does not find
    "-CFLAGS", "--param=max-combine-insns=2",  # g++ takes a minute to combine the terms of a wide sum by four
    "-CFLAGS", INCLUDE_FIRST,
)  # fmt: skip

LAST_ARGUMENTS = (
    "--x-assign", "unique", "--x-initial", "unique",  # the run chooses what registers hold at power-up, see `power_ups`
    # $error and $fatal end an elaboration; Verilator only warns of them, and "-Werror" undoes no "-Wno"
    "-Wwarn-USERERROR", "-Werror-USERERROR", "-Wwarn-USERFATAL", "-Werror-USERFATAL",
)  # fmt: skip
"""Verilator's last arguments, so that no option of a design undoes them."""

COVERAGE_ARGUMENTS = ("--coverage-line", "--coverage-toggle", "--coverage-max-width", str(1 << 20))
"""Further arguments for coverage, also of wide signals, such as packed operands."""

TIMESCALE = ("1ns", "1ps")

MAKE_ARGUMENTS = ("PYTHON3=" + shlex.quote(sys.executable).replace("$", "$$"),)
"""Arguments for make: Verilator's makefile calls `python`, which many systems lack, or one from its maker's machine."""


def runtime_arguments(sources: Sources) -> list[str]:
    """The arguments of a design on which Verilator's runtime library may depend: all but warnings and assertions."""
    return [each for each in sources.verilator_args if not each.startswith(("-W", "--assert", "--no-assert", "--noassert"))]
