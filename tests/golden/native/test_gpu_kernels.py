"""What the kernels of matrix products ask of a GPU: they compile for every architecture; a block of each fits registers and
shared memory, and barriers keep what it writes there from what it reads, as the compiled code says."""

import re
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import golden
from golden.native import hip
from golden.native.cuda import INCLUDE, PRODUCT, ROWS, THREADS, binary, cubin, product_source, source
from golden.native.hip import assembly
from hwtests.nvidia.disassembly import sass
from tests.hwtests.compilers import needs_amd_compiler, needs_cuda_compiler

NVIDIA = ("sm_80", "sm_90", "sm_100", "sm_120")
AMD = {"gfx90a": 64, "gfx942": 64, "gfx1100": 32, "gfx1201": 32}
"""AMD's architectures, and the lanes of their waves."""

REGISTERS, SHARED, RESERVED = 65_536, 48 << 10, 1 << 10
"""Registers of a multiprocessor; bytes that a block may share, and those that the system keeps of them."""

MODELS = (
    ("sm_80", "mma.m16n8k16.f32.f16.f16.f32"), ("sm_90", "wgmma.m64n128k32.f32.e4m3.e4m3"),
    ("sm_90", "wgmma.m64n128k16.f16.f16.f16"), ("sm_100", "tcgen05.m128n128k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"),
    ("gfx942", "v_mfma_f32_16x16x16_bf16"), ("gfx90a", "v_mfma_f32_16x16x4f32"), ("gfx90a", "v_mfma_f32_16x16x16f16"),
    ("gfx1100", "v_wmma_f32_16x16x16_f16_w32"), ("gfx1201", "v_wmma_f32_16x16x16_bf16_w32"),
    ("sm_90", "mma.m16n8k32.s32.s8.s8.s32"), ("gfx942", "v_mfma_f32_16x16x32_fp8_fp8"),
    ("sm_100", "tcgen05.m128n128k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0"),
)  # fmt: skip
"""A model of every way that a kernel can go."""


class Resources(NamedTuple):
    """Registers of a thread, bytes that a block shares, bytes of a thread's own memory."""

    registers: int
    shared: int
    own: int


def attributes(table: bytes) -> Iterator[tuple[int, tuple[int, ...]]]:
    """The attributes of a section .nv.info: their numbers and words."""
    place = 0
    while place < len(table):
        form, number, size = struct.unpack_from("<BBH", table, place)
        place += 4
        if form == 4:  # others hold their value in place of a size
            yield number, struct.unpack_from(f"<{size // 4}I", table, place)
            place += size


def resources_of_cubin(binary: bytes) -> Resources:
    """Of the kernel, and of what it calls: the sections of an ELF file of 64 bits."""
    (table,), (size, count, names) = struct.unpack_from("<Q", binary, 0x28), struct.unpack_from("<HHH", binary, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", binary, table + number * size) for number in range(count)]
    sections = {}
    for header in headers:
        start = headers[names][4] + header[0]
        sections[binary[start : binary.index(b"\0", start)].decode()] = header
    info = sections[".nv.info"]
    found = list(attributes(binary[info[4] : info[4] + info[5]]))
    registers = max(words[1] for number, words in found if number == 0x2F)
    own = max(words[1] for number, words in found if number == 0x11)
    return Resources(registers, sections[f".nv.shared.{PRODUCT}"][5], own)


KINDS = {
    "B": r"BAR\.SYNC|s_barrier(?!_signal)", "W": r"STS|ds_(?:write|store)", "R": r"LDS|ds_(?:read|load)",
    "T": r"s_wait\w*.*(?:lgkmcnt\(0\)|dscnt 0x0)",
}  # fmt: skip
"""What instructions begin with that concern the memory of a block: a barrier, a write, a read, AMD's wait until all writes
are there."""

ORDERLY = {"nvidia": r"B*(W+B+R+B+)+", "amd": r"[TB]*(W[WT]*TB[TB]*R[RT]*B[TB]*)+"}
"""The order of these in a kernel: a barrier lies between the writes of a part and its reads, another before the next."""


def order_of(instructions: list[str]) -> str:
    """The kinds of a listing's instructions, one letter each."""
    return "".join(kind for line in instructions for kind, begins in KINDS.items() if re.match(begins, line))


def order_of_sass(binary: bytes) -> str:
    return order_of([mnemonic for mnemonic, _ in sass(binary)])


def order_of_assembly(text: str) -> str:
    return order_of([line.strip() for line in text.splitlines()])


def source_of(model: tuple[str, str]) -> str:
    instruction = golden.instruction(*model)
    return product_source(instruction.chain, 64 * instruction.k)


@needs_cuda_compiler
@pytest.mark.kernels
@pytest.mark.parametrize("target", NVIDIA)
@pytest.mark.parametrize("model", MODELS, ids="-".join)
def test_block_fits_an_nvidia_gpu(model: tuple[str, str], target: str) -> None:
    binary = cubin(source_of(model), target, INCLUDE)
    found = resources_of_cubin(binary)
    print(f"{' '.join(model)} on {target}: {found}")
    assert re.fullmatch(ORDERLY["nvidia"], order_of_sass(binary))
    assert 0 < found.registers * THREADS <= REGISTERS
    assert 0 < found.shared <= SHARED + RESERVED


def without_barriers(folder: Path) -> Path:
    """The headers, in which no thread of a GPU waits for another."""
    include = folder / "include"
    shutil.copytree(INCLUDE, include)
    header = include / "mmau" / "gpu" / "block.hpp"
    text = header.read_text()
    assert text.count("own);\n        barrier();") == 1
    header.write_text(text.replace("own);\n        barrier();", "own);"))
    return include


@needs_cuda_compiler
@pytest.mark.kernels
@pytest.mark.attack("a kernel of matrix products without barriers, by its machine code")
def test_nvidia_kernel_without_barriers_is_found(tmp_path: Path) -> None:
    binary = cubin(source_of(MODELS[3]), "sm_90", without_barriers(tmp_path))
    assert not re.fullmatch(ORDERLY["nvidia"], order_of_sass(binary))


@needs_amd_compiler
@pytest.mark.kernels
@pytest.mark.attack("a kernel of matrix products without barriers, by its machine code")
@pytest.mark.parametrize("arch", AMD)
def test_amd_kernel_without_barriers_is_found(arch: str, tmp_path: Path) -> None:
    text = assembly(source_of(MODELS[3]), arch, AMD[arch], without_barriers(tmp_path))
    assert not re.fullmatch(ORDERLY["amd"], order_of_assembly(text))


@needs_amd_compiler
@pytest.mark.kernels
@pytest.mark.parametrize("arch", AMD)
def test_code_objects_hold_both_kernels(arch: str) -> None:
    """What the driver loads, linked, for tensors on an AMD GPU."""
    instruction = golden.instruction("gfx942", "v_mfma_f32_16x16x16_bf16")
    for text, entry in ((source(instruction.chain, 16), ROWS), (product_source(instruction.chain, 16), PRODUCT)):
        assert hip.wave_of(arch) == AMD[arch]
        found = binary(text, arch)
        assert found[:4] == b"\x7fELF"
        assert entry.encode() + b".kd" in found


@needs_amd_compiler
@pytest.mark.kernels
@pytest.mark.parametrize("arch", AMD)
@pytest.mark.parametrize("model", MODELS, ids="-".join)
def test_block_fits_an_amd_gpu(model: tuple[str, str], arch: str) -> None:
    text = assembly(source_of(model), arch, AMD[arch], INCLUDE)
    names = ("vgpr_count", "group_segment_fixed_size", "private_segment_fixed_size")
    found = Resources(*(int(re.findall(rf"^ *(?:- )?\.{name}: +(\d+)$", text, re.M)[0]) for name in names))
    print(f"{' '.join(model)} on {arch}: {found}")
    assert re.fullmatch(ORDERLY["amd"], order_of_assembly(text))
    assert found.registers <= 512 if arch.startswith("gfx9") else found.registers <= 256
    assert found.shared <= SHARED
