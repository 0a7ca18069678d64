"""The operator `torch.ops.mmau.part_matmul`: a matrix product as a named part computes it, forward and backward, in programs
that are compiled, which reach no mode.

    d = matmul(a, b, "sm_90")

It is `torch_mode.on` for one product: the same instruction, order and roundings. Importing this module registers it.
"""

from math import prod
from typing import Any

from mmau.frameworks.core import Part
from mmau.frameworks.pytorch import torch
from mmau.frameworks.torch_mode import GemmMode


def matmul(a: Any, b: Any, arch: str) -> Any:
    """a @ b, as `torch.matmul` of tensors of at least two axes, in the operands' dtype.

    Args:
        a, b: [..., M, K] and [..., K, N] of fp16, bf16 or, where the part multiplies it, another format of `torch_mode`; the
            gradient of FP8 is refused, since it has another format.
        arch: an architecture of the catalogue.

    Raises:
        ValueError: shapes that do not fit, or what the part does not multiply.
    """
    if a.dim() < 2 or b.dim() < 2 or a.shape[-1] != b.shape[-2]:
        raise ValueError(f"a must be [..., M, K] and b [..., K, N] with one K, got {tuple(a.shape)} and {tuple(b.shape)}")
    if b.dim() == 2:  # all rows of a in one product
        rows = a.reshape(1, prod(a.shape[:-1]), a.shape[-1])
        return torch.ops.mmau.part_matmul(rows, b.unsqueeze(0), arch).reshape(*a.shape[:-1], b.shape[-1])
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    x, y = (tensor.expand(*batch, *tensor.shape[-2:]).reshape(prod(batch), *tensor.shape[-2:]) for tensor in (a, b))
    return torch.ops.mmau.part_matmul(x, y, arch).reshape(*batch, a.shape[-2], b.shape[-1])


def _product(a: torch.Tensor, b: torch.Tensor, arch: str) -> torch.Tensor:
    """D [batch, M, N] of a [batch, M, K] and b [batch, K, N]."""
    mode = GemmMode(Part(arch))
    if not len(a):
        return _fake(a, b, arch)
    return torch.stack([mode.multiply(x, y) for x, y in zip(a, b, strict=True)])


def _fake(a: torch.Tensor, b: torch.Tensor, arch: str) -> torch.Tensor:
    """The result's shape, dtype and device."""
    return a.new_empty(a.shape[0], a.shape[1], b.shape[2])


def _setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    a, b, ctx.arch = inputs
    ctx.save_for_backward(a, b)


def _backward(ctx: Any, grad: Any) -> tuple[Any, ...]:
    """dL/da = g·bᵀ and dL/db = aᵀ·g, each a product of the part."""
    a, b = ctx.saved_tensors
    grad_a = torch.ops.mmau.part_matmul(grad, b.mT, ctx.arch) if ctx.needs_input_grad[0] else None
    grad_b = torch.ops.mmau.part_matmul(a.mT, grad, ctx.arch) if ctx.needs_input_grad[1] else None
    return grad_a, grad_b, None


operator = torch.library.custom_op("mmau::part_matmul", _product, mutates_args=(), device_types=("cpu", "cuda"))
operator.register_fake(_fake)
operator.register_autograd(_backward, setup_context=_setup_context)
