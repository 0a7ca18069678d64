"""Reads Verilator's list of the files that it has read."""

import hashlib
import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NamedTuple

VHDL = (".vhd", ".vhdl")
"""Endings of the names of VHDL files."""

LISTING = "*__verFiles.dat"
"""The file in which Verilator lists what it has read and written."""

_SOURCE = re.compile(r'^S +\d+ +[1-9]\d* .* "([^"\n]*)"$', re.MULTILINE)
"""A line of a file that was read: size, number, times and a digest, which is empty for programs, then the path. A name that
stands in a `line directive has the number 0 where there is no such file."""


class FileRead(NamedTuple):
    """The state of a file that was read.

    Attributes:
        digest: SHA-256 of its contents. changed: time of its last change (ns), which a change back does not restore.
    """

    digest: str
    changed: int


def files_read(listing: Path, start: Path, made: Collection[Path] = ()) -> dict[str, FileRead]:
    """The files that Verilator read, in their present state, by path: sources, what they include, modules that it found in
    include folders, lists of arguments, and its own library and program.

    Args:
        listing: folder into which Verilator wrote.
        start: folder in which it ran, where relative paths start.
        made: files that are left out, because they are made anew for each run.

    Raises:
        OSError: a file has gone since. ValueError: there is no listing.
    """
    (found,) = listing.glob(LISTING)
    without = {path.resolve() for path in made}
    paths = {start / name for name in _SOURCE.findall(found.read_text(encoding="utf-8"))}
    return {str(path): state_of(path) for path in sorted(paths) if path.resolve() not in without}


def changed_since(read: Mapping[str, FileRead]) -> list[str]:
    """The files that are not, or not any more, in the state in which they were read."""
    return [path for path, state in read.items() if not Path(path).is_file() or state_of(Path(path)) != state]


def digests_of(read: Mapping[str, FileRead]) -> dict[str, str]:
    """The SHA-256 of each file of a design, by path: all that was read but Verilator's own library and program."""
    own = {Path(path).parent.parent for path in read if path.endswith("/verilated_std.sv")}
    return {path: state.digest for path, state in read.items() if not own & {*Path(path).parents}}


def state_of(path: Path) -> FileRead:
    """The present state of a file."""
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
        return FileRead(digest, os.fstat(stream.fileno()).st_ctime_ns)
