"""Layouts of every `v_mfma`: which element of A, B, C or D each lane of a wavefront holds in which place.

The layouts are written down here and nowhere else. The kernels index memory by the tables made here, of shape [64 lanes,
elements], with offsets into the blocks that one instruction computes at once: A as [blocks, m, k], B as [blocks, n, k], C
and D as [blocks, m, n]. Sources: AMD CDNA3 ISA, section 7.1; the layouts that AMD's matrix instruction calculator prints.
"""

import numpy as np
import numpy.typing as npt

from golden import Instruction

LANES = 64

Table = npt.NDArray[np.int64]
"""A layout: offsets [64 lanes, elements]."""

PER_LANE: dict[str, int] = {"fp32": 1, "fp64": 1, "tf32": 2, "fp16": 4, "bf16": 4, "e4m3fnuz": 8, "e5m2fnuz": 8, "int8": 4}
"""Number of elements of A (and of B) that a lane holds, by format; they are neighbours along k."""

NEW_INT8_PER_LANE = 8
"""Number of elements per lane of the two int8 instructions that gfx942 added, with one block and K of 16 or 32."""

OLD_BF16_PER_LANE = 2
"""Number of elements per lane of the bf16 instructions without `_1k` in their name on gfx908 and gfx90a."""


def per_lane(instruction: Instruction) -> int:
    """Number of elements of A that a lane holds."""
    if instruction.a.name == "bf16" and instruction.name.endswith("bf16") and instruction.arch != "gfx942":
        return OLD_BF16_PER_LANE
    if instruction.name in ("v_mfma_i32_32x32x16_i8", "v_mfma_i32_16x16x32_i8"):
        return NEW_INT8_PER_LANE
    return PER_LANE[instruction.a.name]


def blocks(instruction: Instruction) -> int:
    """Number of independent m×n×k products that the instruction computes at once."""
    return LANES * per_lane(instruction) // (instruction.m * instruction.k)


def operand_table(rows: int, k: int, elements: int) -> Table:
    """The layout of A with its m rows, or of B with its n columns as rows: lanes run over rows, then blocks, then groups of
    k."""
    lane, element = np.arange(LANES)[:, None], np.arange(elements)
    count = LANES * elements // (rows * k)
    row, block, group = lane % rows, lane // rows % count, lane // rows // count
    return (block * rows + row) * k + group * elements + element


def result_table(m: int, n: int, count: int, fp64: bool) -> Table:
    """The layout of C and D.

    fp32: a lane holds four neighbouring rows of one column; lanes run over columns and then over groups of four rows. fp64:
    a lane holds one row in four of one column.
    """
    lane = np.arange(LANES)[:, None]
    element = np.arange(m * n * count // LANES)
    if fp64:
        row = 4 * element + lane // 16 if count == 1 else lane // 16 + 0 * element
        block = 0 * row if count == 1 else lane // n % count + 0 * element
    elif m == 4:
        row, block = element + 0 * lane, lane // n + 0 * element
    else:
        of_a_block = m * n // LANES
        block, within = element // of_a_block + 0 * lane, element % of_a_block
        row = within // 4 * (4 * LANES // n) + lane // n * 4 + within % 4
    return (block * m + row) * n + lane % n
