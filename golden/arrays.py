"""Operands and results as arrays of NumPy, CuPy or PyTorch: bit patterns, and checks of dtype, shape and code range.

An operand is an array of unsigned integers of the format's storage width, or of the format's float dtype, whose bit patterns
are read without conversion. Results come back as the caller's kind of array, on the caller's device. Packed arrays with two
codes in a byte are unpacked.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from golden.arithmetic.formats import E2M1, Format
from golden.operations import Operation

if TYPE_CHECKING:
    from golden.tensor_array import TensorArray


def is_tensor(array: Any) -> bool:
    """Whether the array is a torch tensor."""
    torch: Any = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def from_tensor(tensor: Any) -> npt.NDArray[Any]:
    """The tensor as a NumPy array of the same bits, sharing its memory if it is contiguous.

    Raises:
        TypeError: a dtype that NumPy and ml_dtypes do not have, or a tensor on a device without an engine.
    """
    name = str(tensor.dtype).removeprefix("torch.")
    if tensor.device.type != "cpu":
        raise TypeError(
            f"a tensor must be in CPU memory or on a GPU of NVIDIA or AMD, got one on {tensor.device}; move it with .cpu()"
        )
    if not hasattr(ml_dtypes, name) and not hasattr(np, name):
        raise TypeError(f"a tensor must have a dtype that NumPy or ml_dtypes has, got {tensor.dtype}")
    integers: npt.NDArray[Any] = np.from_dlpack(tensor.detach().contiguous().view(_integers(tensor)))
    return integers.view(np.dtype(getattr(ml_dtypes, name, None) or name))


def to_tensor(codes: Any, dtype: np.dtype[Any] | None, like: Any) -> Any:
    """Codes as a tensor: of the float dtype if `like` is a float tensor, else of unsigned integers."""
    torch = sys.modules["torch"]
    name = str(dtype) if like.dtype.is_floating_point and dtype is not None else str(codes.dtype)
    on_host = isinstance(codes, np.ndarray)
    integers = torch.from_numpy(codes.view(f"int{8 * codes.itemsize}")) if on_host else codes.tensor
    return integers.view(getattr(torch, name))


def is_gpu_tensor(array: Any) -> bool:
    """Whether the array is a torch tensor on a GPU, NVIDIA's or AMD's, which have the same name in PyTorch."""
    return is_tensor(array) and array.device.type == "cuda"


def _on_device(what: str, tensor: Any, operand: Format) -> "TensorArray":
    """The codes of a tensor on a GPU, in its memory.

    Raises:
        TypeError: another dtype than the operand's.
    """
    from golden.tensor_array import TensorArray  # NumPy's arrays do without

    bits, floats = _dtypes(operand.storage_bits, operand.dtype)
    if str(tensor.dtype).removeprefix("torch.") not in (str(bits), str(floats)):
        raise TypeError(f"{what} must have dtype {_accepted(operand)} for {operand}, got {tensor.dtype}")
    return TensorArray(tensor.detach().contiguous().view(_integers(tensor)), bits)


@contextmanager
def on_device_of(*operands: Any) -> Iterator[None]:
    """Within it PyTorch computes on the device of tensors on a GPU; without such nothing changes.

    Raises:
        ValueError: tensors on different devices.
    """
    devices = {str(x.device): x.device for x in operands if is_tensor(x)}
    if len(devices) > 1:
        raise ValueError(f"operands must be on one device, got tensors on {' and '.join(sorted(devices))}")
    if not any(is_gpu_tensor(x) for x in operands):
        yield
        return
    (device,) = devices.values()
    with sys.modules["torch"].cuda.device(device):
        yield


def _integers(tensor: Any) -> Any:
    return getattr(sys.modules["torch"], f"int{8 * tensor.element_size()}")


PACKED = "torch.float4_e2m1fn_x2"
"""Name of torch's dtype of two codes of e2m1 in a byte, the low half first."""


def unpacked(matrix: Any, axis: int, form: Format) -> Any:
    """A matrix of two codes of e2m1 in a byte as one of single codes, whose axis is twice as long, where the format is that;
    anything else unchanged."""
    if not is_tensor(matrix) or str(matrix.dtype) != PACKED or form != E2M1 or matrix.ndim != 2:
        return matrix
    torch = sys.modules["torch"]
    halves = matrix.view(torch.uint8)
    return torch.stack([halves & 0xF, halves >> 4], axis + 1).flatten(axis, axis + 1)


def stacked(matrices: list[Any]) -> Any:
    """Matrices of one kind along a new first axis."""
    return sys.modules["torch"].stack(matrices) if is_tensor(matrices[0]) else np.stack(matrices)


def is_device_array(array: Any) -> bool:
    """Whether the array is on a GPU: the codes of a tensor, or a CuPy array. CuPy is not imported to find out: a caller with
    a CuPy array already has."""
    loaded = ((sys.modules.get(name), kind) for name, kind in (("golden.tensor_array", "TensorArray"), ("cupy", "ndarray")))
    return any(module is not None and isinstance(array, getattr(module, kind)) for module, kind in loaded)


BitArray = npt.NDArray[np.unsignedinteger[Any]]


def contiguous(array: BitArray) -> BitArray:
    """The array with its elements side by side, by rows, on its own device."""
    return np.ascontiguousarray(array) if isinstance(array, np.ndarray) else np.copy(array, order="C")


def bits_dtype(operand: Format) -> np.dtype[Any]:
    """The unsigned integer dtype that carries the format's codes."""
    return _dtypes(operand.storage_bits, operand.dtype)[0]


def float_dtype(operand: Format) -> np.dtype[Any] | None:
    """The float dtype with the same bits, from NumPy or ml_dtypes; None if neither has one."""
    return _dtypes(operand.storage_bits, operand.dtype)[1]


@cache  # keyed by two attributes, because hashing a Format takes longer and every call does it
def _dtypes(storage_bits: int, dtype: str | None) -> tuple[np.dtype[Any], np.dtype[Any] | None]:
    floats = None if dtype is None else np.dtype(getattr(ml_dtypes, dtype, None) or dtype)
    return np.dtype(f"uint{storage_bits}"), floats


def to_bits(what: str, array: Any, operand: Format) -> BitArray:
    """Return the array's bit patterns, without a copy; torch tensors in CPU memory and on GPUs are accepted too.

    Raises:
        TypeError: not a NumPy array, or of another dtype.
        ValueError: a code that the format does not have (FP6 and FP4 in a uint8).
    """
    codes = array if type(array) is np.ndarray else _as_array(what, array, operand)
    bits, floats = _dtypes(operand.storage_bits, operand.dtype)
    if codes.dtype == floats:
        codes = codes.view(bits)
    elif codes.dtype != bits:
        raise TypeError(f"{what} must have dtype {_accepted(operand)} for {operand}, got {codes.dtype}")
    if operand.width < operand.storage_bits and codes.size and int(codes.max()) >= operand.codes:
        raise ValueError(f"{what}: {operand} codes are 0 … {operand.codes - 1:#x}, got {int(codes.max()):#x}")
    return codes


def _as_array(what: str, array: Any, operand: Format) -> npt.NDArray[Any]:
    """A NumPy or CuPy array unchanged; a torch tensor as the NumPy array of its bits."""
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"{what} must be an array without a mask, which no unit has; got a masked array: fill it first")
    if isinstance(array, (np.ndarray, np.generic)):
        return np.asarray(array)
    if is_device_array(array):
        return array  # type: ignore[no-any-return]  # has the part of NumPy's interface that is used
    if is_gpu_tensor(array):
        return _on_device(what, array, operand)  # type: ignore[return-value]  # as above
    if is_tensor(array):
        return from_tensor(array)
    raise TypeError(f"{what} must be a NumPy array of {_accepted(operand)}, got {type(array).__name__}")


def from_bits(codes: BitArray, result: Format, like: Any) -> Any:
    """Return codes in the kind of `like` (operand c): as floats, as a torch tensor, or unchanged as bit patterns."""
    if type(like) is not np.ndarray and is_tensor(like):
        return to_tensor(codes, float_dtype(result), like)
    if like.dtype.kind == "u":
        return codes
    _, floats = _dtypes(result.storage_bits, result.dtype)
    return codes if floats is None else codes.view(floats)


def check_shape(what: str, array: npt.NDArray[Any], shape: tuple[int, ...], rule: str) -> None:
    """Raise ValueError unless the array has that shape; `rule` is the reason, for the message."""
    if array.shape != shape:
        raise ValueError(f"{what} must have shape {shape} ({rule}), got {array.shape}")


def scale_codes(
    what: str, given: Any, operation: Operation, shape: tuple[int, ...], rule: str, like: Any
) -> BitArray | None:
    """The codes of scales; None if the operation has none, and ones where it has scales of the other side alone.

    Args:
        like: an array of the kind that the codes should be of.

    Raises:
        TypeError: a wrong dtype.
        ValueError: scales that are missing, of another shape, or given though the operation has none.
    """
    if operation.scale_format is None:
        check_no_scales(what, given, operation)
        return None
    if what not in operation.scale_operands:
        one = operation.scale_format.encode(1)
        if given is not None and bool((to_bits(what, given, operation.scale_format) != one).any()):
            check_no_scales(what, given, operation)
        return np.full_like(like, one, bits_dtype(operation.scale_format), shape=shape)
    if given is None:
        raise ValueError(f"{what} is missing: {operation.name} takes one {operation.scale_format} scale a block")
    codes = to_bits(what, given, operation.scale_format)
    check_shape(what, codes, shape, rule)
    return codes


def check_no_scales(what: str, given: Any, operation: Operation) -> None:
    """Raise ValueError if scales are given that the operation does not have."""
    if given is not None and what not in operation.scale_operands:
        has = f'scales = "{operation.scale_operands[0][-1]}"' if operation.scale_operands else "no scales"
        raise ValueError(f"{what} must be absent: {operation.name} has {has}")


def _accepted(operand: Format) -> str:
    names = [str(bits_dtype(operand))]
    if operand.dtype is not None:
        names.append(operand.dtype)
    return " or ".join(names)
