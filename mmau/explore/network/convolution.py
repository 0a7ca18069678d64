"""Convolutions as matrix products: every patch of the input is a row of A, every filter a column of B."""

from collections.abc import Callable
from typing import Any

from mmau.explore.network.pytorch import torch


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
