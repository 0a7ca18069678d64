"""Random tiles: repeatable whatever the batches, all six classes as they are meant, every bit of a code used."""

import numpy as np
import pytest

import golden
from golden.formats import Cls
from golden.stimulus import Tiles
from golden.stimulus.draws import CounterDraws
from hwtests.conform.inputs import CLASSES, random_tiles
from tests.golden.device_arrays import DeviceArray, DeviceModule

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


@each
def test_arrays_of_a_device_give_the_same_tiles(instruction: golden.Instruction) -> None:
    """Every array is made and changed by the module that was passed in: none meets NumPy on its way."""
    on_device = random_tiles(instruction, DeviceModule(), 7, 1, 8)
    for array, expected in zip(on_device.arrays(), random_tiles(instruction, np, 7, 1, 8).arrays(), strict=True):
        assert isinstance(array, DeviceArray)
        assert array.host.dtype == expected.dtype
        np.testing.assert_array_equal(array.host, expected)


def of_class(tiles: Tiles, class_name: str) -> Tiles:
    """The tiles of one class, of tiles from 0 on."""
    start = CLASSES.index(class_name)
    return Tiles(*(None if x is None else x[start :: len(CLASSES)] for x in vars(tiles).values()))


def leads(operand: golden.Format, codes: np.ndarray) -> np.ndarray:
    """Exponents of the leading bits; the codes are finite and not zero."""
    parts = [operand.decode(code) for code in codes.ravel().tolist()]
    return np.reshape([x.sig.bit_length() - 1 + x.exp - operand.man_bits for x in parts], codes.shape)


def test_products_of_a_normal_tile_have_the_exponents_of_one_row() -> None:
    """For every k the product's leading exponents add up alike in all elements of D, within a window of at most 31."""
    fp16 = INSTRUCTIONS[0]
    tiles = of_class(random_tiles(fp16, np, 3, 0, 240), "normal")
    product = leads(fp16.a, tiles.a)[:, :, None, :] + leads(fp16.b, tiles.b)[:, None, :, :]
    assert (product == product[:, :1, :1, :]).all()
    spreads = np.ptp(product[:, 0, 0, :], axis=1)
    assert 15 < spreads.max() <= 31
    assert spreads.min() == 0


def test_signs_of_a_tile_are_all_alike_or_mixed() -> None:
    fp16 = INSTRUCTIONS[0]
    tiles = of_class(random_tiles(fp16, np, 3, 0, 600), "normal")
    negative = ((tiles.a >> 15)[:, :, None, :] ^ (tiles.b >> 15)[:, None, :, :]) == 1
    alike = (negative.all(axis=3) | ~negative.any(axis=3)).all(axis=(1, 2))
    assert 0.35 < alike.mean() < 0.65
    assert {bool(tile[0, 0, 0]) for tile in negative[alike]} == {False, True}
    assert all(len(np.unique(tile.reshape(-1, tile.shape[-1]), axis=0)) > 32 for tile in negative[~alike])


def test_specials_and_tiny_hold_every_kind_of_code() -> None:
    fp16 = INSTRUCTIONS[0]
    tiles = random_tiles(fp16, np, 3, 0, 600)

    def kinds(class_name: str) -> set[Cls]:
        chosen = of_class(tiles, class_name)
        return {fp16.a.decode(code).cls for code in chosen.a.ravel().tolist()}

    assert kinds("specials") == set(Cls)
    assert Cls.SUBNORMAL in kinds("tiny")
    assert kinds("huge") <= {Cls.SUBNORMAL, Cls.NORMAL}


def test_huge_reaches_the_largest_exponents() -> None:
    fp16 = INSTRUCTIONS[0]
    huge = of_class(random_tiles(fp16, np, 3, 0, 600), "huge")
    product = leads(fp16.a, huge.a)[:, 0, :] + leads(fp16.b, huge.b)[:, 0, :]
    assert product.max() == 2 * fp16.a.e_max
    assert (product.max(axis=1) >= 2 * fp16.a.e_max - 3 - 31).all()


def test_cancel_cancels_in_every_element() -> None:
    """Nearly every product of an element has its negative beside it, but for a changed bit here and there."""
    fp16 = INSTRUCTIONS[0]
    cancel = of_class(random_tiles(fp16, np, 3, 0, 60), "cancel")
    a, b = (codes.view(np.float16).astype(np.float64) for codes in (cancel.a, cancel.b))
    value = a[:, :, None, :] * b[:, None, :, :]
    ordered = np.sort(value, axis=3)
    cancels = (ordered == -ordered[..., ::-1]).all(axis=3)
    assert 0.7 < cancels.mean() < 1
    assert (cancels.mean(axis=(1, 2)) == 1).any()


def test_every_bit_of_a_code_takes_both_values() -> None:
    for instruction in INSTRUCTIONS:
        tiles = random_tiles(instruction, np, 11, 0, 600)
        for array, operand in ((tiles.a, instruction.a), (tiles.b, instruction.b), (tiles.c, instruction.c)):
            codes = array.astype(np.uint64).ravel()
            assert int(np.bitwise_or.reduce(codes)) == operand.codes - 1
            assert int(np.bitwise_and.reduce(codes)) == 0


def test_words_are_uniform_and_of_one_call_unlike_the_next() -> None:
    draws = CounterDraws(np, 5, np.arange(1000, dtype=np.uint64))
    first, second = draws.words((1000, 64)), draws.words((1000, 64))
    for bit in range(64):
        share = ((first >> np.uint64(bit)) & np.uint64(1)).mean()
        assert 0.49 < share < 0.51
    same_bits = 64 - np.bitwise_count(first ^ second).mean()
    assert 31.5 < same_bits < 32.5
