"""The native library, loaded once: libmmau through its C interface."""

import ctypes
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
    """The library, or None where it is not installed: golden then computes with the reference."""
    spec = find_spec(MODULE)
    if spec is None or spec.origin is None:
        return None
    lib = ctypes.CDLL(spec.origin)
    lib.mmau_check.argtypes = [ctypes.c_char_p]
    lib.mmau_dot_batch.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int]
    for function in (lib.mmau_message, lib.mmau_isa):
        function.restype = ctypes.c_char_p
    lib.mmau_message.argtypes = [ctypes.c_int]
    return lib


def isa() -> str | None:
    """The instruction set that the library computes with on this machine; None without the library."""
    lib = library()
    return None if lib is None else str(lib.mmau_isa().decode())


def message(status: int) -> str:
    """What a status of the library means."""
    lib = library()
    assert lib is not None
    return str(lib.mmau_message(status).decode())
