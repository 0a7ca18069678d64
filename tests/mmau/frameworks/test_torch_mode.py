"""PyTorch's products as on a part: bit for bit golden's, forward and backward, or refused by name."""

from typing import Any

import pytest

import golden

pytestmark = pytest.mark.peer

torch: Any = pytest.importorskip("torch", reason="PyTorch (extra `torch`) is not installed")

from mmau.frameworks import torch_mode  # noqa: E402
from mmau.frameworks.core import Part, instruction_of  # noqa: E402
from mmau.frameworks.torch_mode import GemmMode, is_product  # noqa: E402

functional = torch.nn.functional

PARTS = {
    ("sm_80", torch.float16): "mma.m16n8k16.f32.f16.f16.f32",
    ("sm_90", torch.bfloat16): "wgmma.m64n128k16.f32.bf16.bf16",
    ("sm_100", torch.float16): "tcgen05.m128n128k16.kind::f16.f32.f16.f16",
    ("gfx942", torch.bfloat16): "v_mfma_f32_16x16x16_bf16",
    ("gfx942", torch.float32): "v_mfma_f32_16x16x4_f32",
}
NAMES = {torch.float16: "fp16", torch.bfloat16: "bf16", torch.float32: "fp32"}


def drawn(seed: int, *shape: int, dtype: Any = torch.bfloat16) -> Any:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def golden_mm(a: Any, b: Any, arch: str = "sm_90", c: Any = None, **keys: Any) -> Any:
    instruction = golden.instruction(arch, PARTS[arch, a.dtype])
    order = golden.GemmOrder(output=NAMES[a.dtype], **keys)
    return golden.gemm(instruction, a, b, torch.zeros(a.shape[0], b.shape[1]) if c is None else c, order=order)


def same(x: Any, y: Any) -> bool:
    """Whether two tensors have the same dtype, shape and bits."""
    width = {2: torch.int16, 4: torch.int32}[x.element_size()]
    return x.dtype == y.dtype and torch.equal(x.contiguous().view(width), y.contiguous().view(width))


@pytest.mark.parametrize(("arch", "dtype"), PARTS, ids=str)
def test_products_are_goldens(arch: str, dtype: Any) -> None:
    a, b, c = drawn(1, 24, 80, dtype=dtype), drawn(2, 80, 40, dtype=dtype), drawn(3, 40, dtype=dtype)
    expected = golden_mm(a, b, arch)
    with torch_mode.on(arch) as mode:
        assert same(a @ b, expected)
        assert same(torch.mm(a, b), expected)
        assert same(torch.einsum("ij,jk->ik", a, b), expected)
        assert same(functional.linear(a, b.t()), expected)
        assert same(torch.mv(a, b[:, 3]), expected[:, 3])
        assert same(torch.bmm(torch.stack([a, a]), torch.stack([b, b])), torch.stack([expected, expected]))
        biased = golden_mm(a, b, arch, c.float().expand(24, 40), epilogue=("alpha-beta",), alpha=0.5, beta=2.0)
        assert same(torch.addmm(c, a, b, alpha=0.5, beta=2), biased)
        assert same(torch.baddbmm(c, a[None], b[None], alpha=0.5, beta=2)[0], biased)
        plain = golden_mm(a, b, arch, c.float().expand(24, 40), epilogue=("alpha-beta",), beta=1.0)
        assert same(functional.linear(a, b.t(), c), plain)
        out = torch.empty(24, 40, dtype=dtype)
        torch.mm(a, b, out=out)
        assert same(out, expected)
    assert set(mode.products) >= {(24, 40, 80), (24, 1, 80)}
    if dtype is not torch.float32:
        assert not same(a.float() @ b.float(), golden_mm(a, b, arch).float())


def test_order_of_the_part_counts() -> None:
    a, b = drawn(1, 16, 512), drawn(2, 512, 16)
    order = golden.GemmOrder(split_k=4, split_tile=64)
    with torch_mode.on("sm_90", order=order):
        d = a @ b
    assert same(d, golden_mm(a, b, split_k=4, split_tile=64))


def test_backward_is_computed_too() -> None:
    x, weight = drawn(1, 32, 48).requires_grad_(), drawn(2, 16, 48).requires_grad_()
    gradient = drawn(3, 32, 16)
    with torch_mode.on("sm_90") as mode:
        functional.linear(x, weight).backward(gradient)
    assert same(x.grad, golden_mm(gradient, weight.detach()))
    assert same(weight.grad, golden_mm(gradient.t(), x.detach()))
    assert sorted(mode.products) == [(16, 48, 32), (32, 16, 48), (32, 48, 16)]


@pytest.mark.filterwarnings("ignore:.*script_method.*:DeprecationWarning")  # of PyTorch's own compiler
@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_compiled_functions_reach_the_part(backend: str) -> None:
    a, b = drawn(1, 16, 64), drawn(2, 64, 16)
    with torch_mode.on("sm_90") as mode:
        d = torch.compile(lambda x, y: x @ y, backend=backend)(a, b)
    assert mode.products == [(16, 16, 64)]
    assert same(d, golden_mm(a, b))


def test_inference_mode_reaches_the_part() -> None:
    a, b = drawn(1, 16, 64), drawn(2, 64, 16)
    with torch.inference_mode(), torch_mode.on("sm_90"):
        assert same(functional.linear(a, b.t()), golden_mm(a, b))


@pytest.mark.parametrize("way", ["plain", "causal", "mask", "bool", "groups"])
def test_attention_is_two_products(way: str) -> None:
    q, k, v = (drawn(n, 1, 2, 24, 16) for n in range(3))
    keys: dict[str, Any] = {"causal": {"is_causal": True}, "mask": {"attn_mask": drawn(5, 24, 24).float()}}.get(way, {})
    if way == "bool":
        keys = {"attn_mask": drawn(5, 24, 24) > -1}
    if way == "groups":
        k, v, keys = k[:, :1], v[:, :1], {"enable_gqa": True}
    with torch_mode.on("sm_90") as mode:
        got = functional.scaled_dot_product_attention(q, k, v, **keys)
    assert mode.products == [(24, 24, 16)] * 2 + [(24, 16, 24)] * 2
    near = functional.scaled_dot_product_attention(q.float(), k.float(), v.float(), **keys)
    assert (got.float() - near).abs().max() < 0.05
    if way == "plain":
        weights = (golden_mm(q[0, 0], k[0, 0].t()).float() * 0.25).softmax(-1).to(torch.bfloat16)
        assert same(got[0, 0], golden_mm(weights, v[0, 0]))


def test_attention_has_gradients_and_a_flash_operator_without_them_is_refused() -> None:
    q = drawn(1, 1, 2, 24, 16).requires_grad_()
    with torch_mode.on("sm_90") as mode:
        functional.scaled_dot_product_attention(q, q, q).sum().backward()
        assert len(mode.products) == 12
        flash = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, q, q)[0]
        assert same(flash.detach(), functional.scaled_dot_product_attention(q, q, q).detach())
        with pytest.raises(ValueError, match=r"flash_attention_for_cpu_backward\.default cannot be computed as on sm_90"):
            flash.sum().backward()
    assert q.grad is not None


E4M3 = torch.float8_e4m3fn

REFUSED = {
    "aten.convolution.default": lambda: functional.conv2d(torch.ones(1, 1, 4, 4), torch.ones(1, 1, 2, 2)),
    "aten._cdist_forward.default": lambda: torch.cdist(torch.ones(3, 3), torch.ones(3, 3)),
    "aten._euclidean_dist.default": lambda: torch.cdist(torch.ones(30, 3), torch.ones(30, 3)),
    "aten.linalg_matrix_exp.default": lambda: torch.matrix_exp(torch.ones(3, 3)),
    "aten.linalg_inv_ex.default": lambda: torch.linalg.inv(torch.eye(3)),
    "aten.dot.default": lambda: torch.dot(torch.ones(3), torch.ones(3)),
    "aten._trilinear.default": lambda: torch.nn.Bilinear(2, 2, 2)(torch.ones(2, 2), torch.ones(2, 2)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_products_are_refused_by_name(name: str) -> None:
    with torch_mode.on("sm_90"), pytest.raises(ValueError) as caught:  # noqa: PT011  # the whole text is compared
        REFUSED[name]()
    assert str(caught.value) == (
        f"{name} cannot be computed as on sm_90: write it with linear layers, matmul or scaled_dot_product_attention, or "
        f"leave the context for it"
    )


def convolved(x: Any) -> Any:
    return functional.conv2d(x, torch.ones(1, 1, 2, 2))


def test_convolutions_are_refused_in_their_backward_pass() -> None:
    d = convolved(torch.ones(1, 1, 4, 4, requires_grad=True)).sum()
    with torch_mode.on("sm_90"), pytest.raises(ValueError, match=r"^aten\.convolution_backward\.default cannot be"):
        d.backward()


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_compiled_convolutions_are_refused(backend: str) -> None:
    torch.compiler.reset()
    with torch_mode.on("sm_90"), pytest.raises(Exception, match=r"aten\.convolution\.default cannot be computed as on"):
        torch.compile(convolved, backend=backend)(torch.ones(1, 1, 4, 4))


def test_encoder_layer_runs_on_the_part_and_its_fast_path_is_refused() -> None:
    layer = torch.nn.TransformerEncoderLayer(16, 2, batch_first=True, dtype=torch.bfloat16).eval()
    x = drawn(1, 1, 8, 16)
    with torch_mode.on("sm_90") as mode, torch.inference_mode():
        layer(x)
    assert len(mode.products) == 8
    refusal = pytest.raises(ValueError, match=r"^aten\._transformer_encoder_layer_fwd")
    with GemmMode(Part("sm_90")), torch.inference_mode(), refusal:
        layer(x)
    x = x.requires_grad_()
    with torch_mode.on("sm_90") as mode:
        layer(x).sum().backward()
    assert len(mode.products) > 16


def test_dtypes_that_the_part_does_not_multiply_are_refused() -> None:
    a, one = torch.ones(4, 4), torch.tensor(1.0)
    eight = a.to(E4M3)
    calls: dict[str, Any] = {
        r"^sm_90 has no instruction that multiplies fp32 by fp32 into fp32; it has bf16 by ": lambda: a @ a,
        r"^a matrix product on sm_90 must have operands of float16, .*, got torch\.int32$": lambda: a.int() @ a.int(),
        r"out_dtype torch\.float64 cannot": lambda: torch._scaled_mm(eight, eight.t(), one, one, out_dtype=torch.float64),
        r"scales of shapes \(3,\) and \(\) cannot": lambda: torch._scaled_mm(eight, eight.t(), torch.ones(3), one),
    }
    for message, call in calls.items():
        with torch_mode.on("sm_90"), pytest.raises(ValueError, match=message):
            call()


def test_fp32_is_rounded_to_tf32() -> None:
    """To nearest even, with carries into the exponent, to infinity, and NaN as it is."""
    codes = {
        0x3F801000: 0x3F800000, 0x3F803000: 0x3F804000, 0x3F801001: 0x3F802000, 0x3FFFF000: 0x40000000,
        0xBF803000: 0xBF804000, 0x7F7FFFFF: 0x7F800000, 0x7F800000: 0x7F800000, 0x00001000: 0, 0x00003000: 0x4000,
    }  # fmt: skip
    given, expected = (
        torch.tensor([x - (x >> 31 << 32) for x in side], dtype=torch.int32) for side in (codes, codes.values())
    )
    got = torch_mode.as_tf32(given.view(torch.float32), "rne")
    assert got.view(torch.int32).tolist() == expected.tolist()
    assert torch_mode.as_tf32(torch.tensor(torch.nan), "rne").isnan()
    x = drawn(1, 8, 8, dtype=torch.float32)
    with torch_mode.on("sm_90", tf32=True):
        d = x @ torch.eye(8)
        x.mul_(3)
        tripled = x @ torch.eye(8)
    assert same(d, torch_mode.as_tf32(drawn(1, 8, 8, dtype=torch.float32), "rne"))
    assert same(tripled, torch_mode.as_tf32(drawn(1, 8, 8, dtype=torch.float32) * 3, "rne"))


def test_everything_else_is_pytorchs() -> None:
    a = drawn(1, 8, 8)
    expected = [(a + a).softmax(-1), functional.layer_norm(a, (8,)), a.cumsum(0), torch.linalg.vector_norm(a)]
    with torch_mode.on("sm_90") as mode:
        got = [(a + a).softmax(-1), functional.layer_norm(a, (8,)), a.cumsum(0), torch.linalg.vector_norm(a)]
    assert all(same(x, y) for x, y in zip(got, expected, strict=True))
    assert mode.products == []
    assert not is_product("softmax")
    assert torch.equal(a.float() @ a.float(), a.float() @ a.float())  # after the context PyTorch multiplies again


def test_missing_native_engine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mmau.frameworks.core.fastest_engine", lambda on_device=False: "reference")
    with (
        torch_mode.on("sm_90"),
        pytest.raises(RuntimeError, match=r"^the native engine is not installed, and the reference"),
    ):
        drawn(1, 4, 4) @ drawn(2, 4, 4)


def test_instructions_are_those_that_a_library_takes() -> None:
    for (arch, dtype), name in PARTS.items():
        assert instruction_of(arch, NAMES[dtype], NAMES[dtype]).name == name
    with pytest.raises(ValueError, match=r"^order of a part must have no instruction, no epilogue and no output"):
        Part("sm_90", golden.GemmOrder(output="bf16"))
