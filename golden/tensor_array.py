"""Tensors of PyTorch on a GPU, NVIDIA's or AMD's, as golden's products use arrays: bit patterns, and the functions of NumPy
that products call.

PyTorch has little arithmetic on unsigned integers: a tensor of codes holds signed integers of the same bits, and what is
computed of them is computed in 64 bits.
"""

import operator
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

_OPERATORS: Mapping[str, Callable[..., Any]] = {
    "add": operator.add, "subtract": operator.sub, "bitwise_and": operator.and_, "bitwise_or": operator.or_,
    "left_shift": operator.lshift, "right_shift": operator.rshift, "equal": operator.eq, "not_equal": operator.ne,
    "greater": operator.gt, "invert": operator.invert,
}  # fmt: skip
"""NumPy's functions of elements that products call."""

_COMPARISONS = ("equal", "not_equal", "greater")


class TensorArray(NDArrayOperatorsMixin):
    """A tensor on a GPU by the part of NumPy's interface that products use; anything else of NumPy raises TypeError.

    Attributes:
        tensor: of bool, a float dtype, or signed integers whose bits are those of `dtype`.
        dtype: NumPy's.
    """

    def __init__(self, tensor: Any, dtype: Any) -> None:
        self.tensor, self.dtype = tensor, np.dtype(dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.tensor.shape)

    @property
    def ndim(self) -> int:
        return int(self.tensor.dim())

    @property
    def size(self) -> int:
        return int(self.tensor.numel())

    @property
    def itemsize(self) -> int:
        return int(self.dtype.itemsize)

    @property
    def T(self) -> "TensorArray":
        return self._like(self.tensor.T)

    def __len__(self) -> int:
        return len(self.tensor)

    def _like(self, tensor: Any) -> "TensorArray":
        return TensorArray(tensor, self.dtype)

    def view(self, dtype: Any) -> "TensorArray":
        return TensorArray(self.tensor.view(_torch_dtype(np.dtype(dtype))), dtype)

    def astype(self, dtype: Any) -> "TensorArray":
        return TensorArray(self._values().to(_torch_dtype(np.dtype(dtype))), dtype)

    def reshape(self, *shape: Any) -> "TensorArray":
        return self._like(self.tensor.reshape(*shape))

    def max(self) -> int:
        return int(self._values().max())

    def any(self) -> bool:
        return bool(self.tensor.any())

    def _values(self) -> Any:
        """Its numbers in a dtype that computes them: unsigned integers in 64 bits, where those of 64 bits wrap around."""
        if self.dtype.kind != "u":
            return self.tensor
        wide = self.tensor.to(_torch().int64)
        return wide if self.itemsize == 8 else wide & ((1 << 8 * self.itemsize) - 1)

    def _number(self, value: Any) -> Any:
        """A number as an element of the tensor."""
        if self.dtype.kind != "u":
            return value
        code = int(value) & ((1 << 8 * self.itemsize) - 1)
        return code - (1 << 8 * self.itemsize) if code >> (8 * self.itemsize - 1) else code

    def _index(self, index: Any) -> Any:
        if isinstance(index, tuple):
            return tuple(map(self._index, index))
        if isinstance(index, TensorArray):
            return index.tensor
        return _torch().from_numpy(index) if isinstance(index, np.ndarray) else index  # PyTorch takes it from CPU memory

    def __getitem__(self, index: Any) -> "TensorArray":
        return self._like(self.tensor[self._index(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        self.tensor[self._index(index)] = value.tensor if isinstance(value, TensorArray) else self._number(value)

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("a tensor on a GPU is not converted to a NumPy array unasked")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keys: Any) -> Any:
        if method != "__call__" or keys or ufunc.__name__ not in _OPERATORS:
            return NotImplemented
        dtype = np.result_type(*(x.dtype if isinstance(x, (TensorArray, np.generic)) else x for x in inputs))
        if dtype == np.uint64 and ufunc.__name__ in ("right_shift", "greater"):
            raise TypeError(f"{ufunc.__name__} of unsigned integers of 64 bits is not computed on a tensor")
        given = [x._values() if isinstance(x, TensorArray) else x if dtype.kind == "f" else int(x) for x in inputs]
        found = _OPERATORS[ufunc.__name__](*given)
        return (
            TensorArray(found, bool) if ufunc.__name__ in _COMPARISONS else TensorArray(found.to(_torch_dtype(dtype)), dtype)
        )

    def __array_function__(self, function: Any, types: Any, arguments: Any, keys: Any) -> Any:
        return _FUNCTIONS[function](*arguments, **keys) if function in _FUNCTIONS else NotImplemented


def _torch() -> Any:
    """PyTorch, which whoever has a tensor has imported."""
    return sys.modules["torch"]


def _torch_dtype(dtype: np.dtype[Any]) -> Any:
    """PyTorch's dtype for what a TensorArray of a dtype holds."""
    return getattr(_torch(), f"int{8 * dtype.itemsize}" if dtype.kind == "u" else str(dtype))


def _empty_like(x: TensorArray, dtype: Any = None, shape: Any = None) -> TensorArray:
    dtype = x.dtype if dtype is None else np.dtype(dtype)
    return TensorArray(x.tensor.new_empty(x.shape if shape is None else shape, dtype=_torch_dtype(dtype)), dtype)


def _full_like(x: TensorArray, value: Any, dtype: Any = None, shape: Any = None) -> TensorArray:
    made = _empty_like(x, dtype, shape)
    made.tensor.fill_(made._number(value))
    return made


def _where(condition: TensorArray, x: Any, y: Any) -> TensorArray:
    (like,) = {each.dtype: each for each in (x, y) if isinstance(each, TensorArray)}.values()
    given = (each.tensor if isinstance(each, TensorArray) else like._number(each) for each in (x, y))
    chosen = _torch().where(condition.tensor, *given)
    return TensorArray(chosen.to(_torch_dtype(like.dtype)), like.dtype)


def _padded(x: TensorArray, widths: Any, constant_values: int = 0) -> TensorArray:
    around = [size for pair in reversed(widths) for size in pair]
    return x._like(_torch().nn.functional.pad(x.tensor, around, value=x._number(constant_values)))


def _repeated(x: TensorArray, counts: Any, axis: int) -> TensorArray:
    return x[(*(slice(None),) * axis, np.repeat(np.arange(x.shape[axis]), counts))]


def _taken(x: TensorArray, places: Any, axis: int) -> TensorArray:
    grid: list[Any] = list(np.ogrid[tuple(map(slice, x.shape))])
    grid[axis] = places
    return x[tuple(grid)]


_FUNCTIONS: Mapping[Any, Callable[..., Any]] = {
    np.broadcast_to: lambda x, shape: x._like(x.tensor.expand(*shape)),
    np.copy: lambda x, order="K": x._like(x.tensor.clone(memory_format=_torch().contiguous_format)),
    np.empty_like: _empty_like,
    np.full_like: _full_like,
    np.pad: _padded,
    np.repeat: _repeated,
    np.stack: lambda arrays, axis=0: arrays[0]._like(_torch().stack([x.tensor for x in arrays], axis)),
    np.take_along_axis: _taken,
    np.where: _where,
    np.zeros_like: lambda x, dtype=None, shape=None: _full_like(x, 0, dtype, shape),
}
"""NumPy's functions of arrays that products call."""
