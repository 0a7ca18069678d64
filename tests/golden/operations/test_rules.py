"""Rules of numerics.md, section 5, that random operands seldom meet: a row each, worked out by hand and held to the twin."""

from fractions import Fraction

import pytest

import golden
from golden.arithmetic.formats import E4M3, FP32
from golden.operations import STFDPA
from tests.golden.directed import exact_code, products
from tests.golden.inputs import Operands
from tests.golden.rows import reference, unit
from tests.twin import twin
from tests.twin.twin_numbers import two_to

NVFP4 = "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32"


def result(model: golden.Unit | golden.Instruction, row: Operands) -> int:
    """d, the same by the reference and by the twin."""
    code = reference(model, [row])[0]
    assert code == twin.dot(model.operation, *row)
    return code


def test_gst_group_whose_products_cancel_keeps_its_exponent() -> None:
    """1 − 1 under scales worth 2^40 cuts the 2^0 beside it to nothing, F = 35; a group of zeros under them does not."""
    instruction = golden.instruction("sm_120", f"{NVFP4}.ue8m0")
    row = products(instruction, {0: two_to(40), 1: -two_to(40), 16: Fraction(1)})
    assert result(instruction, row) == 0
    zeros = row._replace(a=[0, 0, *row.a[2:]])
    assert result(instruction, zeros) == exact_code(instruction.d, Fraction(1))


def test_gst_group_under_a_zero_scale_has_exponent_e_zero() -> None:
    """Its other scale, 2^8, would move e_max and cut a product worth 2^−30 beside c = 1."""
    instruction = golden.instruction("sm_120", f"{NVFP4}.ue4m3")
    scaled = products(instruction, {0: two_to(8)})
    row = scaled._replace(scale_a=[0, 0, 0, 0], c=exact_code(instruction.c, two_to(-35)))
    assert result(instruction, row) == exact_code(instruction.d, two_to(-35))


@pytest.mark.parametrize("side", ["scale_a", "scale_b"])
def test_gst_infinite_product_under_a_zero_scale_is_nan(side: str) -> None:
    """0·∞, which a unit with infinities among its operands can meet."""
    operation = golden.instruction("sm_120", f"{NVFP4}.ue4m3").operation.changed(a="e5m2", b="e5m2")
    one = exact_code(operation.a, Fraction(1))
    scale = exact_code(operation.scale_format, Fraction(1))  # type: ignore[arg-type]
    infinite = [0x7C, *[one] * 63]
    row = Operands(infinite, [one] * 64, 0, [scale] * 4, [scale] * 4)
    assert result(unit(operation), row) == 0x7F80_0000

    def scaled(*scales: int) -> Operands:
        return row._replace(scale_a=list(scales)) if side == "scale_a" else row._replace(scale_b=list(scales))

    assert result(unit(operation), scaled(0, scale, scale, scale)) == 0x7FFF_FFFF
    assert result(unit(operation), scaled(scale, 0, scale, scale)) == 0x7F80_0000


@pytest.mark.parametrize("kind", ["bf16", "xf32"])
def test_tr_sum_is_normalised_no_lower_than_e_min(kind: str) -> None:
    """2^−150 + 2^−158: at exponent −126 the second is below 31 fraction bits, and the remaining tie goes to zero."""
    name = {"bf16": "v_mfma_f32_16x16x16_bf16", "xf32": "v_mfma_f32_16x16x8_xf32"}[kind]
    instruction = golden.instruction("gfx942", name)
    assert result(instruction, products(instruction, {0: two_to(-150), 1: two_to(-158)})) == 0
    assert result(instruction, products(instruction, {0: two_to(-150), 1: two_to(-157)})) == 1


def test_gtr_drops_a_c_more_than_F_plus_1_below() -> None:
    """−2^26 − 4 is a tie of fp32. At E = 26 RD makes −4 of c = −2^1, past the tie; c = −2^0 counts as 0."""
    instruction = golden.instruction("gfx942", "v_mfma_f32_32x32x16_bf8_bf8")
    for c, expected in ((-two_to(1), -two_to(26) - 8), (-two_to(0), -two_to(26))):
        row = products(instruction, {0: -two_to(26), 2: -two_to(2)}, c)
        assert instruction.d.value(result(instruction, row)) == expected


def test_st_scales_of_later_blocks_belong_to_later_products() -> None:
    """Two blocks in one step, the second scaled by 2^3."""
    operation = STFDPA(a=E4M3, b=E4M3, c=FP32, L=4, K_block=2, F=25, rho="RZ-FP32", e_zero=-133)
    one = exact_code(operation.a, Fraction(1))
    row = Operands([one] * 4, [one] * 4, 0, [127, 130], [127, 127])
    assert operation.d.value(result(unit(operation), row)) == 2 + 16


def test_ftz_flush_keeps_the_sign() -> None:
    """2^−126 − 1.5·2^−126 is flushed to −0, and so is a product of −2^−140, which −0 then leaves as it is."""
    instruction = golden.instruction("gfx90a", "v_mfma_f32_4x4x4bf16_1k")
    assert result(instruction, products(instruction, {0: two_to(-126)}, -3 * two_to(-127))) == 0x8000_0000
    row = products(instruction, dict.fromkeys(range(4), -two_to(-140)))
    assert result(instruction, row._replace(c=0x8000_0000)) == 0x8000_0000
