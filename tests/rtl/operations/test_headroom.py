"""Datapaths of AMD's operations: known results, the order of the causes of a NaN, and where a small c is dropped."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from golden import FORMATS, Cls, Implementation, Unit
from golden.arithmetic.formats import Decoded, power_of_two
from golden.operations import GTRFDPA, OCFDPA, PSFDPA, TRFDPA
from golden.operations.headroom_fdpa import HeadroomFDPA
from golden.units.unit import ENCODINGS
from rtl import unit_datapath
from tests.rtl.simulate import outputs, packed

RHO = {"fp32": ("RNE-FP32", -126), "fp16": ("RNE-FP16", -14), "bf16": ("RNE-FP32-RZ-BF16", -126)}
"""Conversion and e_zero, by the format of d."""

NANS = {"fp32": (0xFFC0_0A3D, 0xFFC0_0000), "fp16": (0xFE3D, 0xFE00), "bf16": (0xFFFD, 0xFFC0)}
"""The NaN of a NaN factor and that of an invalid product, by the format of d."""

Row = tuple[list[int], list[int], int]


def rdna3(factor: str, d: str, **keys: Any) -> OCFDPA:
    rho, e_zero = RHO[d]
    fixed: dict[str, Any] = {"a": factor, "b": factor, "c": d, "L": 2, "F": 26, "h": 2, "rho": rho, "e_zero": e_zero}
    return OCFDPA(**fixed, flush_inputs=True, flush_results=d != "fp16", **keys)


def rdna4(factor: str, d: str, L: int = 2, **keys: Any) -> PSFDPA:
    rho, e_zero = RHO[d]
    fixed: dict[str, Any] = {"a": factor, "b": factor, "c": d, "L": L, "P": 2, "F": 26, "h": 2, "rho": rho}
    return PSFDPA(**fixed, e_zero=e_zero, **keys)


def results(operation: HeadroomFDPA, rows: list[Row], encoding: str = ENCODINGS[1]) -> list[int]:
    """The datapath's result."""
    component = unit_datapath(Unit(name="u", operation=operation, implementation=Implementation(encoding=encoding)))
    inputs = [{"a": packed(a, operation.a.width), "b": packed(b, operation.b.width), "c": c} for a, b, c in rows]
    return outputs(component, inputs, lambda get: get(component.d))


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_known_results_of_both_rules(encoding: str) -> None:
    one, minus_one = 0x3C00, 0xBC00
    rows: list[Row] = [([one, one], [one, one], 0xC000_0000), ([minus_one, one], [0, one], 0)]
    assert results(rdna3("fp16", "fp32"), rows, encoding) == [0x3400_0000, 0x3F7F_FFFF]
    assert results(rdna4("fp16", "fp32"), rows, encoding) == [0, 0x3F80_0000]


@pytest.mark.slow
@pytest.mark.parametrize("d", ["fp32", "fp16", "bf16"])
@pytest.mark.parametrize("factor", ["fp16", "bf16"])
@pytest.mark.parametrize("made", [rdna3, rdna4])
def test_nan_is_that_of_the_first_cause(made: Any, factor: str, d: str) -> None:
    x, of_d = FORMATS[factor], FORMATS[d]
    one, inf, nan = x.encode(1), x.infinity or 0, (x.infinity or 0) + 1
    c_inf, sign = of_d.infinity or 0, of_d.negative_zero
    signalling = sign | c_inf | 5
    of_factor, of_invalid = NANS[d]
    quieted = signalling | 1 << (of_d.man_bits - 1)
    minus = x.negative_zero
    cases: list[tuple[Row, int]] = [
        (([nan, one], [one, one], signalling), of_factor),
        (([inf, nan], [0, one], signalling), of_factor),  # a NaN factor behind an invalid product
        (([inf, one], [0, one], signalling), of_invalid),
        (([inf, inf | minus], [one, one], signalling), of_invalid),
        (([inf, one], [one, one], signalling), quieted),
        (([one, one], [one, one], signalling), quieted),
        (([inf, one], [one, one], c_inf | sign), of_invalid),
        (([inf, one], [one, one], c_inf), c_inf),
        (([one, one], [one, one], c_inf | sign), c_inf | sign),
    ]
    if factor == "bf16":  # a flushed subnormal times infinity is 0·∞, one that is kept an infinity
        cases.append((([inf, one], [1, one], 0), of_invalid if made is rdna3 else c_inf))
    assert results(made(factor, d), [row for row, _ in cases]) == [expected for _, expected in cases]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_c_below_the_grid_counts_as_zero_in_ps_fdpa(encoding: str) -> None:
    """A product of 1 makes e_max 2, and the grid 2**−24: a negative c below it is dropped, one at it counts."""
    one = 0x3C00
    below, at = 0xB380_0000 - 0x80_0000, 0xB380_0000  # −2**−25, −2**−24
    rows: list[Row] = [([one, 0], [one, 0], c) for c in (below, below + 0x7F_FFFF, at, at + 1)]
    assert results(rdna4("fp16", "fp32"), rows, encoding) == [0x3F80_0000, 0x3F80_0000, 0x3F7F_FFFF, 0x3F7F_FFFE]


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


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_infinite_or_nan_c_is_never_dropped(encoding: str) -> None:
    made = GTRFDPA(a="e5m2fnuz", b="e5m2fnuz", c="fp32", L=2, F=6, F2=31)  # type: ignore[arg-type]
    largest = made.a.max_finite
    component = unit_datapath(Unit(name="u", operation=made, implementation=Implementation(encoding=encoding)))
    rows = [{"a": largest, "b": largest, "c": code} for code in (0x7F80_0000, 0xFF80_0000, 0x7FC0_0001, 0xFF80_0001)]
    results = outputs(component, rows, lambda get: get(component.d))
    assert results[:2] == [0x7F80_0000, 0xFF80_0000]
    assert [FP32.decode(d).cls for d in results[2:]] == [Cls.NAN] * 2
