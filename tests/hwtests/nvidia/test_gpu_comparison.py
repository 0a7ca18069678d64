"""The comparison kernel, run on the host: compiled by the C++ compiler with one thread in the place of the grid, it counts
what the definition on NumPy arrays counts, for every way in which results can differ."""

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import golden
from golden.engines.engine import Batch, run
from golden.native.cuda import INCLUDE, cubin
from hwtests import on_host
from hwtests.nvidia.gpu_comparison import COUNTERS, DIFFERENCE_WORDS, comparison_source, tally_of
from hwtests.tally import KEPT_ROWS, NAN_CODES, Tally, chain_with_another_e_zero, tally
from tests.hwtests.compilers import needs_cuda_compiler
from tests.volume import one_in

PRELUDE = """
#include <cstdint>
#define __global__
#define __device__
#define __shared__ static
static struct { unsigned int x; } threadIdx = {0}, blockIdx = {0}, blockDim = {1}, gridDim = {1};
static void __syncthreads() {}
template <class Word> Word atomicAdd(Word* place, Word more) { const Word was = *place; *place += more; return was; }
template <class Word> Word atomicCAS(Word* place, Word compare, Word value) {
    const Word was = *place;
    if (was == compare) *place = value;
    return was;
}
"""

HOPPER = golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32")
WGMMA = golden.instruction("sm_90", "wgmma.m64n8k32.f16.e4m3.e5m2")
CONVERTED = golden.instruction("sm_90", "mma.m16n8k32.f32.e5m2.e4m3.f32")
SCALED = golden.instruction("sm_120", "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3")
BF16 = golden.instruction("sm_90", "mma.m16n8k8.f32.bf16.bf16.f32")
FP64 = golden.instruction("sm_90", "mma.m8n8k4.f64.f64.f64.f64")
INTEGERS = golden.instruction("sm_90", "mma.m16n8k32.satfinite.s32.s8.u8.s32")
TILES = 40


def kernel(chain: Any, k: int, folder: Path) -> Any:
    """compare_tiles as a function of the host."""
    source, library = folder / "compare.cpp", folder / "compare.so"
    source.write_text(PRELUDE + comparison_source(chain, k).replace("static struct", "struct"), encoding="utf-8")
    command = ["g++", "-std=c++17", "-O1", "-Wno-unknown-pragmas", "-shared", "-fPIC", f"-I{INCLUDE}", "-o"]
    subprocess.run([*command, str(library), str(source)], check=True, timeout=300)
    return ctypes.CDLL(str(library)).compare_tiles


def pointer(array: Any) -> ctypes.c_void_p:
    return ctypes.c_void_p(None if array is None else array.ctypes.data)


def compared(function: Any, i: golden.Instruction, d: Any, every: int = 1) -> Tally:
    """The kernel's counts for tiles 5 … of seed 3."""
    tiles, labels = on_host.tiles_of(i, 3, 5, len(d))
    counters = np.zeros(COUNTERS, np.uint64)
    differences = np.zeros((KEPT_ROWS, DIFFERENCE_WORDS), np.uint64)
    arrays = [pointer(x) for x in (tiles.a, tiles.b, tiles.c, tiles.scale_a, tiles.scale_b, d, labels)]
    sizes = (ctypes.c_longlong(len(d)), ctypes.c_int(every), ctypes.c_int(i.m), ctypes.c_int(i.n))
    function(*arrays, *sizes, pointer(counters), pointer(differences))
    return tally_of(counters, differences, labels, i, on_host.NAMES, 5)


def infinity(i: golden.Instruction) -> int:
    assert i.d.infinity is not None
    return i.d.infinity


def model(i: golden.Instruction, chain: Any) -> Any:
    tiles, _ = on_host.tiles_of(i, 3, 5, TILES)
    a, b, c, *scales = tiles.rows(np)
    rows: list[Any] = [None if x is None else x.reshape(-1, x.shape[-1]) for x in (a, b, *scales)]
    return run(None, chain, Batch(rows[0], rows[1], c.reshape(-1), rows[2], rows[3])).reshape(c.shape)


@pytest.mark.slow
@pytest.mark.parametrize("i", one_in(3, [HOPPER, WGMMA, CONVERTED, SCALED, FP64]), ids=lambda i: i.name)
def test_kernel_counts_what_the_definition_counts(i: golden.Instruction, tmp_path: Path) -> None:
    function, expected = kernel(i.chain, i.k, tmp_path), model(i, i.chain)
    tiles, labels = on_host.tiles_of(i, 3, 5, TILES)
    right = compared(function, i, expected)
    assert right == tally(i, tiles, labels, on_host.NAMES, 5, expected, expected)
    assert right.wrong == {}
    assert right.nans
    got = expected.copy()
    got[3, 1, 2] ^= 1
    got[7] = i.d.negative_zero
    got[9, 0] = np.arange(got.shape[2], dtype=got.dtype) + got.dtype.type(infinity(i) + 1)  # NaNs of many codes
    found, by_definition = compared(function, i, got), tally(i, tiles, labels, on_host.NAMES, 5, got, expected)
    assert found.differences == by_definition.differences
    assert (found.compared, found.wrong, found.negative_zeros) == (
        by_definition.compared, by_definition.wrong, by_definition.negative_zeros,
    )  # fmt: skip
    assert sum(found.nans.values()) == sum(by_definition.nans.values())


@pytest.mark.slow
def test_integers_have_neither_nan_nor_negative_zero(tmp_path: Path) -> None:
    """0 is no −0, a code above that of an infinity is a number, and each that differs counts."""
    i = INTEGERS
    function, expected = kernel(i.chain, i.k, tmp_path), model(i, i.chain)
    got = expected.copy()
    got[2, 0, 0] ^= 1 << 31
    got[4] = 0
    tiles, labels = on_host.tiles_of(i, 3, 5, TILES)
    for results in (expected, got):
        found = compared(function, i, results)
        by_definition = tally(i, tiles, labels, on_host.NAMES, 5, results, expected)
        assert (found.compared, found.wrong) == (by_definition.compared, by_definition.wrong)
        assert found.differences == by_definition.differences
        assert (found.nans, found.negative_zeros) == ({}, 0)
    assert sum(found.wrong.values()) >= 1 + (expected[4] != 0).sum()


@pytest.mark.slow
def test_codes_of_nan_beyond_the_places_are_counted_together(tmp_path: Path) -> None:
    got = model(FP64, FP64.chain)
    got[:, :, :] = np.arange(got.size, dtype=np.uint64).reshape(got.shape) + np.uint64(infinity(FP64) + 1)
    found = compared(kernel(FP64.chain, FP64.k, tmp_path), FP64, got)
    assert len(found.nans) == NAN_CODES + 1
    assert found.nans["others"] == got.size - NAN_CODES
    assert min(KEPT_ROWS, sum(found.wrong.values())) == len(found.differences)


@pytest.mark.slow
def test_every_so_manyth_tile_with_another_e_zero(tmp_path: Path) -> None:
    other: Any = BF16.chain
    for _ in range(60):  # so far that a few tiles tell
        other = chain_with_another_e_zero(other)
    expected, with_other = model(BF16, BF16.chain), model(BF16, other)
    found = compared(kernel(other, BF16.k, tmp_path), BF16, expected, every=3)
    assert sum(found.compared.values()) == expected[::3].size
    assert sum(found.wrong.values()) == int((expected[::3] != with_other[::3]).sum()) > 0


def test_operation_without_e_zero_has_no_other_chain() -> None:
    assert chain_with_another_e_zero(FP64.chain) is None
    assert chain_with_another_e_zero(HOPPER.chain) is not None


@needs_cuda_compiler
@pytest.mark.parametrize("i", [HOPPER, SCALED], ids=lambda i: i.name)
def test_kernel_compiles_for_the_device(i: golden.Instruction) -> None:
    assert b"compare_tiles" in cubin(comparison_source(i.chain, i.k), i.arch, INCLUDE)
