"""The stimulus at volume in the native library, and as a kernel for a GPU; callers use it through golden.stimulus.volume."""

import ctypes
from typing import Any

import numpy as np

from golden.native.library import MODULE, SOURCES, library, refusal

KEYS = ("a", "b", "c", "d", "d_man_bits", "K", "scale", "K_block")
"""The members of struct mmau_stimulus, in order."""


class StimulusShape(ctypes.Structure):
    """The ctypes form of struct mmau_stimulus."""

    _fields_ = [(key, ctypes.c_int32) for key in KEYS]


def check_available() -> None:
    """Raise ValueError where the library is not installed."""
    if library() is None:
        raise ValueError(
            "the stimulus at volume needs the native library, which is not installed here: install the project with pip, or "
            f"put its {MODULE.rpartition('.')[2]}.so into {SOURCES}"
        )


def fill_tiles(
    shape: StimulusShape, table: bytes, seed: int, first: int, tiles: int, m: int, n: int, arrays: tuple[Any, ...]
) -> None:
    """Fill arrays with tiles first … first + tiles − 1.

    Args:
        table: a corner table as one block of memory.
        arrays: a, b, c, scale_a, scale_b and label, C-contiguous NumPy arrays; None if absent.

    Raises:
        ValueError: the library is not installed, or refuses the arguments.
    """
    check_available()
    lib = library()
    assert lib is not None
    corners = np.frombuffer(table, np.int64)  # an array is aligned; a bytes object need not be
    status = lib.mmau_check_stimulus(ctypes.byref(shape), _pointer(corners), ctypes.c_int64(len(table)))
    if not status:
        status = lib.mmau_fill_tiles(
            ctypes.byref(shape), _pointer(corners), ctypes.c_uint64(seed), ctypes.c_int64(first), ctypes.c_int64(tiles),
            m, n, *map(_pointer, arrays),
        )  # fmt: skip
    if status:
        raise refusal(status)


def _pointer(array: Any) -> ctypes.c_void_p:
    return ctypes.c_void_p(None if array is None else array.ctypes.data)


_KERNEL = """
#include "mmau/stimulus.hpp"

constexpr mmau_stimulus shape = {%s};
constexpr mmau::stimulus::Plan plan = mmau::stimulus::make_plan(shape);
constexpr int m = %d, n = %d, warp = 32;

extern "C" __global__ void fill_tiles(const void* table, unsigned long long seed, long long first, long long tiles, void* a,
                                      void* b, void* c, void* scale_a, void* scale_b, unsigned char* label) {
    using namespace mmau::stimulus;
    const Corners corners = corners_in(plan, table);
    const Arrays out{a, b, c, scale_a, scale_b, label};
    const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    const long long warps = static_cast<long long>(gridDim.x) * blockDim.x / warp;
    for (long long number = thread / warp; number < tiles * slices_of(plan, m, n); number += warps) {
        fill_slice(plan, corners, seed, first, number, m, n, static_cast<int>(thread %% warp), warp, out);
    }
}
"""


def source(shape: StimulusShape, m: int, n: int) -> str:
    """The kernel `fill_tiles` for tiles of m rows of A and n columns of B: one launch fills in a batch, with any
    number of blocks of whole warps. The shape is a constant, so that the compiler drops what it does not need."""
    return _KERNEL % (", ".join(str(getattr(shape, key)) for key in KEYS), m, n)
