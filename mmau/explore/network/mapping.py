"""A PyTorch module whose matrix products run on a unit, with the code and parameters of the original module.

While the module runs, calls of PyTorch's products (linear layers, convolutions of one and two dimensions, `matmul`, `@`,
`mm`, `bmm`, scaled dot-product attention) go to the unit; everything else runs in PyTorch, in fp32. Layers that multiply
matrices in another way are refused, so that every product of the forward pass runs on the unit: by the type of the layer
before anything runs, or else when a product reaches a kernel of PyTorch. In the backward pass only the gradients of these
products are checked, neither the `backward` of an autograd.Function nor the recomputation of a checkpoint.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from math import prod
from typing import Any

from golden.checks import check_type, listed, unknown
from mmau.explore.network.operator import matmul
from mmau.explore.network.product_arithmetic import Product
from mmau.frameworks.pytorch import torch
from mmau.frameworks.torch_mode import attention, is_product

functional = torch.nn.functional

FIX = "write it with linear layers, convolutions or matmul, or name it in skip to leave it to PyTorch"

REFUSED_LAYERS: tuple[Any, ...] = (
    torch.nn.RNNBase, torch.nn.RNNCellBase, torch.nn.Bilinear, torch.nn.MultiheadAttention, torch.nn.Conv3d,
    torch.nn.ConvTranspose1d, torch.nn.ConvTranspose2d, torch.nn.ConvTranspose3d,
)  # fmt: skip
"""Layers whose products are not calls of the functions that are mapped."""


def map_module(
    module: Any, product: Product, *, gradient: Product | None = None, skip: Collection[str] = ()
) -> "MappedModule":
    """The module with its matrix products on a unit, in forward and backward. Parameters are shared with it.

    Args:
        module: a `torch.nn.Module` with parameters of fp32.
        product: computes the forward products.
        gradient: computes the backward products; None for the same.
        skip: names of layers, as of `named_modules`, that are left to PyTorch, with all that is in them.

    Raises:
        TypeError: no module, no product, or skip a text. ValueError: layers that cannot be mapped and are not skipped, or a
            skipped name that is none.
    """
    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"module must be a torch.nn.Module, got {type(module).__name__}")
    check_type("product", product, Product)
    check_type("gradient", gradient, Product, type(None))
    if isinstance(skip, str):
        raise TypeError(f"skip must be a list of names of layers, got {skip!r}: write [{skip!r}]")
    layers = dict(module.named_modules())
    for name in skip:
        if name not in layers:
            raise ValueError(unknown("skip", name, list(layers)))
    mapped = MappedModule(module, product, gradient, skip)
    reasons = [
        f"{_called(name)} ({type(layer).__name__})"
        for name, layer in layers.items()
        if isinstance(layer, REFUSED_LAYERS) and not mapped.is_skipped(name)
    ]
    if reasons:
        raise ValueError(f"{listed(reasons)} cannot be mapped to a unit: {FIX}")
    return mapped


class MappedModule(torch.nn.Module):  # type: ignore[misc]  # torch has no types here
    """The result of `map_module`, which is called like the module.

    Attributes:
        module: the module.
        products: for each layer that ran, the shapes (M, K, N) of its forward products; where b is a batch of matrices,
            those
            of one of them. The backward products sum over N and over M.
        skipped: names of the layers that are left to PyTorch.
        on_product: function that is called with the layer's name and the operands before each forward product.
    """

    def __init__(self, module: Any, product: Product, gradient: Product | None, skip: Collection[str]) -> None:
        super().__init__()
        self.module = module
        self.product, self.gradient = product, gradient
        self.skipped = tuple(skip)
        self.products: dict[str, set[tuple[int, int, int]]] = {}
        self.on_product: Callable[[str, Any, Any], None] = _ignore
        self._running: list[str] = []

    def is_skipped(self, name: str) -> bool:
        """Whether a layer is left to PyTorch, by itself or with one that it is in."""
        return any(name == one or name.startswith(f"{one}.") or not one for one in self.skipped)

    def forward(self, *arguments: Any, **keys: Any) -> Any:
        with self._names_of_layers(), _Kernels(self), _Functions(self):
            return self.module(*arguments, **keys)

    @contextmanager
    def _names_of_layers(self) -> Iterator[None]:
        """Within it, `_running` ends with the name of the layer that runs."""
        with ExitStack() as hooks:
            hooks.callback(self._running.clear)
            for name, layer in self.module.named_modules():
                before = layer.register_forward_pre_hook(lambda *_, name=name: self._running.append(name))
                after = layer.register_forward_hook(lambda *_: self._leave(), always_call=True)
                hooks.callback(before.remove)
                hooks.callback(after.remove)
            yield

    def _leave(self) -> None:
        self._running.pop()

    @property
    def layer(self) -> str:
        """Name of the layer that runs; empty for the module itself."""
        return self._running[-1] if self._running else ""

    def multiply(self, a: Any, b: Any) -> Any:
        """A product of the layer that runs, on the unit."""
        self.on_product(self.layer, a, b)
        M = a.shape[-2] if b.dim() > 2 and a.dim() > 1 else prod(a.shape[:-1])
        self.products.setdefault(self.layer, set()).add((M, a.shape[-1], b.shape[-1] if b.dim() > 1 else 1))
        return matmul(a, b, self.product, self.gradient)

    def refusal(self, operator: str) -> ValueError:
        """The error for a product of this operator, which is not mapped."""
        kind = type(self.module.get_submodule(self.layer)).__name__
        return ValueError(f"{_called(self.layer)} ({kind}) cannot be mapped to a unit: it calls {operator}; {FIX}")


def _ignore(layer: str, a: Any, b: Any) -> None:
    """The default of `on_product`; with a lambda the module could not be saved."""


def _called(layer: str) -> str:
    return f"layer {layer}" if layer else "the module itself"


class _Functions(torch.overrides.TorchFunctionMode):  # type: ignore[misc]
    """Sends PyTorch's products to the unit."""

    def __init__(self, mapped: MappedModule) -> None:
        super().__init__()
        self.mapped = mapped

    def __torch_function__(self, function: Any, types: Any, arguments: Any = (), keys: Any = None) -> Any:
        on_unit = FUNCTIONS.get(function)
        if on_unit is None or self.mapped.is_skipped(self.mapped.layer):
            return function(*arguments, **(keys or {}))
        return on_unit(self.mapped, *arguments, **(keys or {}))


class _Kernels(torch.utils._python_dispatch.TorchDispatchMode):  # type: ignore[misc]
    """Refuses every product that reaches PyTorch's kernels."""

    def __init__(self, mapped: MappedModule) -> None:
        super().__init__()
        self.mapped = mapped

    def __torch_dispatch__(self, function: Any, types: Any, arguments: Any = (), keys: Any = None) -> Any:
        name = function.overloadpacket.__name__
        if function.namespace == "aten" and is_product(name) and not self.mapped.is_skipped(self.mapped.layer):
            raise self.mapped.refusal(f"aten::{name}")
        return function(*arguments, **(keys or {}))


OPERANDS = (("input", "self"), ("other", "mat2", "vec", "tensor"))
"""Keywords for a and for b, as PyTorch's products have them."""


def _matmul(mapped: MappedModule, *operands: Any, **keys: Any) -> Any:
    for names in OPERANDS[len(operands) :]:
        operands += tuple(keys.pop(name) for name in names if name in keys)
    if keys:
        raise mapped.refusal(f"a matrix product with the keyword {listed(keys)}")
    return mapped.multiply(*operands)


def _reflected(mapped: MappedModule, b: Any, a: Any) -> Any:
    return mapped.multiply(a, b)


def _linear(mapped: MappedModule, input: Any, weight: Any, bias: Any = None) -> Any:
    d = mapped.multiply(input, weight.t())
    return d if bias is None else d + bias


def _convolution(mapped: MappedModule, *arguments: Any, **keys: Any) -> Any:
    try:
        return convolution(mapped.multiply, *arguments, **keys)
    except NotImplementedError as error:
        raise mapped.refusal(str(error)) from error


def _attention(
    mapped: MappedModule, query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0,
    is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False,
) -> Any:  # fmt: skip
    """softmax(q·kᵀ·scale + mask)·v, the products on the unit."""
    if enable_gqa:
        raise mapped.refusal("attention with enable_gqa")
    if is_causal and attn_mask is not None:
        raise mapped.refusal("attention with both attn_mask and is_causal")
    return attention(query, key, value, attn_mask, dropout_p, is_causal, scale, multiply=mapped.multiply)


FUNCTIONS: Mapping[Any, Callable[..., Any]] = {
    functional.linear: _linear,
    functional.conv1d: _convolution,
    functional.conv2d: _convolution,
    functional.scaled_dot_product_attention: _attention,
    torch.Tensor.__rmatmul__: _reflected,
    **dict.fromkeys((torch.matmul, torch.linalg.matmul, torch.mm, torch.bmm, torch.mv, torch.dot), _matmul),
    **dict.fromkeys((torch.Tensor.matmul, torch.Tensor.__matmul__), _matmul),
    **dict.fromkeys((torch.Tensor.mm, torch.Tensor.bmm, torch.Tensor.mv, torch.Tensor.dot), _matmul),
}
"""The mapped modules, each with its replacement."""


def convolution(
    multiply: Callable[[Any, Any], Any], input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0,
    dilation: Any = 1, groups: int = 1,
) -> Any:  # fmt: skip
    """A convolution of one or two dimensions as `torch.conv1d` and `torch.conv2d` have it, by one matrix product.

    Args:
        multiply: the product, of a [batch·positions, C·kernel] and b [C·kernel, filters].
        input: [batch, C, W] or [batch, C, H, W]. weight: [filters, C, kernel…].

    Raises:
        NotImplementedError: groups, padding by name, or an input without a batch.
    """
    dimensions = weight.dim() - 2
    if groups != 1 or isinstance(padding, str) or input.dim() != weight.dim():
        raise NotImplementedError("a convolution with groups, with padding given by name, or without a batch")
    stride, padding, dilation = ((v,) * dimensions if isinstance(v, int) else tuple(v) for v in (stride, padding, dilation))
    stride, padding, dilation = (v * dimensions if len(v) == 1 else v for v in (stride, padding, dilation))
    if dimensions == 1:  # as one row of an image
        image, filters = input.unsqueeze(2), weight.unsqueeze(2)
        stride, padding, dilation = (1, *stride), (0, *padding), (1, *dilation)
    else:
        image, filters = input, weight
    kernel = filters.shape[2:]
    size = [
        (length + 2 * p - d * (k - 1) - 1) // s + 1
        for length, p, d, k, s in zip(image.shape[2:], padding, dilation, kernel, stride, strict=True)
    ]
    patches = torch.nn.functional.unfold(image, kernel, dilation, padding, stride)  # [batch, C·kernel, positions]
    rows = patches.transpose(1, 2).reshape(patches.shape[0] * patches.shape[2], patches.shape[1])
    d = multiply(rows, filters.flatten(1).t())
    if bias is not None:
        d = d + bias
    d = d.reshape(input.shape[0], patches.shape[2], weight.shape[0]).transpose(1, 2)
    return d.reshape(input.shape[0], weight.shape[0], *size[2 - dimensions :])
