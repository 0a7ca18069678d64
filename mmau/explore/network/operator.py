"""The operator `torch.ops.mmau.product`: a matrix product in fp32 whose arithmetic is a unit's, forward and backward.

It quantises its operands (`mmau.explore.network.scaling`), multiplies their codes on golden's native engine, or on golden's
cuda engine through CuPy where the tensors are on a CUDA device, and scales the results back. Its gradients are two further
products on a unit. Importing this module registers it, and needs PyTorch.
"""

from functools import partial
from math import prod
from typing import Any

from golden.arrays import bits_dtype
from mmau.explore.network.product_arithmetic import Product, product_of
from mmau.explore.network.scaling import quantised, scale_exponent, unscaled
from mmau.frameworks.pytorch import torch


def matmul(a: Any, b: Any, product: Product, gradient: Product | None = None) -> Any:
    """a @ b, as `torch.matmul`, on a unit.

    Args:
        a, b: tensors of fp32; [M, K] and [K, N], or any shapes that `torch.matmul` takes. Each is scaled as a whole.
        product: computes it.
        gradient: computes the products of the backward pass; None for the same. The gradient of the result is its
            operand a in both, so that a unit with two formats, such as e5m2 by e4m3, has the gradient in the first.

    Raises:
        TypeError: tensors of another dtype. ValueError: shapes that do not fit.
    """
    for name, tensor in (("a", a), ("b", b)):
        if tensor.dtype != torch.float32:
            raise TypeError(
                f"{name} of a product on a unit must be a tensor of float32, which is quantised; got {tensor.dtype}"
            )
    rows, columns = a.dim() == 1, b.dim() == 1
    x, y = a.unsqueeze(0) if rows else a, b.unsqueeze(1) if columns else b
    if not x.dim() or not y.dim() or x.shape[-1] != y.shape[-2]:
        raise ValueError(f"a must be [..., M, K] and b [..., K, N] with one K, got {tuple(a.shape)} and {tuple(b.shape)}")
    texts = product.text, (gradient or product).text
    if y.dim() == 2:  # one matrix b: all rows of a in one product
        rows_of_x = x.reshape(1, prod(x.shape[:-1]), x.shape[-1])
        d = torch.ops.mmau.product(rows_of_x, y.unsqueeze(0), *texts).reshape(*x.shape[:-1], y.shape[-1])
    else:
        batch = torch.broadcast_shapes(x.shape[:-2], y.shape[:-2])
        x, y = (tensor.expand(*batch, *tensor.shape[-2:]).reshape(prod(batch), *tensor.shape[-2:]) for tensor in (x, y))
        d = torch.ops.mmau.product(x, y, *texts).reshape(*batch, x.shape[-2], y.shape[-1])
    d = d.squeeze(-1) if columns else d
    return d.squeeze(-1 if columns else -2) if rows else d


def _product(a: torch.Tensor, b: torch.Tensor, product: str, gradient: str) -> torch.Tensor:
    """D [batch, M, N] of a [batch, M, K] and b [batch, K, N], fp32; `product`, `gradient`: `Product.text`."""
    _check(a, b)
    made = product_of(product)
    (batch, M, K), N = a.shape, b.shape[2]
    if 0 in (batch, M, K, N):
        return a.new_zeros(batch, M, N)
    quantise = partial(quantised, saturate=True) if made.infinities == "saturate" else quantised
    codes, exponents = [], []
    for tensor, operand in ((a, made.unit.a), (b, made.unit.b)):
        s = scale_exponent(float(tensor.abs().max()), operand, made.unit.operation.d, K)
        codes.append(quantise(tensor * 2.0**s, operand))
        exponents.append(s)
    d = torch.stack([_multiplied(made, x, y) for x, y in zip(*codes, strict=True)])
    return unscaled(d, made.d, -sum(exponents))


def _check(a: torch.Tensor, b: torch.Tensor) -> None:
    if a.dim() != 3 or b.dim() != 3 or a.shape[0] != b.shape[0] or a.shape[2] != b.shape[1]:
        raise ValueError(f"a must be [batch, M, K] and b [batch, K, N], got {tuple(a.shape)} and {tuple(b.shape)}")
    if a.dtype != torch.float32 or b.dtype != torch.float32 or a.device != b.device:
        raise TypeError(f"a and b must be float32 on one device, got {a.dtype} on {a.device} and {b.dtype} on {b.device}")


def _multiplied(product: Product, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Codes of d, as a tensor of signed integers, of codes a [M, K] and b [K, N]."""
    words = bits_dtype(product.unit.a), bits_dtype(product.unit.b)
    signed = f"int{product.d.storage_bits}"
    if a.device.type == "cpu":
        x, y = (tensor.numpy().view(word) for tensor, word in zip((a, b), words, strict=True))
        return torch.from_numpy(product(x, y).view(signed))
    import cupy

    stream = cupy.cuda.ExternalStream(torch.cuda.current_stream(a.device).cuda_stream)
    with cupy.cuda.Device(a.device.index), stream:
        x, y = (cupy.from_dlpack(tensor).view(word) for tensor, word in zip((a, b), words, strict=True))
        return torch.from_dlpack(product(x, y).view(signed))


def _fake(a: torch.Tensor, b: torch.Tensor, product: str, gradient: str) -> torch.Tensor:
    """The result's shape, dtype and device."""
    _check(a, b)
    return a.new_empty(a.shape[0], a.shape[1], b.shape[2])


def _setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    a, b, _, ctx.gradient = inputs
    ctx.save_for_backward(a, b)


def _backward(ctx: Any, grad: Any) -> tuple[Any, ...]:
    """dL/da = g·bᵀ and dL/db = (gᵀ·a)ᵀ, both with the gradient g as operand a."""
    a, b = ctx.saved_tensors
    texts = ctx.gradient, ctx.gradient
    grad_a = torch.ops.mmau.product(grad, b.mT, *texts) if ctx.needs_input_grad[0] else None
    grad_b = torch.ops.mmau.product(grad.mT, a, *texts).mT if ctx.needs_input_grad[1] else None
    return grad_a, grad_b, None, None


operator = torch.library.custom_op("mmau::product", _product, mutates_args=(), device_types=("cpu", "cuda"))
operator.register_fake(_fake)
operator.register_autograd(_backward, setup_context=_setup_context)
