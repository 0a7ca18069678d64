"""Objects that are the same for every design: Verilator's runtime library, and what is linked beside a design. They take
longer to compile than a design, so they are kept."""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cosim.compile.cache import content_key, fetch, store
from cosim.compile.content import tools

LATER = 3600
"""make compiles what is older than the design's makefile: the objects are dated this far ahead (seconds)."""

RUNTIME = "verilated*.o"
"""The objects of Verilator's runtime library."""


class Runtime:
    """The objects of builds that are done in the same way.

    Args:
        build_dir: where make looks for them.
        objects: patterns of their names.
        depends: plain values that say, with the compilers' versions, all that they depend on.
    """

    def __init__(self, build_dir: Path, objects: tuple[str, ...], depends: Mapping[str, Any]) -> None:
        self._build_dir, self._objects = build_dir, objects
        self._key = content_key({"objects": objects, "depends": dict(depends), "tools": tools()})
        self._is_kept = False

    def place(self) -> None:
        """Put the objects, if there are any yet, where make looks for them."""
        self._build_dir.mkdir(parents=True, exist_ok=True)
        self._is_kept = fetch(self._key, self._build_dir)
        for target in self._found() if self._is_kept else ():
            os.utime(target, (time.time() + LATER,) * 2)

    def keep(self) -> None:
        """Remember the objects of a finished build."""
        if not self._is_kept:
            store(self._key, self._found())

    def _found(self) -> list[Path]:
        return sorted(path for pattern in self._objects for path in self._build_dir.glob(pattern))
