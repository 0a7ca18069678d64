"""Triton's interpreter with a part's dot products: bit for bit golden's."""

# mypy: disable-error-code="name-defined, no-untyped-def"

import os
from typing import Any

import numpy as np
import pytest

import golden

pytestmark = pytest.mark.peer

torch: Any = pytest.importorskip("torch", reason="PyTorch (extra `torch`) is not installed")
os.environ["TRITON_INTERPRET"] = "1"
triton: Any = pytest.importorskip("triton", reason="Triton (extra `triton`) is not installed")
tl = triton.language

from mmau.frameworks import triton_dot  # noqa: E402

M, N, K, BLOCK = 32, 48, 128, 64


@triton.jit  # type: ignore[untyped-decorator]
def product(
    a_ptr, b_ptr, d_ptr, IMPRECISE: tl.constexpr, ADDS: tl.constexpr, PRECISION: tl.constexpr,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    rows, columns, ks = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BLOCK)
    acc = tl.zeros((M, N), tl.float32)
    for first in range(0, K, BLOCK):
        a = tl.load(a_ptr + rows[:, None] * K + (first + ks)[None, :])
        b = tl.load(b_ptr + (first + ks)[:, None] * N + columns[None, :])
        if ADDS:
            acc += tl.dot(a, b, input_precision=PRECISION)
        else:
            acc = tl.dot(a, b, acc, max_num_imprecise_acc=IMPRECISE, input_precision=PRECISION)
    tl.store(d_ptr + rows[:, None] * N + columns[None, :], acc)


def ran(a: Any, b: Any, imprecise: int = 0, adds: bool = False, precision: str = "ieee", n: int = 64) -> Any:
    d = torch.empty(M, n)
    product[(1,)](a, b, d, imprecise, adds, precision, M, n, K, BLOCK)
    return d.numpy().view("u4")


def operands(dtype: Any, seed: int = 1) -> tuple[Any, Any]:
    draws = torch.Generator().manual_seed(seed)
    return torch.randn(M, K, generator=draws).to(dtype), torch.randn(K, 64, generator=draws).to(dtype)


CASES = {
    torch.float16: "wgmma.m64n128k16.f32.f16.f16",
    torch.bfloat16: "wgmma.m64n128k16.f32.bf16.bf16",
    torch.float8_e4m3fn: "wgmma.m64n128k32.f32.e4m3.e4m3",
    torch.float8_e5m2: "wgmma.m64n128k32.f32.e5m2.e5m2",
}


def expected(a: Any, b: Any, name: str, **order: Any) -> Any:
    zeros = np.zeros((M, 64), np.uint32)
    return golden.gemm(golden.instruction("sm_90", name), a, b, zeros, order=golden.GemmOrder(**order))


@pytest.mark.parametrize("dtype", CASES, ids=str)
def test_chain_and_addition_are_goldens(dtype: Any) -> None:
    a, b = operands(dtype)
    k = golden.instruction("sm_90", CASES[dtype]).k
    with triton_dot.on("sm_90"):
        chain, added = ran(a, b), ran(a, b, adds=True)
    assert (chain == expected(a, b, CASES[dtype])).all()
    assert (added == expected(a, b, CASES[dtype], promote_every=BLOCK // k)).all()
    assert (chain != added).any()


def test_imprecise_accumulation_is_promotion() -> None:
    a, b = operands(torch.float8_e4m3fn)
    with triton_dot.on("sm_90"):
        got, never = ran(a, b, imprecise=32), ran(a, b)
    name = CASES[torch.float8_e4m3fn]
    assert (got == expected(a, b, name, promote_every=1)).all()
    assert (never == expected(a, b, name)).all()
    assert (got != never).any()


def test_tf32_and_fp32() -> None:
    a, b = operands(torch.float32)
    with triton_dot.on("sm_90"):
        got = ran(a, b, precision="tf32")
        with pytest.raises(Exception, match="sm_90 has no instruction that multiplies fp32 by fp32 into fp32"):
            ran(a, b, precision="ieee")
    assert (got == expected(a, b, "wgmma.m64n128k8.f32.tf32.tf32")).all()
    with triton_dot.on("gfx942"):
        got = ran(a, b, precision="ieee")
    zeros = np.zeros((M, 64), np.uint32)
    assert (got == golden.gemm(golden.instruction("gfx942", "v_mfma_f32_16x16x4_f32"), a, b, zeros)).all()


def test_several_passes_are_goldens_and_near_fp32() -> None:
    a, b = operands(torch.float32)
    with triton_dot.on("sm_90"):
        got, once = ran(a, b, precision="tf32x3"), ran(a, b, precision="tf32")
    name = "wgmma.m64n128k8.f32.tf32.tf32"
    steps = 3 * BLOCK // golden.instruction("sm_90", name).k
    assert (got == expected(a, b, name, passes="tf32x3", pass_tile=BLOCK, promote_every=steps)).all()
    exact = (a.double() @ b.double()).numpy()
    assert np.abs(got.view("f4") - exact).max() * 100 < np.abs(once.view("f4") - exact).max()


def test_nan_and_bf16_are_those_of_the_formats() -> None:
    """The interpreter's own dot multiplies the codes of bf16, and reads a NaN of e4m3 as 480."""
    a, b = operands(torch.bfloat16)
    before = ran(a, b)
    a8, b8 = operands(torch.float8_e4m3fn)
    a8.view(torch.uint8)[0, 0] = 0x7F
    with triton_dot.on("sm_90"):
        got, nan = ran(a, b), ran(a8, b8)
    assert (np.abs(got.view("f4") - (a.float() @ b.float()).numpy()) < 0.1).all()
    assert not (np.abs(before.view("f4") - (a.float() @ b.float()).numpy()) < 0.1).all()
    assert (nan[0] == 0x7FFFFFFF).all()
    assert (nan[1:] != 0x7FFFFFFF).all()


def test_unknown_dtype_is_refused_and_the_interpreter_is_its_own_again() -> None:
    a, b = torch.ones(M, K, dtype=torch.int8), torch.ones(K, 64, dtype=torch.int8)
    with (
        triton_dot.on("sm_90"),
        pytest.raises(Exception, match=r"tl\.dot of int8 cannot be computed as on sm_90: take fp16, bf16"),
    ):
        ran(a, b)
    a, b = operands(torch.float16)
    assert (np.abs(ran(a, b).view("f4") - (a.float() @ b.float()).numpy()) < 0.1).all()


@triton.jit  # type: ignore[untyped-decorator]
def scaled(
    a_ptr, alpha_ptr, b_ptr, beta_ptr, d_ptr, FORMAT: tl.constexpr, PACK: tl.constexpr, GROUP: tl.constexpr,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
):  # fmt: skip
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    ks, groups = tl.arange(0, K // PACK), tl.arange(0, K // GROUP)
    a = tl.load(a_ptr + rows[:, None] * (K // PACK) + ks[None, :])
    b = tl.load(b_ptr + ks[:, None] + columns[None, :] * (K // PACK))
    alpha = tl.load(alpha_ptr + rows[:, None] * (K // GROUP) + groups[None, :])
    beta = tl.load(beta_ptr + columns[:, None] * (K // GROUP) + groups[None, :])
    d = tl.dot_scaled(a, alpha, FORMAT, b, beta, FORMAT)
    tl.store(d_ptr + rows[:, None] * N + columns[None, :], d)


@pytest.mark.parametrize("kind", ["e4m3", "e2m1"])
def test_dot_scaled_is_goldens(kind: str) -> None:
    rng, pack = np.random.default_rng(1), 2 if kind == "e2m1" else 1
    a, b = (rng.integers(0, 256 if pack == 2 else 0x70, (rows, K // pack), np.uint8) for rows in (M, 64))
    alpha, beta = (rng.integers(120, 134, (rows, K // 32), np.uint8) for rows in (M, 64))
    d = torch.empty(M, 64)
    given = [torch.from_numpy(x) for x in (a, alpha, b, beta)]
    if pack == 1:
        given[0], given[2] = (x.view(torch.float8_e4m3fn) for x in (given[0], given[2]))
    with triton_dot.on("sm_100"):
        scaled[(1,)](*given, d, kind, pack, 32, M, 64, K)
    if pack == 2:
        a, b = (np.stack([x & 15, x >> 4], 2).reshape(len(x), K) for x in (a, b))
    name = "tcgen05.m128n128k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0" if pack == 2 else (
        "tcgen05.m128n128k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0"
    )  # fmt: skip
    instruction = golden.instruction("sm_100", name)
    right = golden.gemm(instruction, a, np.ascontiguousarray(b.T), np.zeros((M, 64), np.uint32), alpha, beta.T)
    assert (d.numpy().view("u4") == right).all()
