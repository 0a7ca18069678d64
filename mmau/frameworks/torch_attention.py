"""PyTorch's attention by matrix products, which `torch_mode` then computes as a part does."""

from collections.abc import Callable
from typing import Any

from mmau.frameworks.pytorch import torch


def attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
    scale: float | None = None, enable_gqa: bool = False, multiply: Callable[[Any, Any], Any] = torch.matmul,
) -> Any:  # fmt: skip
    """softmax(q·kᵀ·scale + mask)·v: two products, each rounded to the operands' dtype; scale and softmax in fp32.

    A fused kernel of a GPU keeps q·kᵀ in fp32 and takes v in tiles; this is the product that PyTorch's unfused path has.
    """
    if enable_gqa:
        groups = query.shape[-3] // key.shape[-3]
        key, value = key.repeat_interleave(groups, -3), value.repeat_interleave(groups, -3)
    weights = multiply(query, key.mT).float() * (query.shape[-1] ** -0.5 if scale is None else scale)
    if is_causal:
        before = torch.ones(weights.shape[-2:], dtype=torch.bool, device=weights.device).tril()
        weights = weights.masked_fill(~before, float("-inf"))
    if attn_mask is not None:
        is_kept = attn_mask.dtype == torch.bool
        weights = weights.masked_fill(~attn_mask, float("-inf")) if is_kept else weights + attn_mask
    nothing = (weights == float("-inf")).all(-1, keepdim=True)  # such a row is 0 in PyTorch, not NaN
    weights = weights.masked_fill(nothing, 0.0).softmax(-1).masked_fill(nothing, 0.0)
    return multiply(torch.nn.functional.dropout(weights, dropout_p).to(query.dtype), value)
