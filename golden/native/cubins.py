"""Cubins by content: a kernel is compiled once for its source, options, headers and compiler, whoever asks for it.

With the environment variable MMAU_CUBINS the folder that it names keeps them, for later processes and other machines:
`<key>.cubin`, the key a SHA-256 of all that the cubin depends on.
"""

import hashlib
import os
from functools import cache
from pathlib import Path

from golden.files import write_atomically
from golden.native.nvrtc import OPTIONS, compile_cubin, cuda_major, version

FOLDER_VARIABLE = "MMAU_CUBINS"

_MAGIC = b"\x7fELF"


def folder() -> Path | None:
    """Where cubins are kept between processes, None where nowhere."""
    named = os.environ.get(FOLDER_VARIABLE)
    return Path(named) if named else None


def key_of(source: str, target: str, include: Path | None = None) -> str:
    """The SHA-256 of everything that a cubin depends on: compiler, target, options, source, and every header's name and
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
    return _kept(key_of(source, target, include), source, target, include, folder())


@cache
def _kept(key: str, source: str, target: str, include: Path | None, kept_in: Path | None) -> bytes:
    path = None if kept_in is None else kept_in / f"{key}.cubin"
    if path is not None and path.exists():
        found = path.read_bytes()
        if found.startswith(_MAGIC):
            return found
    made = compile_cubin(source, target, include)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, made)
    return made
