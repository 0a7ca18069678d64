"""The native library, loaded once: libmmau through its C interface."""

import ctypes
import hashlib
import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from struct import Struct

MODULE = "golden.native._mmau"
"""The installed library: a shared object in the place of a Python extension module."""

SOURCES = Path(__file__).parent
"""The folder of the C++ sources, in `include` and `src`."""

SUFFIXES = (".h", ".hpp", ".cpp", ".inc")

pack_batch = Struct("6P6q").pack
"""struct mmau_batch from the addresses of a, b, c, scale_a, scale_b and d (0: NULL), rows, columns and the strides of a, b,
scale_a and scale_b. Structs are passed to the library as bytes: a call with ctypes structures takes 0.7 µs more."""


@cache
def library() -> ctypes.CDLL | None:
    """The library, or None if it is not installed; golden then computes with the reference engine.

    `mmau_dot_batch` has no argtypes: ctypes passes its two structs (bytes) and its int unchanged, and checking them would
    take 0.2 µs per call.

    Raises:
        ImportError: the library was not compiled from the C++ sources beside this module.
    """
    spec = find_spec(MODULE)
    if spec is None or spec.origin is None:
        return None
    lib = ctypes.CDLL(spec.origin)
    check_sources(lib, SOURCES)
    lib.mmau_check.argtypes = [ctypes.c_char_p]
    for function in (lib.mmau_message, lib.mmau_isa):
        function.restype = ctypes.c_char_p
    lib.mmau_message.argtypes = [ctypes.c_int]
    return lib


def check_sources(lib: ctypes.CDLL, folder: Path) -> None:
    """Raise ImportError if a library was compiled from other sources than those in a folder; a folder without them passes.

    In a clone the sources change while the library stays what it was until the next `make`. Such a library may compute by
    other rules than the Python models, and read structs of another layout.
    """
    expected = source_digest(folder)
    if expected is None:
        return
    try:
        lib.mmau_source_digest.restype = ctypes.c_char_p
        compiled_from = lib.mmau_source_digest().decode()
    except AttributeError:  # a library from before the digest
        compiled_from = ""
    if compiled_from != expected:
        raise ImportError(
            f"the native library {lib._name} must be compiled from the sources in {folder}, and was compiled from others: "
            "build it again, with `make .venv/.dev` in a clone, else with `pip install`"
        )


def source_digest(folder: Path) -> str | None:
    """SHA-256 over the names and the contents of the C++ sources in a folder, as CMakeLists.txt computes it; None without
    sources."""
    if not (folder / "include").is_dir() or not (folder / "src").is_dir():
        return None
    files = [path for part in ("include", "src") for path in (folder / part).rglob("*") if path.suffix in SUFFIXES]
    names = {path.relative_to(folder).as_posix(): path for path in files}
    lines = (f"{name} {hashlib.sha256(names[name].read_bytes()).hexdigest()}\n" for name in sorted(names))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


BAD_ISA, TOO_WIDE = 20, 35
"""Statuses of the library for a bad MMAU_ISA and a sum too wide: MMAU_BAD_ISA and MMAU_BAD_WIDTH of mmau.h."""


def isa() -> str | None:
    """The instruction set that the library computes with on this machine; None without the library.

    Raises:
        ValueError: the environment variable MMAU_ISA names one that this processor does not have.
    """
    lib = library()
    if lib is None:
        return None
    name = lib.mmau_isa()
    if name is None:
        raise refusal(BAD_ISA)
    return str(name.decode())


def message(status: int) -> str:
    """The message for a status of the library."""
    lib = library()
    assert lib is not None
    return str(lib.mmau_message(status).decode())


class TooWide(ValueError):
    """An exact sum of a step has more bits than the library's widest integer, or is a fixed-point number."""


def refusal(status: int) -> ValueError:
    """The error for a status other than MMAU_OK."""
    got = f", got {os.environ.get('MMAU_ISA', '')!r}" if status == BAD_ISA else ""
    return (TooWide if status == TOO_WIDE else ValueError)(message(status) + got)
