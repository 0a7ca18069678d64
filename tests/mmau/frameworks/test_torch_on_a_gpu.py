"""Tensors on a GPU: the same bits as on the host, from the kernels of matrix products, with a stand-in for the GPU."""

import sys
from typing import Any

import numpy as np
import pytest

import golden
from golden.native import cuda, driver
from golden.tensor_array import TensorArray

pytestmark = pytest.mark.peer

pytest.importorskip("torch", reason="PyTorch (extra `torch`) is not installed")

from mmau.frameworks import torch_mode  # noqa: E402
from mmau.frameworks.pytorch import torch  # noqa: E402
from tests.mmau.frameworks.stand_in_gpu import OnGpu, install, same  # noqa: E402

HOPPER = golden.instruction("sm_90", "wgmma.m64n128k16.f32.f16.f16")


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return install(monkeypatch)


def drawn(seed: int, *shape: int, dtype: Any = torch.float16) -> Any:
    draws = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=draws).to(dtype)


ORDERS = {
    "one chain": golden.GemmOrder(),
    "promoted": golden.GemmOrder(promote_every=2),
    "split": golden.GemmOrder(split_k=3),
    "in fp16": golden.GemmOrder(output="fp16"),
    "epilogue": golden.GemmOrder(epilogue=("alpha-beta",), alpha=0.5, beta=2.0),
}


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
def test_gemm_has_the_bits_of_the_host(order: golden.GemmOrder, launched: list[str]) -> None:
    """A residue of K too: 200 is no multiple of 16."""
    a, b, c = drawn(1, 70, 200), drawn(2, 200, 66), drawn(3, 70, 66, dtype=torch.float32)
    found = golden.gemm(HOPPER, OnGpu(a), OnGpu(b), OnGpu(c), order=order)
    assert same(found, golden.gemm(HOPPER, a, b, c, order=order))
    assert "matrix_product" in launched


def test_batches_and_c_left_out(launched: list[str]) -> None:
    a, b = drawn(1, 3, 5, 32), drawn(2, 3, 32, 7)
    assert same(golden.gemm(HOPPER, OnGpu(a), OnGpu(b)), golden.gemm(HOPPER, a, b))
    assert launched == ["matrix_product"] * 3


def gradients_of(on_gpu: bool, order: golden.GemmOrder, *shapes: tuple[int, ...]) -> tuple[Any, ...]:
    """D and the gradients of A, B and C."""
    dtypes = torch.float16, torch.float16, torch.float32
    given = [drawn(seed, *shape, dtype=dtype) for seed, (shape, dtype) in enumerate(zip(shapes, dtypes, strict=True))]
    a, b, c = ((OnGpu(x) if on_gpu else x).requires_grad_() for x in given)
    d = golden.gemm(HOPPER, a, b, c, order=order)
    upstream = drawn(9, *shapes[2], dtype=torch.float32)
    d.backward(OnGpu(upstream) if on_gpu else upstream)
    return d.detach(), a.grad, b.grad, c.grad


@pytest.mark.parametrize("shapes", [((5, 40), (40, 6), (5, 6)), ((2, 5, 40), (2, 40, 6), (2, 5, 6))], ids=["one", "batch"])
@pytest.mark.parametrize("order", [golden.GemmOrder(), golden.GemmOrder(promote_every=2)], ids=["plain", "promoted"])
def test_gemm_has_gradients(order: golden.GemmOrder, shapes: Any, launched: list[str]) -> None:
    """Products of the model: rounded operands, its order; on a GPU with the host's bits."""
    d, of_a, of_b, of_c = gradients_of(False, order, *shapes)
    a, b = drawn(0, *shapes[0]), drawn(1, *shapes[1])
    g = drawn(9, *shapes[2], dtype=torch.float32)
    assert torch.equal(of_a, golden.gemm(HOPPER, g.half(), b.mT.contiguous(), order=order).half())
    assert torch.equal(of_b, golden.gemm(HOPPER, a.mT.contiguous(), g.half(), order=order).half())
    assert torch.equal(of_c, g)
    assert all(same(x, y) for x, y in zip(gradients_of(True, order, *shapes), (d, of_a, of_b, of_c), strict=True))
    assert launched.count("matrix_product") >= 3


def test_gradients_of_small_integers_are_pytorchs() -> None:
    """Every sum is exact, in whichever order."""
    a, b = (torch.randint(-4, 5, shape).half().requires_grad_() for shape in ((7, 33), (33, 9)))
    g = torch.randint(-4, 5, (7, 9)).float()
    golden.gemm(HOPPER, a, b).backward(g)
    found = a.grad, b.grad
    a.grad = b.grad = None
    (a.float() @ b.float()).backward(g)
    assert all(torch.equal(x, y) for x, y in zip(found, (a.grad, b.grad), strict=True))


def test_gradients_that_are_no_products_of_the_model_are_refused() -> None:
    a, b = drawn(1, 4, 32).requires_grad_(), drawn(2, 32, 4)
    order = golden.GemmOrder(epilogue=("alpha",), alpha=2.0)
    with pytest.raises(
        ValueError, match=r"^the gradients of golden\.gemm are products of the same model: .* has scales and a "
    ):
        golden.gemm(HOPPER, a, b, order=order)
    model = golden.instruction("sm_90", "wgmma.m64n128k32.f32.e4m3.e5m2")
    x, y = a.detach().to(torch.float8_e4m3fn).requires_grad_(), b.to(torch.float8_e5m2)
    with pytest.raises(ValueError, match=r"; wgmma.* has operands of e4m3 and e5m2: give A\.detach\(\), "):
        golden.gemm(model, x, y)
    with pytest.raises(ValueError, match=r"^the order of a library is that of one shape: "):
        golden.gemm(a, b, part="H100", used_by="cublas")
    twice = golden.gemm(HOPPER, a, b).sum()
    (once,) = torch.autograd.grad(twice, a, create_graph=True)
    with pytest.raises(RuntimeError):
        once.sum().backward()


def codes(seed: int, below: int, *shape: int) -> Any:
    return torch.randint(0, below, shape, generator=torch.Generator().manual_seed(seed), dtype=torch.uint8)


def test_scales_of_blocks(launched: list[str]) -> None:
    model = golden.instruction("sm_100", "tcgen05.m128n128k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3")
    given = codes(1, 16, 5, 192), codes(2, 16, 192, 70), None, codes(3, 127, 5, 12), codes(4, 127, 12, 70)
    on_gpu = (None if x is None else OnGpu(x) for x in given)
    assert same(golden.gemm(model, *on_gpu), golden.gemm(model, *given))
    assert launched == ["matrix_product"]


def test_scales_at_promotion(launched: list[str]) -> None:
    model = golden.instruction("sm_90", "wgmma.m64n128k32.f32.e4m3.e4m3")
    order = golden.GemmOrder(promote_every=4, scale_at="promotion", scale_block=(1, 128), output="bf16")
    a, b = (drawn(s, *shape).to(torch.float8_e4m3fn) for s, shape in ((1, (5, 256)), (2, (256, 130))))
    alpha, beta = (drawn(s, *shape, dtype=torch.float32) for s, shape in ((3, (5, 2)), (4, (2, 2))))
    found = golden.gemm(model, OnGpu(a), OnGpu(b), None, OnGpu(alpha), OnGpu(beta), order=order)
    assert same(found, golden.gemm(model, a, b, None, alpha, beta, order=order))
    assert launched.count("matrix_product") == 2


def test_rows_and_one_instruction(launched: list[str]) -> None:
    a, b, c = drawn(1, 9, 16), drawn(2, 9, 16), drawn(3, 9, dtype=torch.float32)
    assert same(HOPPER.dot(OnGpu(a), OnGpu(b), OnGpu(c)), HOPPER.dot(a, b, c))
    a, b, c = drawn(1, 64, 16), drawn(2, 16, 128), drawn(3, 64, 128, dtype=torch.float32)
    assert same(HOPPER(OnGpu(a), OnGpu(b), OnGpu(c)), HOPPER(a, b, c))
    assert launched == ["dot_rows", "matrix_product"]


def layers() -> Any:
    torch.manual_seed(5)
    return torch.nn.Sequential(torch.nn.Linear(48, 40), torch.nn.ReLU(), torch.nn.Linear(40, 8)).to(torch.bfloat16)


def test_mode_trains_a_network_on_a_gpu(launched: list[str]) -> None:
    """Forward and backward: every product is a launch, and all bits are the host's."""
    x = drawn(4, 20, 48, dtype=torch.bfloat16)
    gradients = []
    for on_gpu in (False, True):
        net = layers()
        if on_gpu:
            for layer in (net[0], net[2]):
                layer.weight, layer.bias = (torch.nn.Parameter(OnGpu(p.detach())) for p in (layer.weight, layer.bias))
        with torch_mode.on("sm_90") as mode:
            y = net(OnGpu(x) if on_gpu else x)
            y.float().square().sum().backward()
        assert len(mode.products) == 5
        gradients.append([y, *(layer.weight.grad for layer in (net[0], net[2]))])
    assert launched.count("matrix_product") >= 5
    assert all(same(found, wanted) for wanted, found in zip(*gradients, strict=True))


@pytest.mark.parametrize("name", ["_addmm_activation", "_scaled_dot_product_efficient_attention"])
def test_operators_of_gpus_that_are_not_modelled_are_refused_by_name(name: str, launched: list[str]) -> None:
    a, b, c = OnGpu(drawn(1, 4, 16)), OnGpu(drawn(2, 16, 4)), OnGpu(drawn(3, 4))
    four = OnGpu(drawn(1, 1, 1, 4, 16))
    calls = {"_addmm_activation": (c, a, b), "_scaled_dot_product_efficient_attention": (four, four, four, None, False)}
    with torch_mode.on("sm_90"), pytest.raises(ValueError, match=rf"^aten\.{name}.*cannot be computed as on sm_90: "):
        getattr(torch.ops.aten, name)(*calls[name])
    assert launched == []


def test_devices_must_be_one(launched: list[str]) -> None:
    with pytest.raises(ValueError, match=r"^operands must be on one device, got tensors on cpu and cuda:0$"):
        golden.gemm(HOPPER, OnGpu(drawn(1, 4, 16)), drawn(2, 16, 4))


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
def test_an_amd_gpu_computes_the_same(order: golden.GemmOrder, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its own driver, from a kernel for its architecture: the stand-in refuses any other."""
    launched = install(monkeypatch, amd="gfx942")
    a, b, c = drawn(1, 5, 48), drawn(2, 48, 66), drawn(3, 5, 66, dtype=torch.float32)
    found = golden.gemm(HOPPER, OnGpu(a), OnGpu(b), OnGpu(c), order=order)
    assert same(found, golden.gemm(HOPPER, a, b, c, order=order))
    assert "matrix_product" in launched


def test_cupy_is_not_needed(launched: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    test_scales_at_promotion(launched)


def test_selected_elements_of_a_sparse_instruction(launched: list[str]) -> None:
    model = golden.instruction("sm_90", "mma.sp.m16n8k16.f32.tf32.tf32.f32")
    a, b, c = (drawn(s, 9, k, dtype=torch.float32) for s, k in ((1, 8), (2, 16), (3, 1)))
    metadata = torch.full((9, 8), 0b0100)
    given = a, b, c[:, 0]
    assert same(model.dot(*map(OnGpu, given), metadata=metadata), model.dot(*given, metadata=metadata.numpy()))
    assert launched == ["dot_rows"]


def test_what_a_driver_refuses_is_an_error(launched: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "binary", lambda text, target: b"another kernel")
    with pytest.raises(driver.DriverError, match=r"^the GPU's driver refuses a kernel: cuModuleGetFunction returns 500$"):
        golden.gemm(HOPPER, OnGpu(drawn(1, 4, 16)), OnGpu(drawn(2, 16, 4)))


@pytest.mark.parametrize("function", [np.sort, np.cumsum, np.asarray])
def test_functions_that_a_tensor_does_not_have_are_refused(function: Any) -> None:
    """Nothing moves to the host unasked."""
    with pytest.raises(TypeError):
        function(TensorArray(drawn(1, 4).view(torch.int16), "uint16"))


BITS = {
    bits: np.array([0, 1, (1 << bits) - 1, 1 << (bits - 1), (1 << (bits - 1)) - 1], f"uint{bits}") for bits in (8, 16, 32)
}


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("name", ["add", "subtract", "bitwise_and", "bitwise_or", "equal", "not_equal", "greater"])
def test_codes_are_unsigned(name: str, bits: int) -> None:
    """What wraps around or is compared is what NumPy has of unsigned integers."""
    x, function = BITS[bits], getattr(np, name)
    tensor = TensorArray(torch.from_numpy(x.view(f"int{bits}")), x.dtype)
    for y in x:
        found, expected = function(tensor, y), function(x, y)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found.tensor.numpy().view(expected.dtype), expected)
    for shift in (1, bits - 1):
        np.testing.assert_array_equal((tensor >> shift).tensor.numpy().view(x.dtype), x >> x.dtype.type(shift))
    np.testing.assert_array_equal(tensor.astype("uint64").tensor.numpy(), x.astype("int64"))
    assert tensor.max() == x.max()


def test_another_dtype_is_refused(launched: list[str]) -> None:
    rule = r"^A must have dtype uint16 or float16 for fp16, got torch\.bfloat16$"
    with pytest.raises(TypeError, match=rule):
        golden.gemm(HOPPER, OnGpu(drawn(1, 4, 16, dtype=torch.bfloat16)), OnGpu(drawn(2, 16, 4)))
