"""Casts to FP8: every value that a public report states, and PyTorch's own cast."""

from typing import Any

import numpy as np
import pytest

from golden.arithmetic.formats import FORMATS
from golden.products.casts import cast

REPORTED = [
    ("triton.sm_89.fp32-e4m3", 400.199585, 384.0), ("torch.fp32-e4m3", 400.199585, 416.0),
    ("triton.sm_89.fp32-e4m3", 272.156555, 256.0), ("torch.fp32-e4m3", 272.156555, 288.0),
    ("triton.sm_89.fp32-e4m3", 136.002075, 128.0), ("torch.fp32-e4m3", 136.002075, 144.0),
    ("triton.sm_89.fp32-e4m3", 1.0625001, 1.0), ("torch.fp32-e4m3", 1.0625001, 1.125),
    ("triton.sm_80.fp16-e5m2", 1.125, 1.25), ("torch.fp32-e5m2", 1.125, 1.0),
]  # fmt: skip
"""FlashML-org/FreeToken#85 and triton-lang/triton#11753."""


@pytest.mark.parametrize(("name", "x", "y"), REPORTED)
def test_reported_values(name: str, x: float, y: float) -> None:
    assert float(cast(name, np.array([x, -x], np.float32))[0]) == y
    assert float(cast(name, np.array([x, -x], np.float32))[1]) == -y


def drawn() -> Any:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 1 << 32, 20000, np.uint32)
    codes[::2] = (codes[::2] & 0x80FFFFFF) + (rng.integers(0x30, 0x46, 10000).astype(np.uint32) << np.uint32(24))
    codes[::3] &= 0xFFF00000
    return codes.view(np.float32)


@pytest.mark.peer
@pytest.mark.parametrize("name", ["torch.fp32-e4m3", "torch.fp32-e5m2"])
def test_torchs_casts_are_torchs(name: str) -> None:
    torch: Any = pytest.importorskip("torch", reason="PyTorch (extra `torch`) is not installed")
    dtype = torch.float8_e4m3fn if "e4m3" in name else torch.float8_e5m2
    x = drawn()
    expected = torch.from_numpy(x).to(dtype).view(torch.uint8).numpy()
    got = cast(name, x).view(np.uint8)
    nan = np.isnan(got.view(cast(name, x).dtype).astype(np.float32))
    assert (got[~nan] == expected[~nan]).all()
    assert (np.isnan(torch.from_numpy(expected).view(dtype).float().numpy()) == nan).all()


def test_a_rounding_is_that_of_the_format() -> None:
    x = drawn()
    x = x[np.isfinite(x) & (np.abs(x) < 440) & (x != 0)][:1500]
    got = cast("torch.fp32-e4m3", x).view(np.uint8)
    for number, code in zip(x.tolist(), got.tolist(), strict=True):
        assert code == FORMATS["e4m3"].encode(number)


def test_specials_and_wrong_requests() -> None:
    specials = np.array([np.inf, -np.inf, np.nan, 1e9, 0.0, -0.0], np.float32)
    saturated = cast("triton.sm_89.fp32-e4m3", specials).astype(np.float32)
    assert saturated[:2].tolist() == [448.0, -448.0]
    assert saturated[3] == 448
    assert np.isnan(saturated[2])
    assert np.signbit(saturated[4:]).tolist() == [False, True]
    assert cast("torch.fp32-e5m2", specials).astype(np.float32)[:2].tolist() == [np.inf, -np.inf]
    with pytest.raises(ValueError, match=r"^cast must be one of "):
        cast("triton", specials)
    with pytest.raises(TypeError, match=r"^a cast takes an array of float32 or float16, got float64$"):
        cast("torch.fp32-e4m3", specials.astype(np.float64))
