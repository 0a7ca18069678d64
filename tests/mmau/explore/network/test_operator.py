"""The operator: golden.gemm's bits on golden's own conversions, gradients too, and PyTorch's own checks of an operator.

`torch.autograd.gradcheck` is not among them: it compares gradients with differences of results, and the results of a unit
are steps, whose differences say nothing. Gradients are the products that the rule says, each on the unit: that is checked.
"""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import golden
from mmau.explore.network.product_arithmetic import Product
from tests.mmau.explore.network.network_units import HYBRID, codes, t_fdpa

pytestmark = pytest.mark.peer

pytest.importorskip("torch", reason="PyTorch (extra `torch`) is not installed")

from mmau.explore.network import operator  # noqa: E402
from mmau.explore.network.operator import matmul  # noqa: E402
from mmau.frameworks.pytorch import torch  # noqa: E402
from tests.mmau.frameworks.stand_in_gpu import OnGpu, install, same  # noqa: E402

PRODUCTS = {
    "e4m3": Product(t_fdpa()),
    "hybrid": Product(HYBRID),
    "promoted": Product(t_fdpa(), promote_every=2),
    "split": Product(t_fdpa(), split_k=3),
    "fp16": Product(t_fdpa(a="fp16", b="fp16", rho="RNE-FP16", c="fp16", e_zero=-21)),
    "bf16": Product(t_fdpa(a="bf16", b="bf16", F=20)),
    "instruction": Product(golden.instruction("gfx942", "v_mfma_f32_16x16x32_fp8_fp8")),
}

EVERY_PRODUCT = pytest.mark.parametrize("product", PRODUCTS.values(), ids=PRODUCTS)


def scale(amax: float, operand: golden.Format, d: golden.Format, K: int) -> int:
    """The rule, in fractions: the largest s for which neither the operand nor K products of two such overflow, these by the
    largest power of two."""
    if operand.exp_bits >= 8:
        return 0
    s = 126
    room = Fraction(2) ** (d.e_max - (K - 1).bit_length())
    power = max(h for h in range(-300, 300) if Fraction(2) ** (2 * h) <= room)
    most = min(Fraction(operand.value(operand.max_finite) or 0), Fraction(2) ** power)
    while Fraction(amax) * Fraction(2) ** s > most:
        s -= 1
    return s


def by_golden(a: Any, b: Any, product: Product) -> Any:
    """a @ b of arrays of fp32 by golden alone: its conversions, its gemm, and one rounding of the scaled result."""
    unit, K = product.unit, a.shape[1]
    s = [scale(float(np.abs(x).max()), operand, unit.operation.d, K) for x, operand in ((a, unit.a), (b, unit.b))]
    x, y = (
        codes(operand, array.astype(np.float64) * 2.0**exp) for array, operand, exp in ((a, unit.a, s[0]), (b, unit.b, s[1]))
    )
    order = golden.GemmOrder(promote_every=product.promote_every, split_k=product.split_k)
    d = golden.gemm(unit, x, y, order=order)
    values = [float(product.d.value(int(one)) or 0) for one in d.ravel()]
    return (np.array(values) * 2.0 ** -sum(s)).astype(np.float32).reshape(d.shape)


def drawn(seed: int, *shape: int) -> Any:
    """Numbers of very different sizes, most of them subnormal or zero in FP8 once the largest fits."""
    rng = np.random.default_rng(seed)
    return (rng.standard_normal(shape) * np.exp2(rng.integers(-14, 3, shape))).astype(np.float32)


@EVERY_PRODUCT
def test_result_is_goldens_bit_for_bit(product: Product) -> None:
    a, b = drawn(1, 7, 100), drawn(2, 100, 5)
    got = matmul(torch.from_numpy(a), torch.from_numpy(b), product)
    assert np.array_equal(got.numpy().view(np.uint32), by_golden(a, b, product).view(np.uint32))


@EVERY_PRODUCT
def test_gradients_are_goldens_products_bit_for_bit(product: Product) -> None:
    a, b, g = drawn(3, 6, 50), drawn(4, 50, 4), drawn(5, 6, 4)
    x, y = torch.from_numpy(a).requires_grad_(), torch.from_numpy(b).requires_grad_()
    matmul(x, y, product).backward(torch.from_numpy(g))
    assert np.array_equal(x.grad.numpy(), by_golden(g, np.ascontiguousarray(b.T), product))
    assert np.array_equal(y.grad.numpy(), by_golden(np.ascontiguousarray(g.T), a, product).T)


def test_gradients_run_on_the_unit_that_is_named_for_them() -> None:
    a, b, g = drawn(3, 6, 50), drawn(4, 50, 4), drawn(5, 6, 4)
    x, y = torch.from_numpy(a).requires_grad_(), torch.from_numpy(b).requires_grad_()
    matmul(x, y, PRODUCTS["e4m3"], PRODUCTS["hybrid"]).backward(torch.from_numpy(g))
    wanted = by_golden(g, np.ascontiguousarray(b.T), PRODUCTS["hybrid"])
    assert np.array_equal(x.grad.numpy(), wanted)
    assert not np.array_equal(wanted, by_golden(g, np.ascontiguousarray(b.T), PRODUCTS["e4m3"]))


@pytest.mark.parametrize(
    ("of_a", "of_b"),
    [((5,), (5,)), ((5,), (5, 3)), ((2, 5), (5,)), ((4, 2, 5), (5, 3)), ((4, 2, 5), (4, 5, 3)), ((4, 1, 2, 5), (3, 5, 2))],
)
def test_shapes_are_those_of_torch(of_a: tuple[int, ...], of_b: tuple[int, ...]) -> None:
    """On whole numbers small enough to be exact everywhere."""
    draws = torch.Generator().manual_seed(6)
    a, b = (torch.randint(-3, 4, shape, generator=draws).float().requires_grad_() for shape in (of_a, of_b))
    product = Product(t_fdpa(F=25))
    d = matmul(a, b, product)
    assert torch.equal(d, torch.matmul(a, b))
    grads = torch.autograd.grad(d.sum(), (a, b))
    wanted = torch.autograd.grad(torch.matmul(a, b).sum(), (a, b))
    assert all(torch.equal(x, y) for x, y in zip(grads, wanted, strict=True))


def test_each_matrix_of_a_batch_is_scaled_with_the_others() -> None:
    a, b = drawn(7, 2, 3, 20), drawn(8, 2, 20, 4)
    a[0] *= 2.0**-12  # alone it would be scaled up, and keep what the common scale loses
    together = matmul(torch.from_numpy(a), torch.from_numpy(b), PRODUCTS["e4m3"])
    alone = matmul(torch.from_numpy(a[0]), torch.from_numpy(b[0]), PRODUCTS["e4m3"])
    assert not torch.equal(together[0], alone)
    assert torch.equal(together[1], matmul(torch.from_numpy(a), torch.from_numpy(b), PRODUCTS["e4m3"])[1])


@pytest.mark.parametrize(("M", "K", "N"), [(0, 4, 3), (2, 0, 3), (2, 4, 0)])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_empty_product_is_zero(M: int, K: int, N: int, batch: tuple[int, ...]) -> None:
    d = matmul(torch.ones(*batch, M, K), torch.ones(*batch, K, N), PRODUCTS["e4m3"])
    assert d.shape == (*batch, M, N)
    assert not d.any()


def test_infinite_and_undefined_numbers_stay_visible() -> None:
    a = torch.tensor([[1.0, float("nan")], [1.0, 2.0]])
    d = matmul(a, torch.ones(2, 1), PRODUCTS["e4m3"])
    assert d.isnan().tolist() == [[True], [False]]


def samples() -> list[tuple[Any, ...]]:
    text = PRODUCTS["e4m3"].text
    draws = torch.Generator().manual_seed(9)
    shapes = (((1, 3, 20), (1, 20, 2)), ((2, 4, 8), (2, 8, 3)))
    return [
        (*(torch.randn(shape, generator=draws).requires_grad_(grad) for shape in pair), text, text)
        for pair in shapes
        for grad in (False, True)
    ]


@pytest.mark.parametrize("arguments", samples(), ids=["small", "small-grad", "batch", "batch-grad"])
def test_operator_passes_torchs_own_checks(arguments: tuple[Any, ...]) -> None:
    """Schema, autograd registration, the result without data, and ahead-of-time compilation with unknown shapes."""
    found = torch.library.opcheck(torch.ops.mmau.product.default, arguments)
    assert found == dict.fromkeys(
        ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic"), "SUCCESS"
    )


@pytest.mark.parametrize(("of_a", "of_b"), [((2, 3), (4, 2)), ((), (2,)), ((3,), (4,))], ids=str)
def test_wrong_shapes_are_errors(of_a: tuple[int, ...], of_b: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"^a must be \[\.\.\., M, K\] and b \[\.\.\., K, N\] with one K, got ") as caught:
        matmul(torch.ones(of_a), torch.ones(of_b), PRODUCTS["e4m3"])
    assert str(caught.value).endswith(f"got {of_a} and {of_b}")


def test_wrong_dtype_is_an_error() -> None:
    rule = r"^b of a product on a unit must be a tensor of float32, which is quantised; got torch.float64$"
    with pytest.raises(TypeError, match=rule):
        matmul(torch.ones(2, 3), torch.ones(3, 2, dtype=torch.float64), PRODUCTS["e4m3"])


@pytest.mark.parametrize("product", [PRODUCTS["fp16"], PRODUCTS["bf16"]])
def test_tensors_on_a_gpu_have_the_same_bits(product: Product, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a stand-in for the GPU, forward and backward."""
    launched = install(monkeypatch)
    monkeypatch.setitem(OnGpu.kernels, torch.ops.mmau.product.default, operator._product)
    a, b, g = drawn(1, 3, 20), drawn(2, 20, 4), torch.from_numpy(drawn(3, 3, 4))
    found = []
    wraps: tuple[Any, ...] = (torch.Tensor.detach, OnGpu)
    for wrap in wraps:
        x, y = (wrap(torch.from_numpy(array)).requires_grad_() for array in (a, b))
        d = matmul(x, y, product)
        d.backward(wrap(g))
        found.append([d, x.grad, y.grad])
    assert launched.count("matrix_product") >= 3
    assert all(same(on_gpu, on_host) for on_host, on_gpu in zip(*found, strict=True))
