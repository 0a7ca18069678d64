"""Random tiles: repeatable whatever the batches, all six classes as they are meant, every bit of a code used."""

import numpy as np
import pytest

import golden
from golden.formats import Cls
from hwtests.conform.inputs import CLASSES, Source, classes_of, random_tiles

INSTRUCTIONS = [
    golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32"),
    golden.instruction("sm_90", "mma.m16n8k4.f64.f64.f64.f64"),
    golden.instruction("sm_90", "mma.m16n8k8.f32.tf32.tf32.f32"),
    golden.instruction("sm_90", "wgmma.m64n16k32.f16.e4m3.e5m2"),
    golden.instruction("sm_120", "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e3m2.e2m3.f32.ue8m0"),
    golden.instruction("sm_120", "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3"),
    golden.instruction("gfx942", "v_mfma_f32_16x16x32_fp8_bf8"),
    golden.instruction("gfx908", "v_mfma_f32_32x32x1f32"),
]
each = pytest.mark.parametrize("instruction", INSTRUCTIONS, ids=lambda i: i.name)


@each
def test_tiles_do_not_depend_on_the_batch(instruction: golden.Instruction) -> None:
    whole = random_tiles(instruction, np, 7, 0, 12)
    parts = [random_tiles(instruction, np, 7, first, 4) for first in (0, 4, 8)]
    for number, array in enumerate(whole.arrays()):
        np.testing.assert_array_equal(array, np.concatenate([part.arrays()[number] for part in parts]))


@each
def test_codes_are_operands_of_the_instruction(instruction: golden.Instruction) -> None:
    """`dot` checks dtypes, shapes and code ranges."""
    tiles = random_tiles(instruction, np, 1, 0, 6)
    rows = tiles.part(0, 1).rows(np)
    a, b, c, scale_a, scale_b = (None if x is None else x[:, :1, :1] for x in rows)
    assert instruction.dot(a, b, c, scale_a, scale_b).shape == (1, 1, 1)
    for array, operand in ((tiles.a, instruction.a), (tiles.b, instruction.b)):
        assert int(array.max()) < operand.codes


def test_another_seed_gives_other_tiles() -> None:
    first, second = (random_tiles(INSTRUCTIONS[0], np, seed, 0, 6) for seed in (1, 2))
    assert (first.a != second.a).mean() > 0.9


def decoded(instruction: golden.Instruction, class_name: str) -> list[list[int]]:
    """The classes (zero, subnormal …) of A's codes in tiles of one class."""
    tiles = random_tiles(instruction, np, 3, 0, 60)
    chosen = tiles.a[classes_of(np, 0, 60) == CLASSES.index(class_name)]
    return [[instruction.a.decode(code).cls for code in matrix.ravel().tolist()] for matrix in chosen]


def test_normal_is_normal_and_specials_are_special() -> None:
    fp16 = INSTRUCTIONS[0]
    assert {cls for matrix in decoded(fp16, "normal") for cls in matrix} == {Cls.NORMAL}
    specials = {cls for matrix in decoded(fp16, "specials") for cls in matrix}
    assert specials == set(Cls)
    assert Cls.SUBNORMAL in {cls for matrix in decoded(fp16, "tiny") for cls in matrix}


def test_huge_reaches_the_largest_exponent() -> None:
    tiles = random_tiles(INSTRUCTIONS[0], np, 3, 0, 600)
    huge = tiles.a[classes_of(np, 0, 600) == CLASSES.index("huge")]
    exponents = (huge >> 10) & 31
    assert exponents.max() == 30
    assert exponents.min() >= 30 - 5 - 7


def test_cancel_cancels_in_every_element() -> None:
    """A pair of neighbours along k that cancels does so for every row of A with every column of B."""
    tiles = random_tiles(INSTRUCTIONS[0], np, 3, 0, 60)
    cancel = np.flatnonzero(classes_of(np, 0, 60) == CLASSES.index("cancel"))
    a, b = tiles.a[cancel], tiles.b[cancel]
    pairs = (a[:, :, 1::2] == (a[:, :, 0::2] ^ 0x8000)).all(axis=1) & (b[:, :, 1::2] == b[:, :, 0::2]).all(axis=1)
    assert 0.6 < pairs.mean() < 0.9


def test_every_bit_of_a_code_takes_both_values() -> None:
    for instruction in INSTRUCTIONS:
        tiles = random_tiles(instruction, np, 11, 0, 600)
        for array, operand in ((tiles.a, instruction.a), (tiles.b, instruction.b), (tiles.c, instruction.c)):
            codes = array.astype(np.uint64).ravel()
            assert int(np.bitwise_or.reduce(codes)) == operand.codes - 1
            assert int(np.bitwise_and.reduce(codes)) == 0


def test_streams_are_uniform_and_unlike_each_other() -> None:
    source = Source(np, 5, 0, 1000)
    first, second = source.draw(1, 64), source.draw(2, 64)
    for bit in range(64):
        share = ((first >> np.uint64(bit)) & np.uint64(1)).mean()
        assert 0.49 < share < 0.51
    same_bits = 64 - np.bitwise_count(first ^ second).mean()
    assert 31.5 < same_bits < 32.5
