"""The cache of what is the same for every design: object files of Verilator's runtime library and of the native code linked
with a design, which take longer to compile than a design, and Verilator's headers, which take g++ a second in each file."""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cosim.build.cache_key import compiled, tools
from golden.cache import content_key

LATER = 3600
"""Cached objects are dated this far ahead (s), because make recompiles objects older than the design's makefile."""

RUNTIME = "verilated*.o"
"""The objects of Verilator's runtime library."""

HEADER = "runtime.h"
"""A header that includes those of the runtime library."""

PRECOMPILED = f"{HEADER}.fast.gch"
"""That header precompiled, as a rule of Verilator's makefile makes it: 72 MB, by which g++ passes over the others."""

INCLUDE_FIRST = f"-include {HEADER}.fast"
"""The compiler's option: it takes what is precompiled, or else the text in the file of this name."""


def new_folder(build: Path) -> None:
    """Make the folder of a build, without objects of an earlier one, which may be of other sources and yet dated later."""
    build.mkdir(parents=True, exist_ok=True)
    for old in [*build.glob("*.o"), *build.glob("*.a"), *build.glob("*.gch")]:
        old.unlink()
    for name in (HEADER, f"{HEADER}.fast"):
        (build / name).write_text('#include "verilated.h"\n#include "verilated_dpi.h"\n', encoding="utf-8")


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
        self._is_cached = False

    def place(self) -> None:
        """Put the cached objects, if any, into the folder of the build."""
        self._build_dir.mkdir(parents=True, exist_ok=True)
        self._is_cached = compiled().fetch(self._key, self._build_dir)
        for target in self._found() if self._is_cached else ():
            os.utime(target, (time.time() + LATER,) * 2)

    def store(self) -> None:
        """Store the objects of a finished build in the cache, and remove the precompiled header, which is large."""
        if not self._is_cached:
            compiled().store(self._key, self._found())
        (self._build_dir / PRECOMPILED).unlink(missing_ok=True)

    def _found(self) -> list[Path]:
        return sorted(path for pattern in self._objects for path in self._build_dir.glob(pattern))
