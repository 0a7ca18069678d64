"""Whole modules: every product on the unit or refused by name, nothing else changed."""

import io
from collections.abc import Callable
from typing import Any

import pytest

from mmau.explore.network.product_arithmetic import Product
from tests.mmau.explore.network.network_units import HYBRID, t_fdpa

pytestmark = pytest.mark.peer

pytest.importorskip("torch", reason="PyTorch (extra `torch`) is not installed")

from mmau.explore.network.mapping import map_module  # noqa: E402
from mmau.explore.network.operator import matmul  # noqa: E402
from mmau.frameworks.pytorch import torch  # noqa: E402
from mmau.frameworks.torch_mode import is_product  # noqa: E402

nn, functional = torch.nn, torch.nn.functional

EXACT = Product(t_fdpa(F=25))
"""Exact on small whole numbers, so that results equal PyTorch's bit for bit."""

ROUGH = Product(t_fdpa(F=8))


def whole(seed: int, *shape: int) -> Any:
    """Whole numbers from −2 to 2."""
    return torch.randint(-2, 3, shape, generator=torch.Generator().manual_seed(seed)).float()


def with_whole_weights(module: Any) -> Any:
    for number, parameter in enumerate(module.parameters()):
        parameter.data = whole(number, *parameter.shape)
    return module


class Calls(torch.nn.Module):  # type: ignore[misc]  # torch has no types here
    """A layer that calls one function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *arguments: Any) -> Any:
        return self.function(*arguments)


LAYERS: dict[str, tuple[Callable[[], Any], tuple[int, ...]]] = {
    "linear": (lambda: nn.Linear(10, 5), (3, 10)),
    "linear without bias": (lambda: nn.Linear(10, 5, bias=False), (2, 3, 10)),
    "linear on a vector": (lambda: nn.Linear(10, 5), (10,)),
    "conv2d": (lambda: nn.Conv2d(3, 4, (3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 2)), (2, 3, 9, 8)),
    "conv2d without bias": (lambda: nn.Conv2d(2, 3, 3, bias=False), (1, 2, 5, 5)),
    "conv1d": (lambda: nn.Conv1d(3, 4, 3, stride=2, padding=1, dilation=2), (2, 3, 19)),
    "@": (lambda: Calls(lambda x: x @ x.mT), (2, 3, 4)),
    "reflected @": (lambda: Calls(lambda x: x.__rmatmul__(x.mT)), (3, 4)),
    "matmul": (lambda: Calls(lambda x: torch.matmul(x, x.mT)), (3, 4)),
    "mm": (lambda: Calls(lambda x: x.mm(x.t()) + torch.mm(x, x.t())), (3, 4)),
    "bmm": (lambda: Calls(lambda x: x.bmm(x.mT) + torch.bmm(x, x.mT)), (2, 3, 4)),
    "keywords": (lambda: Calls(lambda x: torch.mm(input=x, mat2=x.t()) + x.matmul(other=x.t())), (3, 4)),
    "linalg.matmul": (lambda: Calls(lambda x: torch.linalg.matmul(x, x.mT)), (3, 4)),
    "mv and dot": (lambda: Calls(lambda x: torch.mv(x, x[0]) + torch.dot(x[0], x[1])), (3, 4)),
    "two layers": (lambda: nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)), (5, 4)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layer_computes_what_torch_does_where_the_unit_is_exact(name: str) -> None:
    make, shape = LAYERS[name]
    layer, x = with_whole_weights(make()), whole(7, *shape).requires_grad_()
    mapped = map_module(layer, EXACT)
    d = mapped(x)
    assert torch.equal(d, layer(x))
    leaves = (x, *layer.parameters())
    grads = torch.autograd.grad(d.sum(), leaves)
    assert all(torch.equal(a, b) for a, b in zip(grads, torch.autograd.grad(layer(x).sum(), leaves), strict=True))
    assert mapped.products


@pytest.mark.parametrize("name", LAYERS)
def test_layer_runs_on_the_unit(name: str) -> None:
    """On numbers that it rounds, no layer gives PyTorch's results: none was left out."""
    make, shape = LAYERS[name]
    torch.manual_seed(0)
    layer, x = make(), torch.randn(shape)
    assert not torch.equal(map_module(layer, ROUGH)(x), layer(x))


@pytest.mark.parametrize("mask", ["none", "causal", "boolean", "added"])
def test_attention_is_two_products_and_a_softmax(mask: str) -> None:
    torch.manual_seed(2)
    q, k, v = torch.randn(3, 2, 5, 8).unbind(0)
    kept = torch.ones(5, 5).tril().bool()
    keys = {
        "none": {}, "causal": {"is_causal": True}, "boolean": {"attn_mask": kept},
        "added": {"attn_mask": torch.zeros(5, 5).masked_fill(~kept, float("-inf"))},
    }[mask]  # fmt: skip
    mapped = map_module(Calls(lambda: functional.scaled_dot_product_attention(q, k, v, **keys)), ROUGH)
    weights = matmul(q, k.mT, ROUGH) * 8**-0.5
    if keys:
        weights = weights.masked_fill(~kept, float("-inf"))
    assert torch.equal(mapped(), matmul(weights.softmax(-1), v, ROUGH))
    assert mapped.products == {"": {(5, 8, 5), (5, 5, 8)}}


def test_attention_of_a_position_that_may_attend_to_none_is_zero() -> None:
    """As in PyTorch, whose gradients then are no NaN either."""
    q = torch.randn(1, 4, 8, generator=torch.Generator().manual_seed(3)).requires_grad_()
    kept = torch.ones(4, 4).bool()
    kept[1] = False
    module = Calls(lambda x: functional.scaled_dot_product_attention(x, x, x, attn_mask=kept))
    d = map_module(module, ROUGH)(q)
    assert not d[0, 1].any()
    assert not module(q)[0, 1].any()
    (grad,) = torch.autograd.grad(d.sum(), q)
    assert grad.isfinite().all()


def test_gradients_take_their_own_unit() -> None:
    torch.manual_seed(3)
    layer, x = nn.Linear(20, 5), torch.randn(3, 20)
    found = []
    for gradient in (None, Product(HYBRID)):
        layer.zero_grad()
        map_module(layer, ROUGH, gradient=gradient)(x).square().sum().backward()
        found.append(layer.weight.grad.clone())
    assert not torch.equal(*found)


def test_convolution_of_an_empty_batch_is_empty() -> None:
    assert map_module(nn.Conv2d(1, 2, 3), EXACT)(torch.ones(0, 1, 8, 8)).shape == (0, 2, 6, 6)


def test_mapped_module_can_be_saved() -> None:
    torch.manual_seed(5)
    mapped, x, kept = map_module(nn.Linear(4, 3), ROUGH), torch.randn(2, 4), io.BytesIO()
    torch.save(mapped, kept)
    kept.seek(0)
    assert torch.equal(torch.load(kept, weights_only=False)(x), mapped(x))


def test_products_are_listed_by_layer() -> None:
    class Two(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten())
            self.head = nn.Linear(2 * 36, 3)

        def forward(self, x: Any) -> Any:
            return self.head(self.inner(x)) @ torch.ones(3, 1)

    mapped = map_module(Two(), EXACT)
    seen: list[str] = []
    mapped.on_product = lambda layer, a, b: seen.append(layer)
    mapped(torch.ones(5, 1, 8, 8))
    assert mapped.products == {"inner.0": {(180, 9, 2)}, "head": {(5, 72, 3)}, "": {(5, 3, 1)}}
    assert seen == ["inner.0", "head", ""]


FIX = "write it with linear layers, convolutions or matmul, or name it in skip to leave it to PyTorch"


def test_layers_of_a_type_that_cannot_be_mapped_are_named_before_anything_runs() -> None:
    module = nn.Sequential(nn.Linear(4, 4), nn.LSTM(4, 4), nn.ModuleDict({"mix": nn.Bilinear(4, 4, 2)}))
    with pytest.raises(
        ValueError, match=rf"^layer 1 \(LSTM\), layer 2\.mix \(Bilinear\) cannot be mapped to a unit: {FIX}$"
    ):
        map_module(module, EXACT)
    with pytest.raises(ValueError, match=r"^the module itself \(GRU\) cannot be mapped to a unit: "):
        map_module(nn.GRU(4, 4), EXACT)


ESCAPES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "einsum": (lambda x: torch.einsum("ij,kj->ik", x, x), "aten::bmm"),
    "tensordot": (lambda x: torch.tensordot(x, x, 1), "aten::mm"),
    "addmm": (lambda x: torch.addmm(x, x, x), "aten::addmm"),
    "addmm in place": (lambda x: x.clone().addmm_(x, x), "aten::addmm_"),
    "addmm and relu": (lambda x: torch._addmm_activation(x[0], x, x), "aten::_addmm_activation"),
    "sparse": (lambda x: torch.sparse.mm(x.detach().to_sparse(), x), "aten::_sparse_addmm"),
    "conv_tbc": (lambda x: torch.conv_tbc(x[None], torch.ones(1, 4, 2), torch.ones(2)), "aten::conv_tbc"),
    "baddbmm": (lambda x: torch.baddbmm(x[None], x[None], x[None]), "aten::baddbmm"),
    "inner": (lambda x: torch.inner(x, x), "aten::mm"),
    "cdist": (lambda x: torch.cdist(x, x), "aten::_cdist_forward"),
    "bilinear": (lambda x: functional.bilinear(x, x, torch.ones(2, 4, 4)), "aten::_trilinear"),
    "transposed": (lambda x: functional.conv_transpose1d(x[None], torch.ones(4, 2, 3)), "aten::convolution"),
    "conv3d": (lambda x: functional.conv3d(x.reshape(1, 1, 2, 2, 4), torch.ones(1, 1, 2, 2, 2)), "aten::convolution"),
    "groups": (
        lambda x: functional.conv1d(x[None], torch.ones(4, 1, 2), groups=4),
        "a convolution with groups, with padding given by name, or without a batch",
    ),
    "keyword": (lambda x: torch.mm(x, x, out=torch.empty(4, 4)), "a matrix product with the keyword out"),
    "two masks": (
        lambda x: functional.scaled_dot_product_attention(
            x[None], x[None], x[None], attn_mask=x.detach().bool(), is_causal=True
        ),
        "attention with both attn_mask and is_causal",
    ),
    "power": (lambda x: torch.linalg.matrix_power(x, 3), "aten::mm"),
    "gqa": (
        lambda x: functional.scaled_dot_product_attention(x[None], x[None], x[None], enable_gqa=True),
        "attention with enable_gqa",
    ),
}


@pytest.mark.parametrize("name", ESCAPES)
@pytest.mark.parametrize("with_grad", [False, True])
def test_product_of_another_function_is_refused_with_the_layers_name(name: str, with_grad: bool) -> None:
    function, called = ESCAPES[name]
    x = torch.ones(4, 4).requires_grad_(with_grad and name != "keyword")
    mapped = map_module(nn.Sequential(nn.Flatten(), Calls(function)), EXACT)
    with pytest.raises(ValueError, match=r"^layer 1 \(Calls\) cannot be mapped to a unit: it calls ") as caught:
        mapped(x)
    assert str(caught.value) == f"layer 1 (Calls) cannot be mapped to a unit: it calls {called}; {FIX}"


def test_skipped_layers_are_left_to_torch_and_listed() -> None:
    torch.manual_seed(4)
    module = nn.Sequential(
        nn.Linear(6, 6), nn.Sequential(nn.GRU(6, 3)), Calls(lambda x: torch.einsum("ij,kj->ik", x[0], x[0]))
    )
    x = torch.randn(5, 6)
    mapped = map_module(module, ROUGH, skip=["1", "2"])
    first = map_module(module[0], ROUGH)(x)
    assert torch.equal(mapped(x), module[2](module[1](first)))
    assert mapped.skipped == ("1", "2")
    assert list(mapped.products) == ["0"]


def test_layer_runs_as_before_after_a_refusal() -> None:
    module = nn.Sequential(nn.Linear(4, 4), Calls(lambda x: torch.einsum("ij,kj->ik", x, x)))
    mapped = map_module(module, EXACT)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"^layer 1 \(Calls\) "):
            mapped(torch.ones(2, 4))
    assert torch.equal(module(torch.ones(2, 4)), module[1](module[0](torch.ones(2, 4))))
    assert all(not layer._forward_hooks and not layer._forward_pre_hooks for layer in module.modules())


def test_wrong_arguments_are_errors() -> None:
    with pytest.raises(TypeError, match=r"^module must be a torch.nn.Module, got function$"):
        map_module(lambda x: x, EXACT)
    with pytest.raises(TypeError, match=r"^product must be a Product, got Unit\("):
        map_module(nn.Linear(2, 2), t_fdpa())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^gradient must be a Product or a NoneType, got 'e5m2'$"):
        map_module(nn.Linear(2, 2), EXACT, gradient="e5m2")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^skip must be a list of names of layers, got '0': write \['0'\]$"):
        map_module(nn.Sequential(nn.Linear(2, 2)), EXACT, skip="0")
    with pytest.raises(ValueError, match=r"^skip must be one of , 0, 1; got '2'$"):
        map_module(nn.Sequential(nn.Linear(2, 2), nn.ReLU()), EXACT, skip=["2"])


def test_products_of_torch_are_recognised_by_the_words_of_their_names() -> None:
    names = {schema.name.removeprefix("aten::") for schema in torch._C._jit_get_all_schemas()}
    products = ("addmm_", "_scaled_mm", "mv", "_trilinear", "mkldnn_linear", "_slow_conv2d_forward", "lstm")
    others = ("mul", "cummax", "upsample_bilinear2d", "_softmax", "native_batch_norm", "clamp", "lgamma")
    assert names.issuperset(products + others)
    assert [name for name in products + others if is_product(name)] == list(products)


@pytest.mark.parametrize("rows", [3, 30])
@pytest.mark.parametrize("name", ["cdist", "matrix_exp"])
def test_products_inside_other_functions_are_refused(name: str, rows: int) -> None:
    """With many rows `cdist` goes through an operator of another name, which multiplies matrices too."""

    class Calling(torch.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return torch.cdist(x, x) if name == "cdist" else torch.matrix_exp(x)

    x = whole(1, rows, rows)
    with pytest.raises(ValueError, match=r"^the module itself \(Calling\) cannot be mapped to a unit: it calls aten::"):
        map_module(Calling(), EXACT)(x)
