"""Where GTR-FDPA drops a small c, and that TR-FDPA never does (numerics of CDNA3; golden: `GTRFDPA.drops_c`)."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from golden import FORMATS, Cls, Implementation, Unit
from golden.arithmetic.formats import Decoded, power_of_two
from golden.operations import GTRFDPA, TRFDPA
from golden.units.unit import ENCODINGS
from rtl import unit_datapath
from tests.rtl.simulate import outputs

pytestmark = pytest.mark.slow

FP32 = FORMATS["fp32"]


def cut_c(c: Decoded, E: int, F: int, dropped: bool) -> Fraction:
    """c in multiples of 2**(E − F), rounded down, unless it counts as 0."""
    exact = (-c.sig if c.sign else c.sig) * power_of_two(c.exp - FP32.man_bits)
    unit = power_of_two(E - F)
    return Fraction(0) if dropped else exact // unit * unit


def fp32_codes(exp: int) -> list[int]:
    """The smallest and the largest code of an exponent and one between, of both signs; −126 stands for subnormals."""
    stored_exp = exp + FP32.bias if exp > FP32.e_min else 0
    mantissas = [0 if stored_exp else 1, 0x400000, 0x7FFFFF]
    return [(sign << 31) | (stored_exp << FP32.man_bits) | man for man in mantissas for sign in (0, 1)]


@pytest.mark.parametrize(
    ("a", "b", "x", "y", "E"),
    [
        ("e4m3fnuz", "e5m2fnuz", 0x40, 0x40, 0),
        ("e4m3fnuz", "e4m3fnuz", 0x7F, 0x7F, 14),  # 240 · 240: a significand of 1.875² is not renormalised
        ("e5m2fnuz", "e5m2fnuz", 0x01, 0x01, -30),  # subnormal times subnormal
        ("bf16", "bf16", 0x3F80, 0x0D00, -101),  # F = 24: a subnormal c stands at the threshold itself
    ],
)
@pytest.mark.parametrize("F", [24, pytest.param(13, marks=pytest.mark.long)])
@pytest.mark.parametrize("operation", [GTRFDPA, pytest.param(TRFDPA, marks=pytest.mark.long)])
def test_c_counts_down_to_its_threshold(operation: Any, F: int, a: str, b: str, x: int, y: int, E: int) -> None:
    """Two products at E cancel, one even and one odd or both even, so the result is what is left of c there.

    A negative c that counts is rounded down to −2**(E − F) at least, however small; a dropped one leaves +0.
    """
    made = operation(a=a, b=b, c="fp32", L=3, F=F, F2=31)
    assert made.a.decode(x).exp + made.b.decode(y).exp == E
    threshold = E - F - 1
    codes = [code for exp in range(max(FP32.e_min, threshold - 3), threshold + 4) for code in fp32_codes(exp)]
    decoded = [FP32.decode(code) for code in codes]
    drops = [operation is GTRFDPA and c.exp < threshold for c in decoded]
    cuts = [cut_c(c, E, F, dropped) for c, dropped in zip(decoded, drops, strict=True)]
    expected = [int(np.float32(float(cut)).view(np.uint32)) for cut in cuts]
    negated = x | 1 << (made.a.width - 1)
    component = unit_datapath(Unit(name="u", operation=made))
    both = ([x, negated, 0], [x, 0, negated])
    for a_codes in both:
        assert [made.step(a_codes, [y] * 3, code) for code in codes] == expected
    b_port = packed([y] * 3, made.b.width)
    rows = [{"a": packed(a_codes, made.a.width), "b": b_port, "c": code} for a_codes in both for code in codes]
    assert outputs(component, rows, lambda get: get(component.d)) == 2 * expected
    assert any(drops) == (operation is GTRFDPA and threshold > FP32.e_min)


def packed(codes: list[int], width: int) -> int:
    return sum(code << (k * width) for k, code in enumerate(codes))


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_infinite_or_nan_c_is_never_dropped(encoding: str) -> None:
    made = GTRFDPA(a="e5m2fnuz", b="e5m2fnuz", c="fp32", L=2, F=6, F2=31)  # type: ignore[arg-type]
    largest = made.a.max_finite
    component = unit_datapath(Unit(name="u", operation=made, implementation=Implementation(encoding=encoding)))
    rows = [{"a": largest, "b": largest, "c": code} for code in (0x7F80_0000, 0xFF80_0000, 0x7FC0_0001, 0xFF80_0001)]
    results = outputs(component, rows, lambda get: get(component.d))
    assert results[:2] == [0x7F80_0000, 0xFF80_0000]
    assert [FP32.decode(d).cls for d in results[2:]] == [Cls.NAN] * 2
