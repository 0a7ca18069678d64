"""Verilator's runtime library, compiled once a process: its object files are the same for every design, and compiling them
takes longer than compiling a design."""

import os
import time
from pathlib import Path

_objects: dict[bool, dict[str, bytes]] = {}
"""With or without waves, which compile differently: file name to contents."""

LATER = 3600
"""make compiles what is older than the design's makefile: the objects are dated this far ahead (seconds)."""


def place_runtime(build_dir: Path, waves: bool) -> None:
    """Put the objects, if there are any yet, where make looks for them."""
    build_dir.mkdir(exist_ok=True)
    for name, content in _objects.get(waves, {}).items():
        target = build_dir / name
        target.write_bytes(content)
        os.utime(target, (time.time() + LATER,) * 2)


def keep_runtime(build_dir: Path, waves: bool) -> None:
    """Remember the objects of a finished build."""
    if waves not in _objects:
        _objects[waves] = {path.name: path.read_bytes() for path in build_dir.glob("verilated*.o")}
