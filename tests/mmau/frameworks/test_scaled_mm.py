"""PyTorch's products with scales as on a part: bit for bit golden's, or refused by name."""

from typing import Any

import pytest

import golden

pytestmark = pytest.mark.peer

torch: Any = pytest.importorskip("torch", reason="PyTorch (extra `torch`) is not installed")

from mmau.frameworks import torch_mode  # noqa: E402
from tests.mmau.frameworks.test_torch_mode import drawn, same  # noqa: E402

functional = torch.nn.functional

E4M3, E2M1 = torch.float8_e4m3fn, torch.float4_e2m1fn_x2


def test_scaled_mm_is_goldens() -> None:
    a, b = drawn(1, 32, 256, dtype=E4M3), drawn(2, 64, 256, dtype=E4M3).t()
    wgmma = golden.instruction("sm_90", "wgmma.m64n128k32.f32.e4m3.e4m3")
    zeros, bias = torch.zeros(32, 64), drawn(4, 64)
    promoted = golden.gemm(wgmma, a, b, zeros, order=golden.GemmOrder(promote_every=4))
    fast = golden.gemm(wgmma, a, b, zeros)
    half, three = torch.tensor(0.5), torch.tensor(3.0)
    rows, columns = drawn(5, 32, 1, dtype=torch.float32), drawn(6, 1, 64, dtype=torch.float32)
    with torch_mode.on("sm_90"):
        assert same(torch._scaled_mm(a, b, half, three, out_dtype=torch.float32), promoted * 1.5)
        assert same(torch._scaled_mm(a, b, half, three, out_dtype=torch.float32, use_fast_accum=True), fast * 1.5)
        got = torch._scaled_mm(a, b, rows, columns, bias=bias, out_dtype=torch.bfloat16)
        assert same(got, (promoted * (rows * columns) + bias.float()).to(torch.bfloat16))
        way = functional.ScalingType.RowWise
        v2 = functional.scaled_mm(a, b, rows, way, columns, way, bias=bias, output_dtype=torch.bfloat16)
        assert same(v2, got)
    assert not same(fast, promoted)


@pytest.mark.parametrize("width", [1, 128])
def test_block_scales_are_applied_at_promotion(width: int) -> None:
    a, b = drawn(1, 32, 256, dtype=E4M3), drawn(2, 160, 256, dtype=E4M3).t()
    alpha, beta = drawn(5, 32, 2, dtype=torch.float32), drawn(6, 2, -(-160 // width), dtype=torch.float32)
    order = golden.GemmOrder(promote_every=4, scale_at="promotion", scale_block=(1, width), output="bf16")
    wgmma = golden.instruction("sm_90", "wgmma.m64n128k32.f32.e4m3.e4m3")
    with torch_mode.on("sm_90"):
        got = torch._scaled_mm(a, b, alpha, beta, out_dtype=torch.bfloat16)
    assert same(got, golden.gemm(wgmma, a, b, torch.zeros(32, 160), scale_a=alpha, scale_b=beta, order=order))


MX = {
    "mxfp8 on sm_100": ("sm_100", E4M3, 32, "tcgen05.m128n128k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0"),
    "mxfp4 on sm_100": ("sm_100", E2M1, 32, "tcgen05.m128n128k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0"),
    "nvfp4 on sm_100": ("sm_100", E2M1, 16, "tcgen05.m128n128k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"),
    "mxfp8 on sm_120": ("sm_120", E4M3, 32, "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.f32.ue8m0"),
    "nvfp4 on sm_120": ("sm_120", E2M1, 16, "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3"),
}
"""Part, dtype, block and the instruction that a product with scales of blocks becomes."""


def blocked(scales: Any) -> Any:
    """Scales [rows, blocks] in cuBLAS's order, element by element: tiles of 128 by 4, padded with zeros."""
    rows, blocks = -(-scales.shape[0] // 128), -(-scales.shape[1] // 4)
    out = torch.zeros(rows * blocks * 512, dtype=torch.uint8)
    for r in range(scales.shape[0]):
        for s in range(scales.shape[1]):
            out[(r // 128 * blocks + s // 4) * 512 + r % 32 * 16 + r % 128 // 32 * 4 + s % 4] = scales[r, s]
    return out


@pytest.mark.parametrize("what", MX)
def test_scales_of_blocks_are_operands_of_the_instruction(what: str) -> None:
    """Codes of A, B and scales at random, in both orders of scales, against golden's product of the same codes."""
    arch, dtype, block, name = MX[what]
    M, K, N = 40, 192, 136
    rng = torch.Generator().manual_seed(7)
    a, b = (torch.randint(0, 16 if dtype == E2M1 else 0x7F, (rows, K), generator=rng).byte() for rows in (M, N))
    alpha, beta = (torch.randint(120, 134, (rows, K // block), generator=rng).byte() for rows in (M, N))
    if block == 16:
        alpha, beta = alpha - 90, beta - 90
    instruction, zeros = golden.instruction(arch, name), torch.zeros(M, N)
    expected = golden.gemm(instruction, a, b.t(), zeros, scale_a=alpha, scale_b=beta.t())
    packed = [x[:, ::2] | x[:, 1::2] << 4 if dtype == E2M1 else x for x in (a, b)]
    A, B = packed[0].view(dtype), packed[1].view(dtype).t()
    as_dtype = torch.float8_e8m0fnu if block == 32 else E4M3
    plain, tiles = [x.view(as_dtype) for x in (alpha, beta)], [blocked(x).view(as_dtype) for x in (alpha, beta)]
    way, bias = functional.ScalingType(3 if block == 32 else 2), drawn(4, N)
    swizzle = functional.SwizzleType.SWIZZLE_32_4_4
    with torch_mode.on(arch):
        assert same(torch._scaled_mm(A, B, *tiles, out_dtype=torch.float32), expected)
        assert same(functional.scaled_mm(A, B, plain[0], way, plain[1], way, output_dtype=torch.float32), expected)
        got = functional.scaled_mm(A, B, tiles[0], way, tiles[1], way, swizzle, swizzle, bias, torch.bfloat16)
        assert same(got, (expected + bias.float()).to(torch.bfloat16))
        if block == 16:
            whole = [way, functional.ScalingType.TensorWise]
            two = [[x, torch.tensor(y)] for x, y in zip(plain, (0.37, 3.1), strict=True)]
            got = functional.scaled_mm(A, B, two[0], whole, two[1], whole, output_dtype=torch.float32)
            assert same(got, expected * (torch.tensor(0.37) * torch.tensor(3.1)))
        message = r"^scales of shapes \(.*\) and \(.*\) do not fit 40 rows, 136 columns and 192 products in blocks of "
        with pytest.raises(ValueError, match=message):
            torch._scaled_mm(A, B, plain[0], tiles[1], out_dtype=torch.float32)
    assert expected.isfinite().all()
    assert len(expected.unique()) > 500


def test_scales_of_blocks_are_refused_where_the_part_has_no_such_instruction() -> None:
    a, scale = torch.zeros(32, 64, dtype=torch.uint8).view(E4M3), torch.zeros(512, dtype=torch.uint8)
    message = r"^sm_90 has no instruction that multiplies e4m3 by e4m3 under scales ue8m0 of blocks of 32$"
    with torch_mode.on("sm_90"), pytest.raises(ValueError, match=message):
        torch._scaled_mm(a, a.t(), scale.view(torch.float8_e8m0fnu), scale.view(torch.float8_e8m0fnu))
    one, message = torch.tensor(1.0), r"with scale_b of torch\.float8_e8m0fnu cannot be computed as on sm_100: take float32"
    with torch_mode.on("sm_100"), pytest.raises(ValueError, match=message):
        torch._scaled_mm(a, a.t(), one, scale.view(torch.float8_e8m0fnu))
