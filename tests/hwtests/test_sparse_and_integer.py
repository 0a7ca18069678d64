"""Instructions outside the catalogue: they compile to what they claim, and their models are right about selections and
integers. What sparse hardware computes is unmeasured: the probe is tested on hypotheses that it must tell apart."""

import numpy as np
import pytest

from golden.stimulus import Tiles
from hwtests.nvidia.disassembly import matrix_instructions
from hwtests.nvidia.nvrtc import compile_cubin
from hwtests.nvidia.sparse_and_integer import (
    INTEGER,
    ONE_OF_TWO,
    PAIRS_OF_FOUR,
    SPARSE,
    SPARSE_FP8,
    SPARSE_WGMMA,
    MatrixInstruction,
    integer_dot,
    kernel_of_instruction,
    metadata_word,
    selected,
)
from hwtests.sparse_and_integer_probe import (
    Hypothesis,
    Run,
    dense,
    expected,
    hypotheses,
    probe,
    probe_integer,
    random_operands,
)
from tests.hwtests.compilers import needs_cuda_compiler

ALL = SPARSE + SPARSE_FP8 + SPARSE_WGMMA + INTEGER


def claimed(instruction: MatrixInstruction) -> str:
    shape = "".join(map(str, instruction.shape))
    d, a, b, *_ = (word.upper() for word in instruction.types)
    if instruction in SPARSE_WGMMA:
        shape = "x".join(map(str, instruction.shape))
        if a in ("E4M3", "E5M2"):
            return f"QGMMA.SP.{shape}.{d}.{a}.{b}"
        return f"HGMMA.SP.{shape}.{d}" + ("" if a == "F16" else f".{a}")
    if instruction in INTEGER:
        return f"IMMA.{shape}.{a}.{b}" + (".SAT" if instruction.saturate else "")
    if a in ("E4M3", "E5M2"):
        return f"QMMA.SP.{shape}.{d}.{a}.{b}"
    return f"HMMA.SP.{shape}.{d}" + ("" if a == "F16" else f".{a}")


@needs_cuda_compiler
@pytest.mark.parametrize("instruction", ALL, ids=lambda e: e.name)
def test_kernel_holds_what_it_claims(instruction: MatrixInstruction) -> None:
    kernel = kernel_of_instruction(instruction)
    assert dict(matrix_instructions(compile_cubin(kernel.source, kernel.target))) == {claimed(instruction): 1}


@needs_cuda_compiler
def test_sparse_fp8_on_hopper_is_fp16_work_too() -> None:
    kernel = kernel_of_instruction(
        MatrixInstruction(arch="sm_90", shape=(16, 8, 64), types=("f32", "e4m3", "e4m3", "f32"), sparse=True)
    )
    assert dict(matrix_instructions(compile_cubin(kernel.source, kernel.target))) == {"HMMA.SP.16832.F32": 2}


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


@pytest.mark.parametrize("instruction", SPARSE + SPARSE_WGMMA, ids=lambda e: e.name)
def test_dense_counterpart_has_the_stored_k(instruction: MatrixInstruction) -> None:
    assert dense(instruction).k == instruction.stored_k
    operands = random_operands(instruction, 6, 0)
    assert operands.a.shape == (6, instruction.shape[0], instruction.stored_k)
    assert operands.b.shape == (6, 8, instruction.shape[2])


TF32 = SPARSE[-2]
"""mma.sp.m16n8k8: the smallest, for the slow engine."""


@pytest.mark.parametrize("truth", [Hypothesis(4, False), Hypothesis(2, False), Hypothesis(4, True)], ids=str)
def test_probe_tells_hypotheses_apart(truth: Hypothesis) -> None:
    positions = {metadata_word(nibble): chosen for nibble, chosen in TF32.selections.items()}

    def run(instruction: MatrixInstruction, tiles: Tiles, metadata: int) -> np.ndarray:
        return expected(instruction, truth, tiles, positions[metadata])

    assert truth in set(hypotheses(TF32))
    found = probe(TF32, run, tiles=6)
    assert found["compared"] == 2 * 6 * 128
    assert str(truth) in found["explained_by"]
    assert str(Hypothesis(1, False)) not in found["explained_by"]
    assert len(found["explained_by"]) < len(found["wrong"])


@pytest.mark.parametrize("instruction", [INTEGER[0], INTEGER[1]], ids=["wrap", "saturate"])
def test_probe_tells_wrapping_from_saturating(instruction: MatrixInstruction) -> None:
    other = INTEGER[1] if instruction is INTEGER[0] else INTEGER[0]

    def run_as(truth: MatrixInstruction) -> Run:
        def run(_: MatrixInstruction, tiles: Tiles, metadata: int) -> np.ndarray:
            a, b, *_rest = tiles.rows(np)
            return integer_dot(truth, np.ascontiguousarray(a), np.ascontiguousarray(b), tiles.c)

        return run

    assert probe_integer(instruction, run_as(instruction), tiles=6)["explained_by"]
    assert not probe_integer(instruction, run_as(other), tiles=6)["explained_by"]
