"""What differs between libraries, kernels and versions is said by the caller or comes from a source: nothing is chosen."""

from typing import Any

import pytest

import golden

pytestmark = pytest.mark.peer

torch: Any = pytest.importorskip("torch", reason="PyTorch (extra `torch`) is not installed")

from mmau.frameworks import torch_mode  # noqa: E402
from mmau.frameworks.core import FP8_PROMOTED, TF32  # noqa: E402
from tests.mmau.frameworks.test_torch_mode import E4M3, drawn, same  # noqa: E402

ONE = torch.tensor(1.0)

TIE = 1024.5
"""Of pytorch/pytorch#53635: half way between two numbers of tf32."""


def times_one(part: str, x: float, **keys: Any) -> float:
    with torch_mode.on(part, **keys):
        return float(torch.tensor([[x]]) @ torch.eye(1))


@pytest.mark.parametrize(
    ("part", "tf32", "x", "d"),
    [
        ("sm_80", "rna", TIE, 1025.0),  # an RTX 3090 under CUDA 11.1
        ("sm_80", "rne", TIE, 1024.0),
        ("sm_90", True, TIE, 1024.0),  # cuBLAS 13.1 on an H100
        ("sm_90", "rz", 1 + 2**-11 + 2**-12, 1.0),  # Triton
        ("gfx942", True, 1 + 2**-11 + 2**-12, 1.0),  # ROCm/rocm-libraries#9176
        ("gfx942", "rne", 1 + 2**-11 + 2**-12, 1 + 2**-10),
    ],
)
def test_fp32_becomes_tf32_as_said(part: str, tf32: bool | str, x: float, d: float) -> None:
    assert times_one(part, x, tf32=tf32) == d


@pytest.mark.parametrize("part", ["sm_80", "sm_89", "sm_100", "sm_120"])
def test_tf32_is_refused_where_nobody_has_recorded_it(part: str) -> None:
    with pytest.raises(
        ValueError, match=f"^tf32 = True asks for what the library of {part} does, which nobody has recorded"
    ):
        times_one(part, TIE, tf32=True)
    with pytest.raises(ValueError, match=r"^tf32 must be one of rne, rna, rz; got 'rn'"):
        times_one(part, TIE, tf32="rn")


def eights(K: int = 1024) -> tuple[Any, Any]:
    return drawn(1, 16, K).abs().to(E4M3), drawn(2, 16, K).abs().to(E4M3).t()


def test_promotion_of_fp8_is_said_or_known() -> None:
    a, b = eights()

    def product(part: str, fast: bool = False, **keys: Any) -> Any:
        with torch_mode.on(part, **keys):
            return torch._scaled_mm(a, b, ONE, ONE, out_dtype=torch.float32, use_fast_accum=fast)

    assert (set(FP8_PROMOTED), set(TF32)) == ({"sm_90", "sm_100"}, {"sm_90", "gfx942"})
    assert same(product("sm_90"), product("sm_90", fp8_promote=128))
    assert same(product("sm_100"), product("sm_100", fp8_promote=0))
    assert not same(product("sm_100"), product("sm_100", fp8_promote=128))
    for part in ("sm_89", "sm_120"):
        with pytest.raises(
            ValueError, match=f"^nobody has recorded after how many products of FP8 the library of {part} pro"
        ):
            product(part)
        assert same(product(part, fp8_promote=0), product(part, fast=True))
    with pytest.raises(ValueError, match=r"^fp8_promote must be a multiple of the 32 products of sm_90 wgmma.*, got 48$"):
        product("sm_90", fp8_promote=48)


def test_scale_of_an_fp8_result_depends_on_the_version() -> None:
    """pytorch/pytorch#190449: 2.9.1 multiplies by it, 2.10 does not. Integers and K = 16, so that everything is exact."""
    a, b = (torch.randint(-2, 3, (16, 16), generator=torch.Generator().manual_seed(s)).float() for s in (1, 2))
    x, y, half = a.to(E4M3), b.to(E4M3), torch.tensor(0.5)

    def product(scale: Any, out: Any = E4M3, **keys: Any) -> Any:
        with torch_mode.on("sm_90", **keys):
            return torch._scaled_mm(x, y.t(), ONE, ONE, scale_result=scale, out_dtype=out).float()

    exact = a @ b.t()
    assert torch.equal(product(None), exact.to(E4M3).float())
    assert torch.equal(product(half, scale_result="applied"), (exact / 2).to(E4M3).float())
    assert torch.equal(product(half, scale_result="ignored"), product(None))
    assert torch.equal(product(half, torch.bfloat16), exact)  # only a result in FP8 has a scale
    assert float(product(torch.tensor(1e6), scale_result="applied").abs().max()) == 448
    with pytest.raises(ValueError, match=r"depends on PyTorch's version, 2\.9\.1 multiplies by it and 2\.10 does not"):
        product(half)


def test_report_lists_instruction_order_conversions_and_who_says_so() -> None:
    a, b = eights()
    with torch_mode.on("sm_90", tf32=True) as mode:
        torch._scaled_mm(a, b, ONE, ONE)
        for _ in range(2):
            torch.eye(8) @ torch.eye(8)
    report = mode.report()
    assert report.rows == [
        (
            "1", "16x16x1024", "sm_90 wgmma.m64n128k32.f32.e4m3.e4m3", "inferred", "promote_every = 4, output = fp32",
            FP8_PROMOTED["sm_90"].source, "as they are", "",
        ),
        (
            "2", "8x8x8", "sm_90 wgmma.m64n128k8.f32.tf32.tf32", "inferred", "output = fp32",
            "one chain unless the caller says", "rounded to tf32, to nearest even", TF32["sm_90"].source,
        ),
    ]  # fmt: skip
    assert str(report).startswith("products  M x N x K   instruction ")
    assert "<table>" in report._repr_html_()
    assert "rounded to tf32, to nearest even" in report._repr_html_()


def test_integers_and_groups_are_products_too() -> None:
    x = torch.randint(-128, 128, (32, 64), generator=torch.Generator().manual_seed(1)).to(torch.int8)
    a, b = drawn(1, 24, 64), drawn(2, 2, 64, 16)
    ends = torch.tensor([8, 24], dtype=torch.int32)
    with torch_mode.on("sm_90") as mode:
        assert torch.equal(torch._int_mm(x, x.t()), golden_int(x))
        grouped = torch.ops.aten._grouped_mm(a, b, ends)
        assert same(grouped, torch.cat([a[:8] @ b[0], a[8:] @ b[1]]))
        along_k = torch.ops.aten._grouped_mm(a, a.t().contiguous(), torch.tensor([32, 64], dtype=torch.int32))
        assert same(along_k, torch.stack([a[:, :32] @ a.t()[:32], a[:, 32:] @ a.t()[32:]]))
        with pytest.raises(ValueError, match=r"^aten\._grouped_mm with a bias"):
            torch.ops.aten._grouped_mm(a, b, ends, torch.ones(2, 16).bfloat16())
    assert mode.products[:3] == [(32, 32, 64), (8, 16, 64), (16, 16, 64)]


def golden_int(x: Any) -> Any:
    wide = x.numpy().astype("int64")
    return torch.from_numpy((wide @ wide.T).astype("int32"))


def test_a_part_is_named_as_people_name_it() -> None:
    with torch_mode.on("Hopper") as mode:
        assert mode.part.arch == "sm_90"
    assert golden.architecture("Hopper") == "sm_90"
