"""Operands as NumPy arrays: bit patterns in, bit patterns out, and every check on dtype, shape and code range.

An operand is an array of unsigned integers of the format's storage width, or of the format's own float dtype, which is
taken by its bits and never converted.
"""

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from golden.device import is_device_array
from golden.formats import Format
from golden.operations import Operation
from golden.tensors import from_tensor, is_tensor, to_tensor

BitArray = npt.NDArray[np.unsignedinteger[Any]]


def bits_dtype(operand: Format) -> np.dtype[Any]:
    """The unsigned integer dtype that carries the format's codes."""
    return _dtypes(operand.storage_bits, operand.dtype)[0]


def float_dtype(operand: Format) -> np.dtype[Any] | None:
    """The float dtype with the same bits, NumPy's or ml_dtypes'; None where there is none."""
    return _dtypes(operand.storage_bits, operand.dtype)[1]


@cache  # by the two keys, for every call asks and a format takes longer to hash
def _dtypes(storage_bits: int, dtype: str | None) -> tuple[np.dtype[Any], np.dtype[Any] | None]:
    floats = None if dtype is None else np.dtype(getattr(ml_dtypes, dtype, None) or dtype)
    return np.dtype(f"uint{storage_bits}"), floats


def to_bits(what: str, array: Any, operand: Format) -> BitArray:
    """The array's bit patterns. A torch tensor in CPU memory is taken by its bits too, without a copy.

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
    """A NumPy or CuPy array, taken as it is; a tensor as the NumPy array of its bits."""
    if isinstance(array, (np.ndarray, np.generic)):
        return np.asarray(array)
    if is_device_array(array):
        return array  # type: ignore[no-any-return]  # has what is used of NumPy's
    if is_tensor(array):
        return from_tensor(array)
    raise TypeError(f"{what} must be a NumPy array of {_accepted(operand)}, got {type(array).__name__}")


def from_bits(codes: BitArray, result: Format, like: Any) -> Any:
    """Codes as floats where `like` (the operand c) came as floats, as a tensor where it came as one, else as they are."""
    if type(like) is not np.ndarray and is_tensor(like):
        return to_tensor(codes, float_dtype(result), like)
    if like.dtype.kind == "u":
        return codes
    _, floats = _dtypes(result.storage_bits, result.dtype)
    return codes if floats is None else codes.view(floats)


def check_shape(what: str, array: npt.NDArray[Any], shape: tuple[int, ...], rule: str) -> None:
    """Raise ValueError unless the array has that shape; `rule` says why it should."""
    if array.shape != shape:
        raise ValueError(f"{what} must have shape {shape} ({rule}), got {array.shape}")


def scale_codes(what: str, given: Any, operation: Operation, shape: tuple[int, ...], rule: str) -> BitArray | None:
    """The codes of scales, None where the operation has none.

    Raises:
        TypeError: a wrong dtype.
        ValueError: scales that are missing, of another shape, or given though the operation has none.
    """
    if operation.scale_format is None:
        if given is not None:
            raise ValueError(f"{what} must be absent: {operation.name} has no scales")
        return None
    if given is None:
        raise ValueError(f"{what} is missing: {operation.name} takes one {operation.scale_format} scale a block")
    codes = to_bits(what, given, operation.scale_format)
    check_shape(what, codes, shape, rule)
    return codes


def _accepted(operand: Format) -> str:
    names = [str(bits_dtype(operand))]
    if operand.dtype is not None:
        names.append(operand.dtype)
    return " or ".join(names)
