"""Launches through CuPy: loading a cubin, the number of blocks, the array of results, and errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from hwtests.device import DeviceError

MAX_BLOCKS = 4096
"""Largest number of blocks in a launch; each block computes many tiles."""


def loaded(xp: Any, binary: bytes, entry: str) -> Any:
    """An entry point of a cubin, loaded on the current device.

    Args:
        xp: cupy.
    """
    module = xp.cuda.function.Module()
    module.load(binary)
    return module.get_function(entry)


def unwritten(xp: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """An array for results with every bit set. Memory that CuPy's pool hands out again may hold the right results of the
    launch before, so a kernel that writes nothing would otherwise pass."""
    return xp.full(shape, np.iinfo(dtype).max, dtype)


@contextmanager
def cuda_errors(xp: Any) -> Iterator[None]:
    """A context that converts errors of CUDA, if the device still works: a lack of device memory becomes a MemoryError, so
    that a smaller batch can be tried; a kernel that the driver refuses to load or to launch becomes a DeviceError.

    After an error that breaks the context every call fails: that error is passed on unchanged, and ends the process.
    """
    try:
        yield
    except xp.cuda.memory.OutOfMemoryError as error:
        xp.get_default_memory_pool().free_all_blocks()
        raise MemoryError(str(error)) from error
    except xp.cuda.driver.CUDADriverError as error:
        xp.cuda.runtime.deviceSynchronize()  # raises where the context is broken
        raise DeviceError(f"the driver refuses a kernel: {error}") from error
