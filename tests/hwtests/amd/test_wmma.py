"""WMMA and DOT2 kernels of RDNA: the layouts by the formulas of register and lane, and the instruction in the assembly."""

import re

import pytest

import golden
from golden.native.hip import assembly, code_object
from hwtests.amd import kernels
from hwtests.amd.hip_device import matrix_instructions
from hwtests.amd.kernels import operand_table, result_table, wave_size, wmma_kernel
from tests.hwtests.amd.test_mfma import spilled_registers
from tests.hwtests.compilers import needs_amd_compiler

INSTRUCTIONS = [entry for entry in kernels.instructions() if entry.arch in ("gfx1100", "gfx1151", "gfx1201")]
MATRICES = [i for i in INSTRUCTIONS if i.name.startswith("v_wmma")]
each_matrix = pytest.mark.parametrize("instruction", MATRICES, ids=lambda i: f"{i.arch}-{i.name}")


def places_of_a(i: golden.Instruction, row: int, k: int) -> set[tuple[int, int]]:
    """Lanes and places that hold A[row, k]."""
    wave = wave_size(i)
    if i.arch != "gfx1201":
        return {(row + 16 * group, k) for group in range(wave // 16)}
    if i.c.name == "int32" and wave == 64:  # AMD's matrix instruction calculator, commit 2ef9189
        per_lane = {8: 4, 4: 8}[i.a.width]
        return {(row + 32 * (k // per_lane % 2) + 16 * (k // (2 * per_lane)), k % per_lane)}
    if i.c.name == "int32":
        return {(row + 16 * (k // 8 % 2), 8 * (k // 16) + k % 8)}
    return {(row + 16 * (k // 8), k % 8)} if wave == 32 else {(row + 16 * (k // 4), k % 4)}


def place_of_d(i: golden.Instruction, row: int, column: int) -> tuple[int, int]:
    """Lane and place that hold D[row, column]."""
    wave = wave_size(i)
    if i.arch != "gfx1201":
        return column + 16 * (row % (wave // 16)), row // (wave // 16)
    if wave == 32:
        return column + 16 * (row // 8), row % 8
    return column + 16 * (row // 8) + 32 * (row // 4 % 2), row % 4


@each_matrix
def test_operand_table_by_the_formula(instruction: golden.Instruction) -> None:
    i, table = instruction, operand_table(instruction)
    held = {(lane, place): int(table[lane, place]) for lane in range(len(table)) for place in range(table.shape[1])}
    expected = {at: row * i.k + k for row in range(i.m) for k in range(i.k) for at in places_of_a(i, row, k)}
    assert held == expected


@each_matrix
def test_result_table_is_a_permutation_by_the_formula(instruction: golden.Instruction) -> None:
    i, table = instruction, result_table(instruction)
    held = {(lane, place): int(table[lane, place]) for lane in range(len(table)) for place in range(table.shape[1])}
    assert held == {place_of_d(i, row, column): row * i.n + column for row in range(i.m) for column in range(i.n)}


def assert_holds_what_it_claims(i: golden.Instruction) -> None:
    kernel = kernels.kernel_of(i)
    text = assembly(kernel.source, i.arch, kernel.wave)
    assert set(matrix_instructions(text)) == {kernel.mnemonic}
    assert spilled_registers(text) == 0
    assert re.search(rf"\.wavefront_size:\s*{kernel.wave}$", text, re.M)
    assert {b"run_tiles", b"run_tiles.kd"} <= set(code_object(text, i.arch, kernel.wave).split(b"\0"))


SAMPLE = [
    ("gfx1100", "v_dot2_bf16_bf16"), ("gfx1151", "v_wmma_f16_16x16x16_f16_w64"),
    ("gfx1201", "v_wmma_bf16_16x16x16_bf16_w32"), ("gfx1201", "v_wmma_i32_16x16x32_iu4_w32.s4.u4.clamp"),
    ("gfx1201", "v_wmma_i32_16x16x16_iu8_w64.u8.s8"),
]  # fmt: skip


@needs_amd_compiler
@pytest.mark.parametrize(("arch", "name"), SAMPLE)
def test_sample_holds_what_it_claims(arch: str, name: str) -> None:
    assert_holds_what_it_claims(golden.instruction(arch, name))


@needs_amd_compiler
@pytest.mark.kernels
@pytest.mark.parametrize("instruction", INSTRUCTIONS, ids=lambda i: f"{i.arch}-{i.name}")
def test_every_kernel_holds_what_it_claims(instruction: golden.Instruction) -> None:
    assert_holds_what_it_claims(instruction)


@needs_amd_compiler
def test_signs_and_clamp_are_in_the_assembly() -> None:
    kernel = wmma_kernel(golden.instruction("gfx1201", "v_wmma_i32_16x16x16_iu8_w32.u8.s8.clamp"))
    (line,) = re.findall(rf"^\s*{kernel.mnemonic} .*$", assembly(kernel.source, kernel.arch, kernel.wave), re.M)
    assert line.endswith("] neg_lo:[0,1,0] clamp")


def test_instructions_without_a_kernel_are_refused() -> None:
    wave64 = golden.instruction("gfx1201", "v_wmma_i32_16x16x16_iu4_w64.s4.s4")
    assert not kernels.has_kernel(wave64)
    message = f"{wave64.name} has no kernel: what lanes 32 to 63 hold of its factors is not documented"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        kernels.kernel_of(wave64)
    with pytest.raises(ValueError, match=r"^vdpbf16ps is no AMD instruction: it runs on x86-avx512$"):
        kernels.kernel_of(golden.instruction("x86-avx512", "vdpbf16ps"))


def test_sparse_instructions_have_no_kernel() -> None:
    """A dense kernel in the place of one would compare other products."""
    for i in golden.sparse_instructions("gfx942") + golden.sparse_instructions("gfx1201"):
        assert not kernels.has_kernel(i)
        with pytest.raises(ValueError, match=f"^{i.name} is sparse, and no kernel here holds the index register"):
            kernels.kernel_of(i)
