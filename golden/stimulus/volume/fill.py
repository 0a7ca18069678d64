"""Rows and tiles of the stimulus at volume, which the native library makes."""

from typing import Any

import numpy as np
import numpy.typing as npt

from golden.arrays import bits_dtype
from golden.checks import check_int, check_least, check_type
from golden.native import stimulus as native
from golden.stimulus.shape import Operands, OperandShape, Stimulus
from golden.stimulus.tiles import Tiles
from golden.stimulus.volume.corner_table import NAMES, corner_table, parameters

MAX_K, MAX_TILE, MAX_ELEMENTS = 1 << 16, 1 << 10, 1 << 26
"""Upper limits: products of a row; rows of A (or columns of B) in a tile; elements of a tile's A (or B)."""


def rows(shape: OperandShape, seed: int, first: int, count: int) -> Stimulus:
    """Generate rows first … first + count − 1 of a seed. A row depends only on shape, seed and its number.

    Raises:
        TypeError: another type. ValueError: a value out of range, or the native library is not installed.
    """
    made, label = tiles(shape, 1, 1, seed, first, count)
    arrays = (made.a[:, 0], made.b[:, 0], made.c[:, 0, 0], made.scale_a, made.scale_b)
    scales = (None if array is None else array[:, 0] for array in arrays[3:])
    return Stimulus(Operands(*arrays[:3], *scales), label, NAMES)


def tiles(shape: OperandShape, m: int, n: int, seed: int, first: int, count: int) -> tuple[Tiles, npt.NDArray[np.uint8]]:
    """Generate tiles of m rows of A and n columns of B, with labels. Products k of a tile have similar exponents.

    Raises:
        TypeError, ValueError: as `rows`.
    """
    check_type("shape", shape, OperandShape)
    for what, value, high in (("m", m, MAX_TILE), ("n", n, MAX_TILE), ("K", shape.K, min(MAX_K, MAX_ELEMENTS // max(m, n)))):
        check_int(what, value, 1, high)
    check_int("seed", seed, 0, (1 << 64) - 1)
    check_least("first", first, 0)
    check_least("count", count, 0)
    native.check_available()
    scales: list[Any] = [None, None]
    if shape.scale is not None:
        scales = [np.empty((count, size, shape.blocks), bits_dtype(shape.scale)) for size in (m, n)]
    a, b = (np.empty((count, size, shape.K), bits_dtype(of)) for size, of in ((m, shape.a), (n, shape.b)))
    c, label = np.empty((count, m, n), bits_dtype(shape.c)), np.empty(count, np.uint8)
    table = corner_table(shape, seed).blob
    native.fill_tiles(parameters(shape), table, seed, first, count, m, n, (a, b, c, *scales, label))
    return Tiles(a, b, c, *scales), label


def kernel_source(shape: OperandShape, m: int, n: int) -> str:
    """CUDA C++ of a kernel `fill_tiles` that generates such tiles, to be compiled with `golden.native.cuda.OPTIONS`.

    Its arguments: the corner table's address on the device, seed, first tile, tiles, then the addresses of a, b, c, scale_a,
    scale_b (null if unscaled) and of the labels (or null). It works with any grid.
    """
    return native.source(parameters(shape), m, n)
