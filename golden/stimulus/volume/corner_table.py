"""The corner table: every case of every directed corner, generated once for a seed; the stimulus varies them.

It is one block of memory, the same for C++ and a device (stimulus/corners.hpp has the layout).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from golden.arithmetic.formats import Format
from golden.native.parameters import FORMAT_CODES
from golden.native.stimulus import StimulusShape
from golden.stimulus.codes import BoolArray, GeneratorDraws, IntArray
from golden.stimulus.corners import CORNERS
from golden.stimulus.integer_classes import is_integer
from golden.stimulus.shape import Operands, OperandShape

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
    share = min(1.0, MAX_PRODUCTS / shape.K / sum(corner.cases(shape) for corner in CORNERS.values()))
    for label, corner in enumerate(CORNERS.values(), start=len(CLASSES)):
        cases = corner.cases(shape)
        if not cases:
            continue
        case = np.arange(max(1, int(cases * share)))
        case = case * cases // len(case)
        draws = GeneratorDraws(np.random.default_rng(np.random.SeedSequence([seed, label])))
        yield corner.make(shape, draws, case), np.full(len(case), label)


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
    d = shape.d.name if shape.d.name in FORMAT_CODES else "fp32"  # e8m13 lies in an fp32 word
    scale = shape.scale.name if shape.scale is not None else "fp64"
    return StimulusShape(
        a=FORMAT_CODES[shape.a.name], b=FORMAT_CODES[shape.b.name], c=FORMAT_CODES[shape.c.name], d=FORMAT_CODES[d],
        d_man_bits=shape.d.man_bits, K=shape.K, scale=FORMAT_CODES[scale], K_block=shape.block_size or 0,
    )  # fmt: skip
