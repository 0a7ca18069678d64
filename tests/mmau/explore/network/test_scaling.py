"""Scaling and quantisation: by golden's own conversion, code by code, and the largest power of two that cannot overflow."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import golden
from mmau.explore.network.product_arithmetic import OPERANDS
from tests.mmau.explore.network.network_units import codes

pytestmark = pytest.mark.peer

pytest.importorskip("torch", reason="PyTorch (extra `torch`) is not installed")

from mmau.explore.network.operator import MAX_SCALE, quantised, scale_exponent, unscaled  # noqa: E402
from mmau.frameworks.pytorch import torch  # noqa: E402

FP32 = golden.FORMATS["fp32"]

FORMATS = pytest.mark.parametrize("operand", [golden.FORMATS[name] for name in OPERANDS], ids=str)


def around(operand: golden.Format, seed: int) -> Any:
    """Numbers of fp32 next to and at numbers of the format and the middles between them, and random ones."""
    rng = np.random.default_rng(seed)
    chosen = [*rng.integers(0, operand.max_finite + 1, 300).tolist(), 0, 1, 2, 3, operand.max_finite]
    values = [operand.value((one >> operand.pad_bits) << operand.pad_bits) for one in chosen]
    steps = [operand.value(((one >> operand.pad_bits) + 1) << operand.pad_bits) for one in chosen]
    middles = [(x + y) / 2 for x, y in zip(values, steps, strict=True) if x is not None and y is not None]
    exact = np.array([float(v) for v in [*values, *middles] if v is not None], np.float32)
    exact = exact[np.abs(exact) < np.finfo(np.float32).max]  # which has no neighbour above
    near = np.concatenate([exact, np.nextafter(exact, np.float32(np.inf)), np.nextafter(exact, np.float32(0))])
    wide = rng.standard_normal(300) * np.exp2(rng.integers(-149, 127, 300))
    return np.concatenate([near, -near, wide.astype(np.float32), np.array([0.0, -0.0, np.inf, -np.inf], np.float32)])


@FORMATS
def test_quantisation_is_goldens_conversion(operand: golden.Format) -> None:
    numbers = around(operand, 1)
    if operand is FP32:
        numbers = numbers[np.isfinite(numbers)]  # fp32 is taken as it is
    got = quantised(torch.from_numpy(numbers), operand, saturate=True).numpy().view(f"uint{operand.storage_bits}")
    assert got.tolist() == codes(operand, numbers).tolist()
    finite = np.isfinite(numbers)
    kept = quantised(torch.from_numpy(numbers), operand).numpy().view(got.dtype)
    assert kept[finite].tolist() == got[finite].tolist()


def test_infinities_are_the_formats_or_its_nan_unless_saturated() -> None:
    both = torch.tensor([float("inf"), -float("inf")])
    expected = {"fp16": [0x7C00, 0xFC00], "bf16": [0x7F80, 0xFF80], "e5m2": [0x7C, 0xFC], "e4m3": [0x7F, 0xFF],
                "e4m3fnuz": [0x80, 0x80], "e2m1": [0x7, 0xF], "tf32": [0x7F800000, 0xFF800000]}  # fmt: skip
    for name, wanted in expected.items():
        operand = golden.FORMATS[name]
        assert quantised(both, operand).numpy().view(f"uint{operand.storage_bits}").tolist() == wanted
        saturated = quantised(both, operand, saturate=True).numpy().view(f"uint{operand.storage_bits}").tolist()
        assert saturated == [
            operand.max_finite,
            operand.max_finite | 1 << (operand.storage_bits if operand.width > 8 else operand.width) - 1,
        ]


def test_nan_has_the_formats_code_and_no_sign() -> None:
    numbers = torch.tensor([float("nan"), -float("nan"), 1.0])
    for name in ("e4m3", "e5m2", "e4m3fnuz", "fp16", "tf32"):
        operand = golden.FORMATS[name]
        got = quantised(numbers, operand).numpy().view(f"uint{operand.storage_bits}").tolist()
        assert got == [operand.nan, operand.nan, operand.encode(1)]


def test_nan_is_refused_where_the_format_has_none() -> None:
    with pytest.raises(ValueError, match=r"^a tensor to quantise must have no NaN: e2m1 has no code for it$"):
        quantised(torch.tensor([1.0, float("nan")]), golden.FORMATS["e2m1"])


@pytest.mark.parametrize("d", ["fp32", "fp16", "bf16"])
@pytest.mark.parametrize("name", ["e4m3", "e5m2", "fp16", "e2m1"])
def test_scale_is_the_largest_that_cannot_overflow(name: str, d: str) -> None:
    operand, result = golden.FORMATS[name], golden.FORMATS[d]
    largest, most = Fraction(operand.value(operand.max_finite) or 0), Fraction(result.value(result.max_finite) or 0)
    rng = np.random.default_rng(2)
    for K in (1, 16, 17, 4096, 100_000):
        for amax in np.exp2(rng.uniform(-90, 90, 50)).astype(np.float32).tolist():
            scaled = Fraction(amax) * Fraction(2) ** scale_exponent(amax, operand, result, K)
            assert scaled <= largest
            assert K * scaled**2 <= most
            # Twice as much would not fit the operand, or leave two such operands no room in a sum.
            assert 2 * scaled > largest or 16 * K * (2 * scaled) ** 2 > most


def test_scale_of_what_has_none_is_zero() -> None:
    e4m3, bf16 = golden.FORMATS["e4m3"], golden.FORMATS["bf16"]
    assert [scale_exponent(amax, e4m3, FP32, 8) for amax in (0.0, math.inf, math.nan)] == [0, 0, 0]
    assert scale_exponent(1000.0, bf16, FP32, 8) == 0  # fp32's exponents
    assert scale_exponent(2.0**-140, e4m3, FP32, 8) == MAX_SCALE


def test_unscaled_is_rounded_once() -> None:
    fp32 = torch.tensor([1.5, -3.0, 1 + 2.0**-23]).view(torch.int32)
    assert unscaled(fp32, FP32, -3).tolist() == [0.1875, -0.375, (1 + 2.0**-23) / 8]
    fp16 = torch.tensor([1.5], dtype=torch.float16).view(torch.int16)
    assert unscaled(fp16, golden.FORMATS["fp16"], -200).tolist() == [0.0]
    assert unscaled(fp16, golden.FORMATS["fp16"], -149).tolist() == [2.0**-148]  # a tie of subnormals, to even
