"""Launches through CuPy: loading a cubin, the number of blocks, the array of results, and errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from hwtests.device import DeviceError

MAX_BLOCKS = 4096
"""Blocks of a launch; each walks over many tiles."""


def loaded(xp: Any, binary: bytes, entry: str) -> Any:
    """An entry point of a cubin, loaded on the current device.

    Args:
        xp: cupy.
    """
    module = xp.cuda.function.Module()
    module.load(binary)
    return module.get_function(entry)


def unwritten(xp: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """An array for results, every bit of it one: memory that CuPy's pool hands out again may hold the right results of the
    launch before, and a kernel that writes nothing would pass."""
    return xp.full(shape, np.iinfo(dtype).max, dtype)


@contextmanager
def cuda_errors(xp: Any) -> Iterator[None]:
    """Raise a lack of device memory as a MemoryError, so that a smaller batch can be tried, and a kernel that the driver
    refuses to load or to launch as a DeviceError, if the device still works. After an error that breaks the context every
    call fails: that error is passed on unchanged, and ends the process."""
    try:
        yield
    except xp.cuda.memory.OutOfMemoryError as error:
        xp.get_default_memory_pool().free_all_blocks()
        raise MemoryError(str(error)) from error
    except xp.cuda.driver.CUDADriverError as error:
        xp.cuda.runtime.deviceSynchronize()  # raises where the context is broken
        raise DeviceError(f"the driver refuses a kernel: {error}") from error
