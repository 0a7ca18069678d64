"""What every launch through CuPy needs: loading a cubin, how many blocks, and running out of memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

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


@contextmanager
def memory_errors(xp: Any) -> Iterator[None]:
    """Out of device memory as a MemoryError, so that a smaller batch can be tried."""
    try:
        yield
    except xp.cuda.memory.OutOfMemoryError as error:
        xp.get_default_memory_pool().free_all_blocks()
        raise MemoryError(str(error)) from error
