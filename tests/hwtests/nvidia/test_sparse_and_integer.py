"""Instructions outside the catalogue: they compile to what they claim, and their models are right about selections and
integers."""

import re

import numpy as np
import pytest

from golden.native.nvrtc import compile_cubin
from hwtests.nvidia.disassembly import expected_outside, matrix_instructions, sass
from hwtests.nvidia.sparse_and_integer import (
    INTEGER,
    ONE_OF_TWO,
    PAIRS_OF_FOUR,
    SPARSE,
    SPARSE_FP8,
    SPARSE_WGMMA,
    MatrixInstruction,
    by_name,
    integer_dot,
    kernel_of_instruction,
    metadata_word,
    selected,
)
from tests.hwtests.compilers import needs_cuda_compiler

ALL = SPARSE + SPARSE_FP8 + SPARSE_WGMMA + INTEGER


@needs_cuda_compiler
@pytest.mark.parametrize("instruction", ALL, ids=lambda e: f"{e.arch}-{e.name}")
def test_kernel_holds_what_it_must(instruction: MatrixInstruction) -> None:
    kernel = kernel_of_instruction(instruction)
    assert matrix_instructions(compile_cubin(kernel.source, kernel.target)) == expected_outside(instruction)


@pytest.mark.parametrize(
    ("arch", "name", "held"),
    [
        ("sm_90", "mma.sp.m16n8k32.f32.f16.f16.f32", {"HMMA.SP.16832.F32": 1}),
        ("sm_90", "mma.sp.m16n8k16.f32.tf32.tf32.f32", {"HMMA.SP.16816.F32.TF32": 1}),
        ("sm_89", "mma.sp.m16n8k64.f32.e4m3.e5m2.f32", {"QMMA.SP.16864.F32.E4M3.E5M2": 1}),
        ("sm_90", "mma.sp.m16n8k64.f32.e4m3.e5m2.f32", {"HMMA.SP.16832.F32": 2}),
        ("sm_90", "wgmma.sp.m64n8k32.f32.bf16.bf16", {"HGMMA.SP.64x8x32.F32.BF16": 1}),
        ("sm_90", "wgmma.sp.m64n8k64.f16.e4m3.e5m2", {"QGMMA.SP.64x8x64.F16.E4M3.E5M2": 1}),
        ("sm_90", "mma.satfinite.m16n8k32.s32.u8.u8.s32", {"IMMA.16832.U8.U8.SAT": 1}),
    ],
)
def test_machine_code_that_is_expected(arch: str, name: str, held: dict[str, int]) -> None:
    assert expected_outside(by_name(arch, name)) == held


@needs_cuda_compiler
def test_sparse_fp8_on_hopper_starts_from_zero() -> None:
    """Two HMMA.SP, the first from zero, the second from the first's result: C is added last."""
    kernel = kernel_of_instruction(by_name("sm_90", "mma.sp.m16n8k64.f32.e4m3.e4m3.f32"))
    words = [
        [word.removesuffix(".reuse") for word in re.split(r",\s*", operands)]
        for mnemonic, operands in sass(compile_cubin(kernel.source, kernel.target))
        if mnemonic.startswith("HMMA.SP")
    ]
    assert [operands[3] for operands in words] == ["RZ", words[0][0]]


def test_nibbles_are_the_positions_in_pairs_of_bits() -> None:
    """PTX ISA 9.1, section 9.7.14.6.1: two 2-bit indices, the first in the low bits; tf32 uses 0b0100 and 0b1110 alone."""
    assert {nibble: (nibble & 3, nibble >> 2) for nibble in PAIRS_OF_FOUR} == PAIRS_OF_FOUR
    assert sorted(PAIRS_OF_FOUR) == [0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110]
    assert sorted(ONE_OF_TWO) == [0b0100, 0b1110]
    assert metadata_word(0xE) == 0xEEEEEEEE


def test_selected_elements() -> None:
    b = np.arange(16, dtype=np.uint8).reshape(2, 8)
    assert selected(b, (1, 3)).tolist() == [[1, 3, 5, 7], [9, 11, 13, 15]]
    assert selected(b, (1,)).tolist() == [[1, 3, 5, 7], [9, 11, 13, 15]]
    assert selected(b, (0,)).tolist() == [[0, 2, 4, 6], [8, 10, 12, 14]]


@pytest.mark.parametrize("saturate", [False, True])
@pytest.mark.parametrize(("a_type", "b_type"), [("s8", "s8"), ("u8", "u8"), ("s8", "u8")])
def test_integer_dot_equals_python_integers(a_type: str, b_type: str, saturate: bool) -> None:
    instruction = MatrixInstruction(arch="sm_90", shape=(16, 8, 32), types=("s32", a_type, b_type, "s32"), saturate=saturate)
    rng = np.random.default_rng(1)
    a, b = (rng.integers(0, 256, (500, 32)).astype(np.uint8) for _ in range(2))
    c = rng.integers(0, 1 << 32, 500).astype(np.uint32)
    c[::2] = np.where(c[::2] >> 31, 0x80000000, 0x7FFFFFFF) ^ (c[::2] & 0xFFFF)
    got = integer_dot(instruction, a, b, c).tolist()
    for row in range(500):
        values = [
            [x - 256 if kind == "s8" and x > 127 else x for x in codes[row].tolist()]
            for kind, codes in ((a_type, a), (b_type, b))
        ]
        start = int(c[row]) - (1 << 32) * (int(c[row]) >> 31)
        total = start + sum(x * y for x, y in zip(*values, strict=True))
        if saturate:
            total = max(-(1 << 31), min((1 << 31) - 1, total))
        assert got[row] == total % (1 << 32)
