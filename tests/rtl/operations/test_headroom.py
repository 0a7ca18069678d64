"""Datapaths of RDNA's operations: known results of both, the order of the causes of a NaN, a c below the grid."""

from typing import Any

import pytest

from golden import FORMATS, Implementation, Unit
from golden.operations import OCFDPA, PSFDPA
from golden.operations.headroom_fdpa import HeadroomFDPA
from golden.units.unit import ENCODINGS
from rtl import unit_datapath
from tests.rtl.simulate import outputs

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
    packed = [{"a": joined(a, operation.a.width), "b": joined(b, operation.b.width), "c": c} for a, b, c in rows]
    return outputs(component, packed, lambda get: get(component.d))


def joined(codes: list[int], width: int) -> int:
    return sum(code << (k * width) for k, code in enumerate(codes))


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
