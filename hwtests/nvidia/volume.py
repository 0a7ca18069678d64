"""The stimulus at volume on the GPU. One launch generates the tiles, one runs the instruction, one computes the model,
compares and counts, and a short one compares with another e_zero. Only counters and differences come back."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from golden import Instruction
from golden.arrays import bits_dtype
from golden.chains.chain import Chain
from golden.native.cuda import INCLUDE, cubin
from golden.stimulus import OperandShape, Tiles, volume
from hwtests.device import DeviceError, Program
from hwtests.nvidia import gpu_comparison
from hwtests.nvidia.gpu_comparison import COUNTERS, DIFFERENCE_WORDS, comparison_source, tally_of
from hwtests.nvidia.source import target_of
from hwtests.on_host import NAMES
from hwtests.tally import E_ZERO_TILES, KEPT_ROWS, Tally, chain_with_another_e_zero, rows_of

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


FILL_ENTRY = "fill_tiles"

THREADS = 128


def fill_source(instruction: Instruction) -> str:
    """CUDA source of the kernel that generates an instruction's tiles."""
    return volume.kernel_source(OperandShape.of(instruction), instruction.m, instruction.n)


class Volume:
    """Comparison at volume on one device.

    Args:
        xp: the module cupy.
        arch: architecture of the catalogue.
    """

    def __init__(self, xp: Any, arch: str) -> None:
        self._xp, self._target = xp, target_of(arch)
        self._function = cache(self._loaded)
        self._corners = cache(self._corner_table)

    def _loaded(self, source: str, entry: str) -> Any:
        return loaded(self._xp, cubin(source, self._target, INCLUDE), entry)

    def _corner_table(self, shape: OperandShape, seed: int) -> Any:
        return self._xp.asarray(np.frombuffer(volume.corner_table(shape, seed).blob, np.uint8))

    def compare(self, instruction: Instruction, program: Program, seed: int, first: int, count: int) -> Tally:
        """Compare tiles first … first + count − 1 of a seed; return the counts and the first differences."""
        xp, i = self._xp, instruction
        tiles, labels = self._tiles(instruction, seed, first, count)
        d = program.run(tiles)
        counters, differences = xp.zeros(COUNTERS, xp.uint64), xp.empty((KEPT_ROWS, DIFFERENCE_WORDS), xp.uint64)
        self._compare(i.chain, tiles, d, labels, 1, counters, differences)
        other, of_other = chain_with_another_e_zero(i.chain), xp.zeros(COUNTERS, xp.uint64)
        if other is not None:
            self._compare(other, tiles, d, labels, E_ZERO_TILES, of_other, xp.empty_like(differences))
        on_host = xp.asnumpy(labels)
        found = tally_of(xp.asnumpy(counters), xp.asnumpy(differences), on_host, i, NAMES, first)
        found.rows = rows_of(tiles, found.differences, first, xp, xp.asnumpy)
        with_other = tally_of(xp.asnumpy(of_other), (), on_host, i, NAMES, first)
        found.e_zero_results, found.e_zero_cases = sum(with_other.compared.values()), sum(with_other.wrong.values())
        return found

    def _tiles(self, instruction: Instruction, seed: int, first: int, count: int) -> tuple[Tiles, Any]:
        """The tiles and their labels, filled on the device."""
        xp, i, shape = self._xp, instruction, OperandShape.of(instruction)
        a, b = xp.empty((count, i.m, i.k), bits_dtype(i.a)), xp.empty((count, i.n, i.k), bits_dtype(i.b))
        c, labels = xp.empty((count, i.m, i.n), bits_dtype(i.c)), xp.empty(count, xp.uint8)
        scales: list[Any] = [None, None]
        if i.scale is not None:
            scales = [xp.empty((count, rows, shape.blocks), bits_dtype(i.scale)) for rows in (i.m, i.n)]
        arrays = (a, b, c, *(xp.uint64(0) if array is None else array for array in scales), labels)
        fill = self._function(fill_source(i), FILL_ENTRY)
        blocks = min(MAX_BLOCKS, -(-count * i.m * i.n // THREADS))
        numbers = (xp.uint64(seed), xp.int64(first), xp.int64(count))
        fill((blocks, 1, 1), (THREADS, 1, 1), (self._corners(shape, seed), *numbers, *arrays))
        return Tiles(a, b, c, *scales), labels

    def _compare(self, chain: Chain, tiles: Tiles, d: Any, labels: Any, every: int, counters: Any, differences: Any) -> None:
        xp, (count, m, n) = self._xp, tiles.c.shape
        kernel = self._function(comparison_source(chain, tiles.a.shape[2]), gpu_comparison.ENTRY)
        operands = (tiles.a, tiles.b, tiles.c, tiles.scale_a, tiles.scale_b)
        pointers = [xp.uint64(0) if array is None else array for array in operands]
        sizes = (xp.int64(count), xp.int32(every), xp.int32(m), xp.int32(n))
        blocks = min(MAX_BLOCKS, -(-count * m * n // (every * gpu_comparison.THREADS)))
        arguments = (*pointers, d, labels, *sizes, counters, differences)
        kernel((blocks, 1, 1), (gpu_comparison.THREADS, 1, 1), arguments)
