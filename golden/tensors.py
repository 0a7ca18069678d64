"""Torch tensors as operands, by their bits. This module never imports torch: a caller with a tensor already has."""

import sys
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt


def is_tensor(array: Any) -> bool:
    """Whether the array is a torch tensor."""
    torch: Any = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def from_tensor(tensor: Any) -> npt.NDArray[Any]:
    """The tensor as a NumPy array of the same bits, sharing its memory if it is contiguous.

    Raises:
        TypeError: a dtype that NumPy and ml_dtypes do not have, or a tensor that is not in CPU memory.
    """
    name = str(tensor.dtype).removeprefix("torch.")
    if tensor.device.type != "cpu":
        raise TypeError(f"a tensor must be in CPU memory, got one on {tensor.device}; move it with .cpu()")
    if not hasattr(ml_dtypes, name) and not hasattr(np, name):
        raise TypeError(f"a tensor must have a dtype that NumPy or ml_dtypes has, got {tensor.dtype}")
    integers: npt.NDArray[Any] = np.from_dlpack(tensor.detach().contiguous().view(_integers(tensor)))
    return integers.view(np.dtype(getattr(ml_dtypes, name, None) or name))


def to_tensor(codes: npt.NDArray[Any], dtype: np.dtype[Any] | None, like: Any) -> Any:
    """Codes as a tensor: of the float dtype if `like` is a float tensor, else of unsigned integers."""
    torch = sys.modules["torch"]
    name = str(dtype) if like.dtype.is_floating_point and dtype is not None else str(codes.dtype)
    return torch.from_numpy(codes.view(f"int{8 * codes.itemsize}")).view(getattr(torch, name))


def _integers(tensor: Any) -> Any:
    return getattr(sys.modules["torch"], f"int{8 * tensor.element_size()}")
