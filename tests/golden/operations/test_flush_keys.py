"""The keys `flush_inputs` and `flush_results`, case by case (numerics.md, section 13)."""

from typing import Any

import numpy as np
import pytest

from golden.arithmetic.formats import BF16, FP16, FP32
from golden.operations import EFDPA, FMA, GSTFDPA, TFDPA, TRFDPA
from tests.golden.operations.one_step import MINUS, ONE, of_values, t_fdpa
from tests.golden.rows import unit

GST_FDPA: dict[str, Any] = {
    "a": FP16, "b": FP16, "c": FP32, "L": 1, "G": 1, "K_block": 1, "F": 60, "rho": "RNE-FP32", "e_zero": -139,
    "scale": "ue4m3",
}  # fmt: skip


SUBNORMAL, NEGATIVE_SUBNORMAL, INFINITY = 1, FP16.negative_zero | 1, FP16.signed_infinity(0)


@pytest.mark.parametrize(
    "make",
    [
        lambda **keys: t_fdpa(L=1, **keys),
        lambda **keys: EFDPA(a=FP16, b=FP16, c=FP32, L=1, **keys),
        lambda **keys: TRFDPA(a=FP16, b=FP16, c=FP32, L=1, F=24, F2=31, **keys),
        lambda **keys: FMA(a=FP16, b=FP16, c=FP16, **keys),
        lambda **keys: GSTFDPA(**GST_FDPA | keys),
    ],
)  # fmt: skip
def test_flushed_inputs_are_zeros_of_their_sign(make: Any) -> None:
    keeps, flushes = make(), make(flush_inputs=True)
    one_scale = [0x38] * keeps.scales_per_step
    one = keeps.d.encode(1)
    for a, b in ((SUBNORMAL, ONE), (ONE, NEGATIVE_SUBNORMAL)):
        assert keeps.step([a], [b], 0, one_scale, one_scale) != 0
        assert flushes.step([a], [b], one, one_scale, one_scale) == one
        assert flushes.step([a], [b], 0, one_scale, one_scale) == 0
    assert flushes.step([0], [ONE], 1, one_scale, one_scale) == 0  # c
    # zero times infinity
    assert keeps.d.value(flushes.step([SUBNORMAL], [INFINITY], 0, one_scale, one_scale)) is None
    assert flushes.step([SUBNORMAL], [INFINITY], 0, one_scale, one_scale) not in (keeps.d.infinity, 0)
    assert keeps.step([SUBNORMAL], [INFINITY], 0, one_scale, one_scale) == keeps.d.infinity


def test_scales_are_never_flushed() -> None:
    gst = GSTFDPA(**GST_FDPA | {"flush_inputs": True})
    assert gst.step([ONE], [ONE], 0, [1], [0x38]) == FP32.encode(2.0**-9)


def test_flushed_zero_of_fma_keeps_its_sign() -> None:
    fma = FMA(a=FP16, b=FP16, c=FP16, flush_inputs=True)
    assert fma.step([NEGATIVE_SUBNORMAL], [ONE], NEGATIVE_SUBNORMAL) == FP16.negative_zero
    assert fma.step([NEGATIVE_SUBNORMAL], [ONE], SUBNORMAL) == 0


def test_inputs_are_flushed_in_every_step_of_a_chain() -> None:
    """2^−24 from the first step is subnormal, and nothing to the second."""
    fma = unit(FMA(a=FP16, b=FP16, c=FP16, flush_inputs=True))
    small = FP16.encode(2.0**-12)
    a = np.array([[small, 0], [small, small]], np.uint16)
    c = np.zeros(2, np.uint16)
    assert fma.dot(a, a, c, engine="reference").tolist() == [0, 1]


@pytest.mark.parametrize(
    ("mode", "above_half", "quarter"),
    [("RNE", 0x0400, 0), ("RNA", 0x0400, 0), ("RZ", 0, 0), ("RU", 0x0400, 0x0400), ("RO", 0, 0)],
)
def test_what_rounds_up_to_a_normal_number_is_not_flushed(mode: str, above_half: int, quarter: int) -> None:
    """Just below 2^−14: less an eighth of the subnormals' unit, 2^−24, is nearer to 2^−14 on a grid of 2^−25, which 11
    significant bits have there; less half of it is on that grid, and less three eighths nearer to it."""
    fma = FMA(a=FP16, b=FP16, c=FP16, rho=f"{mode}-FP16", flush_results=True)
    c = 2.0**-14
    assert of_values(fma, [(-(2.0**-12), 2.0**-15)], c) == above_half
    assert of_values(fma, [(-(2.0**-12), 2.0**-13)], c) == 0
    assert of_values(fma, [(-(2.0**-12), 1.5 * 2.0**-14)], c) == quarter


def test_flushed_results() -> None:
    subnormal = [(2.0**-24, 2.0**-110)]
    for sign, zero in ((1, 0), (-1, MINUS)):
        pair = [(sign * subnormal[0][0], subnormal[0][1])]
        keys: dict[str, Any] = {"a": BF16, "b": BF16, "c": FP32, "L": 1, "flush_results": True}
        assert of_values(EFDPA(**keys), pair, 0) == zero
        assert of_values(TRFDPA(**keys, F=24, F2=31), pair, 0) == zero
        assert of_values(FMA(a=FP32, b=FP32, c=FP32, flush_results=True), pair, 0) == zero
        assert of_values(TFDPA(**keys, F=24, rho="RNE-FP32", e_zero=-252), pair, 0) == 0
        assert (
            of_values(TFDPA(**keys, F=24, rho="RNE-FP32", e_zero=-252), [(sign * 2.0**-63, 2.0**-63)], 0)
            == (sign < 0) * MINUS | 0x00800000
        )
