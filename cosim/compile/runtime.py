"""The cache of object files that are the same for every design: Verilator's runtime library, and the native code linked with
a design. They take longer to compile than a design."""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cosim.compile.cache_key import compiled, tools
from golden.cache import content_key

LATER = 3600
"""Cached objects are dated this far ahead (s), because make recompiles objects older than the design's makefile."""

RUNTIME = "verilated*.o"
"""The objects of Verilator's runtime library."""


def new_folder(build: Path) -> None:
    """Make the folder of a build, without objects of an earlier one, which may be of other sources and yet dated later."""
    build.mkdir(parents=True, exist_ok=True)
    for old in [*build.glob("*.o"), *build.glob("*.a")]:
        old.unlink()


class Runtime:
    """The object files that builds with the same dependencies share.

    Args:
        build_dir: folder of the build, where make finds them.
        objects: patterns of their file names.
        depends: everything that they depend on beside the compilers' versions, as values for JSON.
    """

    def __init__(self, build_dir: Path, objects: tuple[str, ...], depends: Mapping[str, Any]) -> None:
        self._build_dir, self._objects = build_dir, objects
        self._key = content_key({"objects": objects, "depends": dict(depends), "tools": tools()})
        self._is_cached = False

    def place(self) -> None:
        """Put the cached objects, if any, into the folder of the build."""
        self._build_dir.mkdir(parents=True, exist_ok=True)
        self._is_cached = compiled().fetch(self._key, self._build_dir)
        for target in self._found() if self._is_cached else ():
            os.utime(target, (time.time() + LATER,) * 2)

    def store(self) -> None:
        """Store the objects of a finished build in the cache."""
        if not self._is_cached:
            compiled().store(self._key, self._found())

    def _found(self) -> list[Path]:
        return sorted(path for pattern in self._objects for path in self._build_dir.glob(pattern))
