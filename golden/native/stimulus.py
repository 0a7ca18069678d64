"""The stimulus at volume in the native library, and as a kernel for a device; golden.stimulus.volume is its interface."""

import ctypes
from typing import Any

import numpy as np

from golden.native.library import library, refusal

KEYS = ("a", "b", "c", "d", "d_man_bits", "K", "scale", "K_block")
"""The members of struct mmau_stimulus, in order."""


class StimulusShape(ctypes.Structure):
    """struct mmau_stimulus."""

    _fields_ = [(key, ctypes.c_int32) for key in KEYS]


def is_available() -> bool:
    """Whether the library is installed."""
    return library() is not None


def fill_tiles(
    shape: StimulusShape, table: bytes, seed: int, first: int, tiles: int, m: int, n: int, arrays: tuple[Any, ...]
) -> None:
    """Fill in tiles first … first + tiles − 1.

    Args:
        table: a corner table as one block of memory.
        arrays: a, b, c, scale_a, scale_b and label, C-contiguous NumPy arrays; None where there is none.

    Raises:
        ValueError: the library is not installed, or refuses.
    """
    lib = library()
    if lib is None:
        raise ValueError("engine 'native' is not installed here; install the project with pip, or use engine='numpy'")
    corners = np.frombuffer(table, np.int64)  # an array, for a bytes object need not be aligned
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
constexpr int m = %d, n = %d;

extern "C" __global__ void fill_tiles(const void* table, unsigned long long seed, long long first, long long tiles, void* a,
                                      void* b, void* c, void* scale_a, void* scale_b, unsigned char* label) {
    using namespace mmau::stimulus;
    const Corners corners = corners_in(plan, table);
    const long long in_a = m * plan.K, in_b = n * plan.K, in_scale_a = m * plan.blocks, in_scale_b = n * plan.blocks;
    const long long in_tile = in_a + in_b + in_scale_a + in_scale_b + m * n;
    const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; t < tiles * in_tile; t += threads) {
        const long long tile = t / in_tile;
        int e = static_cast<int>(t %% in_tile);
        const Header h = header_of(plan, corners, seed, static_cast<uint64_t>(first + tile));
        if (label && !e) label[tile] = static_cast<unsigned char>(h.label);
        if (e < in_a) {
            const uint64_t code = factor_at(plan, corners, h, side_of(true), e / plan.K, e %% plan.K);
            mmau::store(plan.a.format, a, tile * in_a + e, code);
        } else if ((e -= in_a) < in_b) {
            const uint64_t code = factor_at(plan, corners, h, side_of(false), e / plan.K, e %% plan.K);
            mmau::store(plan.b.format, b, tile * in_b + e, code);
        } else if ((e -= in_b) < m * n) {
            mmau::store(plan.c.format, c, tile * (m * n) + e, addend_at(plan, corners, h, e / n, e %% n, n));
        } else if constexpr (plan.K_block > 0) {
            e -= m * n;
            const bool is_a = e < in_scale_a;
            if (!is_a) e -= static_cast<int>(in_scale_a);
            const uint64_t code = scale_at(plan, corners, h, side_of(is_a), e / plan.blocks, e %% plan.blocks);
            mmau::store(plan.scale.format, is_a ? scale_a : scale_b, tile * (is_a ? in_scale_a : in_scale_b) + e, code);
        }
    }
}
"""


def source(shape: StimulusShape, m: int, n: int) -> str:
    """The kernel `fill_tiles` for tiles of m rows of A and n columns of B: one launch, with any grid, fills in a batch. The
    shape is a constant, so that the compiler drops what it does not need."""
    return _KERNEL % (", ".join(str(getattr(shape, key)) for key in KEYS), m, n)
