"""Matrices in shared memory: every chunk has its own place, and the packing code puts every code where it belongs."""

import ctypes
import subprocess

import numpy as np
import pytest

import golden
from golden.arithmetic.formats import E2M1, E2M3, E4M3, FP16, TF32, Format
from hwtests.nvidia.shared_memory import (
    CHUNKS_PER_ROW,
    NEXT_CHUNK_BYTES,
    PACK,
    ROW_BYTES,
    descriptor_source,
    packing_of,
)
from hwtests.nvidia.tcgen05 import instruction_descriptor, row_of_lane

ROWS = 24

HOST = """\
#include <cstring>
#define __device__
struct { int x; } threadIdx{0}, blockDim{1};
struct ulonglong2 { unsigned long long low, high; };
static ulonglong2 make_ulonglong2(unsigned long long low, unsigned long long high) { return {low, high}; }
"""


def chunk_offset(row: int, chunk: int, chunks: int = CHUNKS_PER_ROW) -> int:
    """PTX ISA: K-major without swizzle, the leading offset goes to the next 16 bytes along K, the stride offset to the next
    eight rows; eight rows of a chunk are contiguous."""
    leading, stride = NEXT_CHUNK_BYTES, chunks * NEXT_CHUNK_BYTES
    return row // 8 * stride + chunk * leading + row % 8 * 16


@pytest.fixture(scope="module")
def pack_library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The CUDA packing code, compiled for the host with one thread."""
    folder = tmp_path_factory.mktemp("pack")
    functions = [
        f'extern "C" void pack_{operand}_{k}(unsigned char* s, const {code}* x) '
        f"{{ pack_rows<{packing_of(operand, k).elements}, {packing_of(operand, k).element_bits}>(s, x, {ROWS}); }}"
        for operand, k, code in CASES
    ]
    source = folder / "pack.cpp"
    functions += [
        f"namespace {name} {{ {descriptor_source(bits)} }}\n"
        f'extern "C" unsigned long long {name}_descriptor(unsigned a, unsigned c) {{ return {name}::descriptor(a, c); }}'
        for name, bits in (("sm_90", 0), ("sm_100", 1 << 46))
    ]
    source.write_text(HOST + PACK + "\n".join(functions))
    subprocess.run(["g++", "-std=c++17", "-shared", "-fPIC", "-o", folder / "pack.so", source], check=True)
    return ctypes.CDLL(str(folder / "pack.so"))


CASES: list[tuple[Format, int, str]] = [
    (TF32, 8, "unsigned int"),
    (FP16, 16, "unsigned short"),
    (E4M3, 32, "unsigned char"),
    (E2M3, 32, "unsigned char"),
    (E2M1, 32, "unsigned char"),
    (E2M1, 64, "unsigned char"),
]


@pytest.mark.parametrize(("operand", "k", "code"), CASES, ids=lambda value: str(value).replace(" ", "-"))
def test_packed_codes_are_found_bit_by_bit(operand: Format, k: int, code: str, pack_library: ctypes.CDLL) -> None:
    """Element e of a row: chunk e / (k/2), bit (e mod k/2) · width of it; the rest of a chunk is zero."""
    rng = np.random.default_rng(5)
    codes = rng.integers(0, operand.codes, (ROWS, k)).astype(f"uint{operand.storage_bits}")
    shared = np.full(ROWS * ROW_BYTES, 0xA5, np.uint8)
    getattr(pack_library, f"pack_{operand}_{k}")(
        shared.ctypes.data_as(ctypes.c_void_p), codes.ctypes.data_as(ctypes.c_void_p)
    )
    for row in range(ROWS):
        for chunk in range(CHUNKS_PER_ROW):
            start = chunk_offset(row, chunk)
            word = int.from_bytes(shared[start : start + 16].tobytes(), "little")
            elements = codes[row, chunk * k // 2 : (chunk + 1) * k // 2].tolist()
            assert word == sum(element << (position * operand.width) for position, element in enumerate(elements))


@pytest.mark.parametrize("chunks", [2, 4])
@pytest.mark.parametrize("arch", ["sm_90", "sm_100"])
def test_descriptor_fields(arch: str, chunks: int, pack_library: ctypes.CDLL) -> None:
    """Start address, leading and stride offset, each without its low four bits; sm_100 also wants 1 in bits 46 to 48."""
    function = getattr(pack_library, f"{arch}_descriptor")
    function.restype = ctypes.c_uint64
    found = function(0x12340, chunks)
    fields = {
        "address": found & 0xFFFF,
        "leading": found >> 16 & 0xFFFF,
        "stride": found >> 32 & 0x3FFF,
        "rest": found >> 46,
    }
    expected = {"address": 0x1234, "leading": NEXT_CHUNK_BYTES // 16, "stride": chunks * NEXT_CHUNK_BYTES // 16}
    assert fields == expected | {"rest": int(arch == "sm_100")}


def test_rows_of_tensor_memory_lanes() -> None:
    assert [row_of_lane(128, lane) for lane in range(128)] == list(range(128))
    held = [row for lane in range(128) if (row := row_of_lane(64, lane)) < 64]
    assert held == list(range(64))
    assert [row_of_lane(64, lane) for lane in (0, 15, 16, 31, 32, 47, 64, 96, 111)] == [0, 15, 64, 64, 16, 31, 32, 48, 63]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # D F32 (1 << 4), A and B F16 (0), N/8 at 17, M/16 at 24
        ("tcgen05.m128n256k16.kind::f16.f32.f16.f16", 1 << 4 | 32 << 17 | 8 << 24),
        ("tcgen05.m64n8k8.kind::tf32.f32.tf32.tf32", 1 << 4 | 2 << 7 | 2 << 10 | 1 << 17 | 4 << 24),
        ("tcgen05.m64n16k32.kind::f8f6f4.f16.e2m1.e5m2", 5 << 7 | 1 << 10 | 2 << 17 | 4 << 24),
        # block-scaled: UE8M0 is bit 23, M/128 at 27
        ("tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e2m3.e3m2.ue8m0", 3 << 7 | 4 << 10 | 1 << 17 | 1 << 23 | 1 << 27),
        ("tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3", 1 << 7 | 1 << 10 | 1 << 17 | 1 << 27),
    ],
)
def test_instruction_descriptors_equal_the_isa(name: str, expected: int) -> None:
    """PTX ISA 9.1, tables 42 to 44."""
    assert instruction_descriptor(golden.instruction("sm_100", name)) == expected
