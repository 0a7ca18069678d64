"""Gradients of matrix products of tensors: each is a product of the same model, in the same order."""

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from golden.products.gemm_order import GemmOrder
from golden.units.instruction import Instruction
from golden.units.unit import Unit


def needs_gradient(*operands: Any) -> bool:
    """Whether any is a tensor that requires a gradient."""
    return any(getattr(x, "requires_grad", False) for x in operands)


def with_gradients(
    product: Callable[..., Any], model: Instruction | Unit, order: GemmOrder, others: tuple[Any, ...], A: Any, B: Any, C: Any
) -> Any:  # fmt: skip
    """D = A·B + C by `product(A, B, C)`, with the gradients g·Bᵀ of A, Aᵀ·g of B and g of C. The gradient g of D is rounded
    to the dtype of the operands, as a framework does, and so is each result.

    Args:
        others: scales and bias, where the call has any.

    Raises:
        ValueError: a product whose gradients are none of the same model.
    """
    why = (
        f"scales and a bias, or one of {', '.join(order.epilogue)}" if order.epilogue or any(x is not None for x in others)
        else f"operands of {model.a} and {model.b}" if model.a != model.b or model.a.storage_bits < 16
        else ""
    )  # fmt: skip
    if why:
        raise ValueError(
            "the gradients of golden.gemm are products of the same model: A and B must have one format of 16 bits or more, "
            f"and the product no scales, bias or epilogue; {model.name} has {why}: give A.detach(), B.detach(), C.detach()"
        )
    return _function().apply(product, A, B, C)


@cache
def _function() -> Any:
    """The product as a function of PyTorch's autograd."""
    torch = sys.modules["torch"]

    class Product(torch.autograd.Function):  # type: ignore[name-defined,misc]  # PyTorch is optional
        @staticmethod
        def forward(ctx: Any, product: Callable[..., Any], A: Any, B: Any, C: Any) -> Any:
            ctx.product, ctx.dtype_of_c = product, None if C is None else C.dtype
            ctx.save_for_backward(A, B)
            return product(*(None if x is None else x.detach() for x in (A, B, C)))

        @staticmethod
        @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
        def backward(ctx: Any, grad: Any) -> tuple[Any, ...]:
            (A, B), (_, of_a, of_b, of_c) = ctx.saved_tensors, ctx.needs_input_grad
            A, B, g = A.detach(), B.detach(), grad.to(A.dtype)
            return (
                None,
                ctx.product(g, B.mT, None).to(A.dtype) if of_a else None,
                ctx.product(A.mT, g, None).to(B.dtype) if of_b else None,
                grad.to(ctx.dtype_of_c) if of_c else None,
            )

    return Product
