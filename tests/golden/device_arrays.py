"""Stand-ins for a GPU's arrays: only their module may use them, as NumPy functions fail on CuPy arrays.

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


class CountingModule(DeviceModule):
    """A device's module that counts: every function of it, every operator and every assignment is a launch that reads its
    operands and writes its result. Taking a part of an array or changing its shape is none.

    Attributes:
        launches: how many. bytes: read and written.
    """

    def __init__(self) -> None:
        self.launches = self.bytes = 0

    def __getattr__(self, name: str) -> Any:
        function = super().__getattr__(name)
        if isinstance(function, type) or name in ("broadcast_to", "asarray"):
            return function
        return lambda *arguments, **keys: self.counted(function, *arguments, **keys)

    def counted(self, function: Any, *arguments: Any, **keys: Any) -> Any:
        result = function(*arguments, **keys)
        self.launches += 1
        self.bytes += sum(x.host.nbytes for x in (*arguments, result) if isinstance(x, DeviceArray))
        return CountingArray(result.host, self) if isinstance(result, DeviceArray) else result


class CountingArray(DeviceArray):
    """An array of a module that counts."""

    def __init__(self, host: Any, module: CountingModule) -> None:
        super().__init__(host)
        self.module = module

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keys: Any) -> Any:
        return self.module.counted(lambda *x: DeviceArray.__array_ufunc__(self, ufunc, method, *x, **keys), *inputs)

    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)
        if isinstance(found, DeviceArray):
            return CountingArray(found.host, self.module)
        if not callable(found) or isinstance(found, type):
            return found
        if name == "reshape":
            return lambda *arguments: CountingArray(found(*arguments).host, self.module)
        return lambda *arguments, **keys: self.module.counted(found, *arguments, **keys)

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        return CountingArray(found.host, self.module) if isinstance(found, DeviceArray) else found


def wrapped(result: Any) -> Any:
    return DeviceArray(result) if isinstance(result, np.ndarray) else result


def unwrapped(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(unwrapped, value))
    return value.host if isinstance(value, DeviceArray) else value
