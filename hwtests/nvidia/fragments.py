"""Fragments of every `mma.sync`: which element of A, B, C or D each lane of a warp holds in which register slot.

These layouts are written down here and nowhere else; the kernels index memory by the tables made here. A table has shape [32
lanes, slots] and holds offsets into the group of tiles that one warp computes at once: A as [tiles, m, k], B as [tiles, n,
k] (a column of B is contiguous), C and D as [tiles, m, n]. Slots are in register order, the lowest bits of a register first.
Source: PTX ISA 9.0, section 9.7.14.5 (matrix fragments for mma).

In all shapes except Volta's m8n8k4 the lanes form eight quads: `quad = lane / 4`, `place = lane % 4`.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

LANES = 32
QUAD = 4

Table = npt.NDArray[np.int64]
"""A layout: offsets [32 lanes, slots]."""


@dataclass(frozen=True)
class Fragments:
    """The layouts of one instruction, and the number of tiles that a warp computes at once."""

    a: Table
    b: Table
    c: Table
    tiles: int = 1


def _lanes() -> tuple[Table, Table]:
    """quad and place of every lane, as columns."""
    lane = np.arange(LANES)[:, None]
    return lane // QUAD, lane % QUAD


def rows_of_a(m: int, k: int, per_register: int) -> Table:
    """The layout of A (row-major) for every shape except m8n8k4 fp16.

    A register holds `per_register` neighbours along k, so a quad covers 4·per_register columns. Registers alternate between
    the upper and the lower eight rows, then move on along k.
    """
    quad, place = _lanes()
    slot = np.arange(m * k // LANES)
    register, within = slot // per_register, slot % per_register
    halves = m // 8
    row = quad + 8 * (register % halves)
    column = place * per_register + within + (register // halves) * QUAD * per_register
    return row * k + column


def columns_of_b(n: int, k: int, per_register: int) -> Table:
    """The layout of B (column-major) for n = 8: that of A with one half, and with columns in place of rows."""
    return rows_of_a(n, k, per_register)


def accumulators(m: int, n: int) -> Table:
    """The layout of C and D: two neighbours along n, then the lower eight rows, then (wgmma) the next eight columns."""
    quad, place = _lanes()
    slot = np.arange(m * n // LANES)
    halves = m // 8
    pair = slot // 2
    row = quad + 8 * (pair % halves)
    column = 2 * place + slot % 2 + 8 * (pair // halves)
    return row * n + column


def quad_pairs(c_is_fp32: bool) -> tuple[Table, Table, Table]:
    """The layouts of A, B and C of m8n8k4 fp16: a warp computes four tiles, each by a quad and the quad sixteen lanes above
    it."""
    lane = np.arange(LANES)[:, None]
    tile, upper, place = lane % 16 // QUAD, lane // 16, lane % QUAD
    along_k = np.arange(4)
    a = tile * 32 + (place + 4 * upper) * 4 + along_k
    slot = np.arange(8)
    if c_is_fp32:
        row = lane % 2 + (slot & 2) + 4 * upper
        column = (slot & 4) + (lane & 2) + slot % 2
    else:
        row = place + 4 * upper
        column = slot
    return a, a, tile * 64 + row * 8 + column


def mma_fragments(m: int, n: int, k: int, element_bits: int, b_k: int | None = None) -> Fragments:
    """The layouts of every `mma.sync` shape except m8n8k4 fp16, whose C and D lie differently by type, and of `mma.sp`.

    Args:
        element_bits: width of an element of A and B inside its register: 64, 32, 16, 8 or 4.
        b_k: number of elements of a column of B, if it is not k, because A is sparse.
    """
    per_register = max(1, 32 // element_bits)
    return Fragments(rows_of_a(m, k, per_register), columns_of_b(n, b_k or k, per_register), accumulators(m, n))


def scale_rows_of_a() -> Table:
    """scale_A of block-scaled `mma.sync` with selectors {0, 0}: which row of A's scales a lane supplies, −1 for none.

    The two first lanes of a quad supply rows quad and quad + 8; all scales of a row lie in one register, k ascending.
    """
    quad, place = _lanes()
    return np.where(place < 2, quad + 8 * place, -1)


def scale_columns_of_b() -> Table:
    """scale_B with selectors {0, 0}: which column of B's scales a lane supplies, −1 for none."""
    quad, place = _lanes()
    return np.where(place == 0, quad, -1)
