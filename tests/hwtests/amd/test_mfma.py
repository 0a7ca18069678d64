"""MFMA kernels: the layouts as permutations and against AMD's formulas, and the instruction in the assembly."""

import re
import struct

import pytest

import golden
from golden.native.hip import CompileError, assembly, code_object
from hwtests.amd.hip_device import matrix_instructions
from hwtests.amd.mfma import blocks, mfma_kernel, operand_table, per_lane, result_table
from tests.hwtests.compilers import needs_amd_compiler

INSTRUCTIONS = [entry for entry in golden.instructions() if entry.name.startswith("v_mfma")]
each_instruction = pytest.mark.parametrize("instruction", INSTRUCTIONS, ids=lambda i: f"{i.arch}-{i.name}")


def register_and_lane(i: golden.Instruction, row: int, column: int, block: int) -> tuple[int, int]:
    """Where D[row, column] of a block lies: the formulas of AMD's matrix instruction calculator."""
    if i.d.name == "fp64":
        return (row // 4, 16 * (row % 4) + column) if i.m == 16 else (0, 16 * (row % 4) + 4 * block + column)
    if i.m == 4:
        return row, 4 * block + column
    if i.m == 16:
        return 4 * block + row % 4, 16 * (row // 4) + column
    return 16 * block + 4 * (row // 8) + row % 4, 32 * (row // 4) % 64 + column


@each_instruction
def test_operand_table_is_a_permutation_by_amds_formula(instruction: golden.Instruction) -> None:
    i = instruction
    count, elements = blocks(i), per_lane(i)
    table = operand_table(i.m, i.k, elements)
    assert sorted(table.ravel().tolist()) == list(range(count * i.m * i.k))
    for block in range(count):
        for row in range(i.m):
            for k in range(i.k):
                lane = i.m * block + i.m * count * (k // elements) + row
                assert table[lane, k % elements] == (block * i.m + row) * i.k + k


@each_instruction
def test_result_table_is_a_permutation_by_amds_formula(instruction: golden.Instruction) -> None:
    i = instruction
    count = blocks(i)
    table = result_table(i.m, i.n, count, i.d.name == "fp64")
    assert sorted(table.ravel().tolist()) == list(range(count * i.m * i.n))
    for block in range(count):
        for row in range(i.m):
            for column in range(i.n):
                register, lane = register_and_lane(i, row, column, block)
                assert table[lane, register] == (block * i.m + row) * i.n + column


SAMPLE = {
    ("gfx908", "v_mfma_f32_32x32x2bf16"),
    ("gfx90a", "v_mfma_f64_4x4x4f64"),
    ("gfx90a", "v_mfma_f32_16x16x16bf16_1k"),
    ("gfx942", "v_mfma_f32_32x32x16_fp8_bf8"),
    ("gfx942", "v_mfma_f32_16x16x8_xf32"),
    ("gfx90a", "v_mfma_i32_16x16x16i8"),
    ("gfx950", "v_mfma_f32_16x16x32_bf16"),
    ("gfx950", "v_mfma_i32_32x32x32_i8"),
    ("gfx942", "v_mfma_i32_32x32x16_i8"),
}


ELF_AMDGPU = 0xE0
"""e_machine of a code object (LLVM, user guide for the AMDGPU target)."""


SPILLS = re.compile(r"^\s*\.[sv]gpr_spill_count:\s*(\d+)", re.M)


def spilled_registers(text: str) -> int:
    """Registers that the kernel of an assembly text spills to memory, vector and scalar, as its metadata says."""
    counts = SPILLS.findall(text)
    assert counts
    return sum(map(int, counts))


def assert_holds_what_it_claims(i: golden.Instruction) -> None:
    """A loop that the compiler unrolled may hold the instruction more than once, but no other one; no register is spilled;
    assembled and linked it is a shared object with the kernel and its descriptor."""
    text = assembly(mfma_kernel(i).source, i.arch)
    assert set(matrix_instructions(text)) == {i.name}
    assert spilled_registers(text) == 0
    linked = code_object(text, i.arch)
    assert linked[:5] == b"\x7fELF\x02"
    assert struct.unpack_from("<HH", linked, 16) == (3, ELF_AMDGPU)  # ET_DYN
    assert {b"run_tiles", b"run_tiles.kd"} <= set(linked.split(b"\0"))


@needs_amd_compiler
@pytest.mark.parametrize(("arch", "name"), sorted(SAMPLE))
def test_sample_holds_what_it_claims(arch: str, name: str) -> None:
    assert_holds_what_it_claims(golden.instruction(arch, name))


@needs_amd_compiler
@pytest.mark.kernels
@each_instruction
def test_every_kernel_holds_what_it_claims(instruction: golden.Instruction) -> None:
    assert_holds_what_it_claims(instruction)


@needs_amd_compiler
def test_assembly_that_does_not_assemble_is_refused() -> None:
    with pytest.raises(CompileError, match=r"^clang refuses a kernel for gfx942: .*error: invalid instruction"):
        code_object("no_such_instruction\n", "gfx942")


@needs_amd_compiler
def test_instruction_that_a_part_lacks_is_refused() -> None:
    xf32 = golden.instruction("gfx942", "v_mfma_f32_16x16x8_xf32")
    with pytest.raises(
        CompileError,
        match=r"^clang refuses a kernel for gfx908: .*Cannot select: intrinsic %llvm.amdgcn.mfma.f32.16x16x8.xf32$",
    ):
        assembly(mfma_kernel(xf32).source, "gfx908")
