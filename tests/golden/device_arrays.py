"""Arrays that stand in for those of a GPU: only their own module may touch them, as CuPy refuses what NumPy is handed.

>>> DeviceModule().arange(3) + 1
DeviceArray([1, 2, 3])
"""

from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin


class DeviceArray(NDArrayOperatorsMixin):
    """A NumPy array that converts itself to nothing and meets scalars and its like alone."""

    def __init__(self, host: Any) -> None:
        self.host = host

    def __array__(self, *arguments: Any, **keys: Any) -> Any:
        raise TypeError("implicit conversion to a NumPy array")

    def __array_function__(self, function: Any, *arguments: Any) -> Any:
        raise TypeError(f"numpy.{function.__name__} was handed an array of the device")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keys: Any) -> Any:
        if any(isinstance(x, np.ndarray) for x in inputs):
            raise TypeError(f"numpy.{ufunc.__name__} of an array of the device and one of NumPy")
        return wrapped(getattr(ufunc, method)(*map(unwrapped, inputs), **keys))

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.host, name)
        if not callable(found) or isinstance(found, np.ndarray):
            return wrapped(found)
        return lambda *arguments, **keys: wrapped(found(*map(unwrapped, arguments), **keys))

    def __getitem__(self, key: Any) -> Any:
        return wrapped(self.host[unwrapped(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(value, np.ndarray):
            raise TypeError("an array of NumPy assigned to one of the device")
        self.host[unwrapped(key)] = unwrapped(value)

    def __len__(self) -> int:
        return len(self.host)

    def __repr__(self) -> str:
        return f"Device{self.host!r}".replace("Devicearray", "DeviceArray")


class DeviceModule:
    """NumPy's functions on such arrays: what takes NumPy's own is `asarray` alone, as in CuPy."""

    def __getattr__(self, name: str) -> Any:
        function = getattr(np, name)
        if isinstance(function, type):
            return function

        def called(*arguments: Any, **keys: Any) -> Any:
            if name != "asarray" and any(isinstance(x, np.ndarray) for x in arguments):
                raise TypeError(f"{name} of the device was handed an array of NumPy")
            return wrapped(function(*map(unwrapped, arguments), **{key: unwrapped(x) for key, x in keys.items()}))

        return called


def wrapped(result: Any) -> Any:
    return DeviceArray(result) if isinstance(result, np.ndarray) else result


def unwrapped(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(unwrapped, value))
    return value.host if isinstance(value, DeviceArray) else value
