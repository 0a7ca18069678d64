"""The native library, loaded once: libmmau through its C interface."""

import ctypes
import os
from functools import cache
from importlib.util import find_spec
from struct import Struct

MODULE = "golden.native._mmau"
"""Where an installation puts the library: a shared object that only looks like a Python module."""


pack_batch = Struct("6P6q").pack
"""struct mmau_batch from the addresses of a, b, c, scale_a, scale_b and d (0: NULL), rows, columns and the strides of a, b,
scale_a and scale_b. Structs go to the library as bytes: ctypes takes 0.7 µs more for a call with its own structures."""


@cache
def library() -> ctypes.CDLL | None:
    """The library, or None where it is not installed: golden then computes with the reference.

    `mmau_dot_batch` is without argtypes: it takes two structs as bytes and an int, which ctypes passes as they are, and to
    check them takes 0.2 µs of every call.
    """
    spec = find_spec(MODULE)
    if spec is None or spec.origin is None:
        return None
    lib = ctypes.CDLL(spec.origin)
    lib.mmau_check.argtypes = [ctypes.c_char_p]
    for function in (lib.mmau_message, lib.mmau_isa):
        function.restype = ctypes.c_char_p
    lib.mmau_message.argtypes = [ctypes.c_int]
    return lib


BAD_ISA = 20
"""MMAU_BAD_ISA of mmau.h."""


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
    """What a status of the library means."""
    lib = library()
    assert lib is not None
    return str(lib.mmau_message(status).decode())


def refusal(status: int) -> ValueError:
    """The error for a status other than MMAU_OK."""
    got = f", got {os.environ.get('MMAU_ISA', '')!r}" if status == BAD_ISA else ""
    return ValueError(message(status) + got)
