"""The kernel that makes tiles on a device: its text, run on this machine, gives what the library gives; NVRTC takes it."""

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import golden
from golden.native import cuda
from golden.native.cuda import cubin
from golden.stimulus import OperandShape, Tiles, volume
from tests.golden.native.native_rows import needs_native
from tests.hwtests.compilers import needs_cuda_compiler

INSTRUCTIONS = [
    golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32"),
    golden.instruction("sm_90", "mma.m16n8k4.f64.f64.f64.f64"),
    golden.instruction("sm_120", "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3"),
    golden.instruction("x86-amx", "tdpbsud.m16n16k16"),
]

each = pytest.mark.parametrize("instruction", INSTRUCTIONS, ids=lambda i: i.name)

DEVICE_WORDS = """
#define __global__
struct Index { unsigned x; };
static Index blockIdx, blockDim, gridDim, threadIdx;
"""

LAUNCH = """
extern "C" void launch(unsigned blocks, unsigned threads, const void* table, unsigned long long seed, long long first,
                       long long tiles, void* a, void* b, void* c, void* scale_a, void* scale_b, unsigned char* label) {
    gridDim.x = blocks, blockDim.x = threads;
    for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) {
        for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x) {
            fill_tiles(table, seed, first, tiles, a, b, c, scale_a, scale_b, label);
        }
    }
}
"""


def launched(instruction: golden.Instruction, folder: Path, seed: int, first: int, count: int) -> tuple[Tiles, Any]:
    """The operands that the kernel's text, compiled as C++, makes thread by thread."""
    i, shape = instruction, OperandShape.of(instruction)
    source = folder / "kernel.cpp"
    source.write_text(DEVICE_WORDS + volume.kernel_source(shape, i.m, i.n) + LAUNCH, encoding="utf-8")
    command = ["g++", "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{cuda.INCLUDE}"]
    subprocess.run([*command, str(source), "-o", str(folder / "kernel.so")], check=True, timeout=300)
    expected, labels = volume.tiles(shape, i.m, i.n, seed, first, count)
    made = Tiles(*(None if x is None else np.zeros_like(x) for x in vars(expected).values()))
    labels = np.zeros_like(labels)
    table = np.frombuffer(volume.corner_table(shape, seed).blob, np.int64)
    pointers = [ctypes.c_void_p(None if x is None else x.ctypes.data) for x in (*vars(made).values(), labels)]
    numbers = (ctypes.c_uint64(seed), ctypes.c_int64(first), ctypes.c_int64(count))
    ctypes.CDLL(str(folder / "kernel.so")).launch(3, 64, ctypes.c_void_p(table.ctypes.data), *numbers, *pointers)
    return made, labels


@needs_native
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not on PATH")
@each
def test_kernel_makes_the_same_tiles(instruction: golden.Instruction, tmp_path: Path) -> None:
    i, (seed, first, count) = instruction, (6, 5, 40)
    expected, labels = volume.tiles(OperandShape.of(i), i.m, i.n, seed, first, count)
    made, got_labels = launched(i, tmp_path, seed, first, count)
    np.testing.assert_array_equal(got_labels, labels)
    for name, codes in vars(made).items():
        if codes is not None:
            np.testing.assert_array_equal(codes, vars(expected)[name], name)


@needs_cuda_compiler
@each
def test_kernel_compiles(instruction: golden.Instruction) -> None:
    source = volume.kernel_source(OperandShape.of(instruction), instruction.m, instruction.n)
    assert b"fill_tiles" in cubin(source, "sm_90", cuda.INCLUDE)
