"""Cubins by content: a kernel is compiled once for its source, options, headers and compiler.

The environment variable MMAU_CUBINS names a folder that caches them (`golden.cache`) for later processes and other machines;
the key is a SHA-256 of all inputs of the compilation.
"""

import hashlib
import os
from functools import cache
from pathlib import Path

from golden.cache import Cache, File
from golden.native.nvrtc import OPTIONS, compile_cubin, cuda_major, version

FOLDER_VARIABLE = "MMAU_CUBINS"


CUBIN = "kernel.cubin"
"""File name of the cubin in an entry of the cache."""


def cached() -> Cache | None:
    """The cache of cubins across processes, None if MMAU_CUBINS is not set."""
    named = os.environ.get(FOLDER_VARIABLE)
    return Cache(Path(named)) if named else None


def key_of(source: str, target: str, include: Path | None = None) -> str:
    """The SHA-256 of all inputs of a compilation: compiler, target, options, source, and every header's name and
    text, included or not.

    Raises:
        FileNotFoundError: no NVRTC of the version that the target needs.
    """
    total = hashlib.sha256()
    for part in (version(cuda_major(target)), target, *OPTIONS, source, "" if include is None else _headers(include)):
        encoded = part.encode()
        total.update(len(encoded).to_bytes(8, "little") + encoded)
    return total.hexdigest()


@cache
def _headers(include: Path) -> str:
    digests = (
        f"{path.relative_to(include).as_posix()} {hashlib.sha256(path.read_bytes()).hexdigest()}"
        for path in sorted(include.rglob("*"))
        if path.is_file()
    )
    return "\n".join(digests)


def cubin(source: str, target: str, include: Path | None = None) -> bytes:
    """The cubin of a CUDA C++ source; arguments and errors as `golden.native.nvrtc.compile_cubin`."""
    return _compiled(key_of(source, target, include), source, target, include, cached())


@cache
def _compiled(key: str, source: str, target: str, include: Path | None, cubins: Cache | None) -> bytes:
    found = None if cubins is None else cubins.read(key)
    if found is not None:
        return found[CUBIN].content
    made = compile_cubin(source, target, include)
    if cubins is not None:
        cubins.write(key, {CUBIN: File(made)})
    return made
