"""Rows and tiles of the stimulus at volume, which the native library makes from the corner table: every case of every
directed corner, generated once for a seed.

The table is one block of memory, the same for C++ and a device (stimulus/corners.hpp has the layout).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from golden.arithmetic.formats import FP64, INT32, Format
from golden.arrays import bits_dtype
from golden.checks import check_int, check_least, check_type
from golden.native import stimulus as native
from golden.native.parameters import format_number
from golden.native.stimulus import StimulusShape
from golden.stimulus.built_sums import built, inner_shape
from golden.stimulus.codes import BoolArray, GeneratorDraws, IntArray
from golden.stimulus.corners import CORNERS
from golden.stimulus.integer_classes import is_integer
from golden.stimulus.shape import Operands, OperandShape, Stimulus, Tiles, with_missing_ones

CLASSES = ("bits", "normal", "cancel", "specials", "tiny", "huge", "apart", "completed")
"""The classes, in the order of their labels (`Class` in golden/native/include/mmau/stimulus/header.hpp); the corners' labels
follow."""

NAMES = (*CLASSES, *CORNERS)
"""Name of the class or corner for each label."""

LABEL, A_DOWN, A_UP, B_DOWN, B_UP, C_DOWN, C_UP = range(7)
"""Columns of `CornerTable.about`: the row's label, and how far exponents may be moved down and up without leaving the normal
numbers: those of a (where scaled, of scale_a), of b (of scale_b), and of c."""

ABOUT = 8
"""Columns of `CornerTable.about`, with a spare one."""

MAX_PRODUCTS = 1 << 22
"""Approximate number of products in a table; with more than some hundred products per row it has only part of the cases."""

_FAR = 1 << 14
"""Range of movement of a code that has no exponent."""


@dataclass(frozen=True)
class CornerTable:
    """Directed rows with their labels and ranges of movement.

    Attributes:
        shape: the shape that it was generated for.
        operands: a, b [rows, K], c [rows], scales [rows, blocks] or None.
        about: int32 [rows, ABOUT].
    """

    shape: OperandShape
    operands: Operands
    about: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.about)

    @cached_property
    def blob(self) -> bytes:
        """The table as one block of memory for C++ and a device; its address there must be aligned to 8 bytes."""
        parts = [_filled_up(np.ascontiguousarray(x).tobytes()) for x in (self.about, *self.operands) if x is not None]
        head = bytes(parameters(self.shape))
        sizes = np.array([len(self), 16 + len(head) + sum(map(len, parts))], np.int64)
        return b"".join([sizes.tobytes(), head, *parts])

    @property
    def file(self) -> bytes:
        """The table as a file for `mmau_pkg::corners` of SystemVerilog: the block of memory, then its CRC-32 in 8 bytes."""
        return self.blob + crc32(self.blob).to_bytes(8, "little")


def _filled_up(part: bytes) -> bytes:
    return part + bytes(-len(part) % 8)


@lru_cache(maxsize=32)
def corner_table(shape: OperandShape, seed: int) -> CornerTable:
    """Every case of every corner, level 2, once; with very many products an even share of them."""
    parts, labels = zip(*_corners(shape, seed), strict=True)
    columns = [None if column[0] is None else np.concatenate(column) for column in zip(*parts, strict=True)]
    operands = Operands(*columns)  # type: ignore[arg-type]
    about = np.zeros((len(operands.c), ABOUT), np.int32)
    about[:, LABEL] = np.concatenate(labels)
    if is_integer(shape):
        return CornerTable(shape, operands, about)  # integers have no exponents
    moved: list[tuple[Format, Any]] = [(shape.a, operands.a), (shape.b, operands.b)]
    if shape.scale is not None:
        moved = [(shape.scale, operands.scale_a), (shape.scale, operands.scale_b)]
    for column, (operand, codes) in zip((A_DOWN, B_DOWN, C_DOWN), (*moved, (shape.c, operands.c[:, None])), strict=True):
        about[:, column : column + 2] = _room(operand, codes)
    return CornerTable(shape, operands, about)


def _corners(shape: OperandShape, seed: int) -> Iterator[tuple[Operands, IntArray]]:
    inner = inner_shape(shape)
    shapes = [of for of in (shape, inner) if of is not None]
    share = min(1.0, MAX_PRODUCTS / shape.K / sum(corner.cases(of) for corner in CORNERS.values() for of in shapes))
    for label, corner in enumerate(CORNERS.values(), start=len(CLASSES)):
        draws = GeneratorDraws(np.random.default_rng(np.random.SeedSequence([seed, label])))
        for of in shapes:
            cases = corner.cases(of)
            if not cases:
                continue
            case = np.arange(max(1, int(cases * share)))
            case = case * cases // len(case)
            made = corner.make(shape, draws, case) if of is shape else built(shape, draws, corner, case)
            yield made, np.full(len(case), label)


def _room(operand: Format, codes: npt.NDArray[Any]) -> IntArray:
    """Distances by which the exponents of each row's codes may be moved together, down and up, [rows, 2]."""
    bits = operand.exp_bits + operand.man_bits
    field = (codes.astype(np.int64) >> operand.pad_bits) & ((1 << bits) - 1)
    largest, least = operand.max_finite >> operand.pad_bits, 1 << operand.man_bits if operand.subnormals else 0
    moves: BoolArray = (field >= least) & (field <= largest)
    stuck: BoolArray = np.any((field > 0) & (field < least), axis=1)  # a subnormal beside them
    down = np.where(moves, (field - least) >> operand.man_bits, _FAR).min(axis=1)
    up = np.where(moves, (largest - field) >> operand.man_bits, _FAR).min(axis=1)
    return np.where(stuck[:, None], 0, np.stack([down, up], axis=1))


@lru_cache(maxsize=256)
def parameters(shape: OperandShape) -> StimulusShape:
    """The shape as the struct mmau_stimulus of the C interface."""
    return StimulusShape(
        a=format_number(shape.a), b=format_number(shape.b), c=format_number(shape.c), d=format_number(shape.d),
        d_man_bits=shape.d.man_bits, K=shape.K, scale=format_number(shape.scale or FP64), K_block=shape.block_size or 0,
    )  # fmt: skip


def takes(shape: OperandShape) -> bool:
    """Whether the native library makes rows of a shape: integers have at most 8 bits, and their sums are int32."""
    of = shape.carried
    return not is_integer(of) or (max(of.a.width, of.b.width) <= 8 and of.c == of.d == INT32)


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
    if shape.carried is not shape:
        made, label = tiles(shape.carried, m, n, seed, first, count)
        return replace(made, **shape.coded(made.a, made.b, made.c)), label
    scales: list[Any] = [None, None]
    if shape.scale is not None:
        scales = [np.empty((count, size, shape.blocks), bits_dtype(shape.scale)) for size in (m, n)]
    a, b = (np.empty((count, size, shape.K), bits_dtype(of)) for size, of in ((m, shape.a), (n, shape.b)))
    c, label = np.empty((count, m, n), bits_dtype(shape.c)), np.empty(count, np.uint8)
    table = corner_table(shape, seed).blob
    native.fill_tiles(parameters(shape), table, seed, first, count, m, n, (a, b, c, *scales, label))
    return Tiles(a, b, c, **with_missing_ones(shape, *scales)), label


def kernel_source(shape: OperandShape, m: int, n: int) -> str:
    """CUDA C++ of a kernel `fill_tiles` that generates such tiles, to be compiled with `golden.native.cuda.OPTIONS`.

    Its arguments: the corner table's address on the device, seed, first tile, tiles, then the addresses of a, b, c, scale_a,
    scale_b (null if unscaled) and of the labels (or null). It works with any grid.
    """
    return native.source(parameters(shape), m, n)
