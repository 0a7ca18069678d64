"""Rows and tiles of the stimulus at volume, by the native library or by its twin in NumPy: the same bits."""

from typing import Any

import numpy as np
import numpy.typing as npt

from golden.arrays import bits_dtype
from golden.checks import check_choice, check_int, check_least, check_type
from golden.native import stimulus as native
from golden.stimulus.integer_classes import is_integer
from golden.stimulus.shape import Operands, OperandShape, Stimulus
from golden.stimulus.tiles import Tiles
from golden.stimulus.volume import integers
from golden.stimulus.volume.addend import addends
from golden.stimulus.volume.corner_table import NAMES, CornerTable, corner_table
from golden.stimulus.volume.corners import corner_tiles
from golden.stimulus.volume.elements import A, B, any_codes, factors_of, scale_codes, side_codes
from golden.stimulus.volume.header import CLASSES, headers
from golden.stimulus.volume.numbers import Codes
from golden.stimulus.volume.plan import Plan, parameters
from golden.stimulus.volume.words import Key, Stream

ENGINES = ("native", "numpy")

MAX_K, MAX_TILE, MAX_ELEMENTS = 1 << 16, 1 << 10, 1 << 26
"""Upper limits: products of a row; rows of A (or columns of B) in a tile; elements of a tile's A (or B)."""


def rows(shape: OperandShape, seed: int, first: int, count: int, *, engine: str | None = None) -> Stimulus:
    """Generate rows first … first + count − 1 of a seed. A row depends only on shape, seed and its number.

    Args:
        engine: "native" or "numpy", which give the same bits; None selects native if the library is installed.

    Raises:
        TypeError: another type. ValueError: a value out of range, or an engine that is not installed.
    """
    made, label = tiles(shape, 1, 1, seed, first, count, engine=engine)
    arrays = (made.a[:, 0], made.b[:, 0], made.c[:, 0, 0], made.scale_a, made.scale_b)
    scales = (None if array is None else array[:, 0] for array in arrays[3:])
    return Stimulus(Operands(*arrays[:3], *scales), label, NAMES)


def tiles(
    shape: OperandShape, m: int, n: int, seed: int, first: int, count: int, *, engine: str | None = None
) -> tuple[Tiles, npt.NDArray[np.uint8]]:
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
    chosen = engine or ("native" if native.is_available() else "numpy")
    check_choice("engine", chosen, ENGINES)
    codes, table = parameters(shape), corner_table(shape, seed)
    if chosen == "numpy":
        return _in_numpy(Plan(shape), table, m, n, seed, first, count)
    made, label = _empty(shape, m, n, count)
    native.fill_tiles(codes, table.blob, seed, first, count, m, n, (*_arrays(made), label))
    return made, label


def kernel_source(shape: OperandShape, m: int, n: int) -> str:
    """CUDA C++ of a kernel `fill_tiles` that generates such tiles, to be compiled with `golden.native.cuda.OPTIONS`.

    Its arguments: the corner table's address on the device, seed, first tile, tiles, then the addresses of a, b, c, scale_a,
    scale_b (null if unscaled) and of the labels (or null). It works with any grid.
    """
    return native.source(parameters(shape), m, n)


def _arrays(made: Tiles) -> tuple[Any, ...]:
    return made.a, made.b, made.c, made.scale_a, made.scale_b


def _empty(shape: OperandShape, m: int, n: int, count: int) -> tuple[Tiles, npt.NDArray[np.uint8]]:
    scales: list[Any] = [None, None]
    if shape.scale is not None:
        scales = [np.empty((count, size, shape.blocks), bits_dtype(shape.scale)) for size in (m, n)]
    a, b = (np.empty((count, size, shape.K), bits_dtype(of)) for size, of in ((m, shape.a), (n, shape.b)))
    return Tiles(a, b, np.empty((count, m, n), bits_dtype(shape.c)), *scales), np.empty(count, np.uint8)


def _in_numpy(
    plan: Plan, table: CornerTable, m: int, n: int, seed: int, first: int, count: int
) -> tuple[Tiles, npt.NDArray[np.uint8]]:
    """Every other tile varies a corner, the others go through the classes in turn."""
    made, label = _empty(plan.shape, m, n, count)
    of_integers = is_integer(plan.shape)
    corners_of = integers.corner_tiles if of_integers else corner_tiles
    classes_of = integers.class_tiles if of_integers else _class_tiles
    index = np.arange(first, first + count, dtype=np.uint64)
    of_class = np.where(index & np.uint64(1), len(CLASSES), (index >> np.uint64(1)) % np.uint64(len(CLASSES)))
    for number in range(len(CLASSES) + 1):
        here = np.flatnonzero(of_class == number)
        if not len(here):
            continue
        key = Key.of(seed, index[here])
        if number == len(CLASSES):
            operands, labels = corners_of(plan, table, key, m, n)
        else:
            operands, labels = classes_of(plan, CLASSES[number], key, m, n), number
        label[here] = labels
        for array, codes in zip(_arrays(made), operands, strict=True):
            if array is not None:
                array[here] = codes
    return made, label


def _class_tiles(plan: Plan, name: str, key: Key, m: int, n: int) -> list[Codes | None]:
    """Operands of tiles of one class, uint64 in the order of `Operands`."""
    shape, scaled = plan.shape, plan.shape.scale is not None
    if name == "bits":
        a, b = any_codes(key, shape.a, Stream.A, m, plan.K), any_codes(key, shape.b, Stream.B, n, plan.K)
        scales = [
            any_codes(key, shape.scale, side.scale, size, shape.blocks) if shape.scale else None
            for side, size in ((A, m), (B, n))
        ]
        return [a, b, any_codes(key, shape.c, Stream.C, m, n, bits=64), *scales]
    h = headers(plan, name, key)
    factors = factors_of(plan, h)
    a, b = side_codes(plan, h, factors, A, m), side_codes(plan, h, factors, B, n)
    scale_a, scale_b = (scale_codes(plan, h, A, m), scale_codes(plan, h, B, n)) if scaled else (None, None)
    return [a, b, addends(plan, h, a, b, scale_a, scale_b), scale_a, scale_b]
