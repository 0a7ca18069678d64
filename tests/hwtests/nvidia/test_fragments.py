"""The fragment tables against the formulas of the PTX ISA, and as permutations: no element is missed or held twice."""

from collections.abc import Callable

import numpy as np
import pytest

import golden
from hwtests.nvidia.kernels import instructions
from hwtests.nvidia.mma import fp4_is_packed, fragments_of
from hwtests.nvidia.source import (
    accumulators,
    container_bits,
    mma_fragments,
    quad_pairs,
    scale_columns_of_b,
    scale_rows_of_a,
)

Formula = Callable[[int, int, int, int], tuple[int, int]]
"""(groupID, threadID_in_group, i, lane) → (row, column), as the PTX ISA writes it for one shape."""

# PTX ISA 9.0, section 9.7.14.5, a formula a shape, in its own words: g is groupID, t is threadID_in_group.
A_FORMULAS: dict[tuple[int, int, int, int], Formula] = {
    (8, 8, 4, 64): lambda g, t, i, lane: (g, t),
    (16, 8, 4, 64): lambda g, t, i, lane: (g if i == 0 else g + 8, t),
    (16, 8, 8, 64): lambda g, t, i, lane: (g if i in (0, 2) else g + 8, t if i in (0, 1) else t + 4),
    (16, 8, 16, 64): lambda g, t, i, lane: (g if i % 2 == 0 else g + 8, (i * 2 if i % 2 == 0 else i * 2 - 2) + t),
    (16, 8, 4, 32): lambda g, t, i, lane: (g if i == 0 else g + 8, t),
    (16, 8, 8, 32): lambda g, t, i, lane: (g if i in (0, 2) else g + 8, t if i in (0, 1) else t + 4),
    (16, 8, 8, 16): lambda g, t, i, lane: (g if i in (0, 1) else g + 8, t * 2 + (i & 1)),
    (16, 8, 16, 16): lambda g, t, i, lane: (
        g if 0 <= i < 2 or 4 <= i < 6 else g + 8,
        t * 2 + (i & 1) if i < 4 else t * 2 + (i & 1) + 8,
    ),
    (16, 8, 16, 8): lambda g, t, i, lane: (g if i < 4 else g + 8, t * 4 + (i & 3)),
    (16, 8, 32, 8): lambda g, t, i, lane: (
        g if 0 <= i < 4 or 8 <= i < 12 else g + 8,
        t * 4 + (i & 3) if i < 8 else t * 4 + (i & 3) + 16,
    ),
    (16, 8, 64, 4): lambda g, t, i, lane: (
        g if 0 <= i < 8 or 16 <= i < 24 else g + 8,
        t * 8 + (i & 7) if i < 16 else t * 8 + (i & 7) + 32,
    ),
    (8, 8, 16, 8): lambda g, t, i, lane: (g, t * 4 + i),
    (8, 8, 32, 4): lambda g, t, i, lane: (g, t * 8 + i),
    (16, 8, 32, 4): lambda g, t, i, lane: (g if i < 8 else g + 8, t * 8 + (i & 7)),
    (8, 8, 128, 1): lambda g, t, i, lane: (g, t * 32 + i),
    (16, 8, 128, 1): lambda g, t, i, lane: (g if i < 32 else g + 8, t * 32 + (i & 31)),
    (16, 8, 256, 1): lambda g, t, i, lane: (
        g if 0 <= i < 32 or 64 <= i < 96 else g + 8,
        t * 32 + (i & 31) if i < 64 else t * 32 + (i & 31) + 128,
    ),
}
B_FORMULAS: dict[tuple[int, int, int, int], Formula] = {
    (8, 8, 4, 64): lambda g, t, i, lane: (t, g),
    (16, 8, 4, 64): lambda g, t, i, lane: (t, g),
    (16, 8, 8, 64): lambda g, t, i, lane: (t if i == 0 else t + 4, g),
    (16, 8, 16, 64): lambda g, t, i, lane: (i * 4 + t, g),
    (16, 8, 4, 32): lambda g, t, i, lane: (t, g),
    (16, 8, 8, 32): lambda g, t, i, lane: (t if i == 0 else t + 4, g),
    (16, 8, 8, 16): lambda g, t, i, lane: (t * 2 + i, g),
    (16, 8, 16, 16): lambda g, t, i, lane: (t * 2 + (i & 1) if i < 2 else t * 2 + (i & 1) + 8, g),
    (16, 8, 16, 8): lambda g, t, i, lane: (t * 4 + i, g),
    (16, 8, 32, 8): lambda g, t, i, lane: (t * 4 + (i & 3) if i < 4 else t * 4 + (i & 3) + 16, g),
    (16, 8, 64, 4): lambda g, t, i, lane: (t * 8 + (i & 7) if i < 8 else t * 8 + (i & 7) + 32, g),
    (8, 8, 16, 8): lambda g, t, i, lane: (t * 4 + i, g),
    (8, 8, 32, 4): lambda g, t, i, lane: (t * 8 + i, g),
    (16, 8, 32, 4): lambda g, t, i, lane: (t * 8 + i, g),
    (8, 8, 128, 1): lambda g, t, i, lane: (t * 32 + i, g),
    (16, 8, 128, 1): lambda g, t, i, lane: (t * 32 + i, g),
    (16, 8, 256, 1): lambda g, t, i, lane: (t * 32 + (i & 31) if i < 32 else t * 32 + (i & 31) + 128, g),
}
C_FORMULAS: dict[int, Formula] = {
    8: lambda g, t, i, lane: (g, t * 2 + (i & 1)),
    16: lambda g, t, i, lane: (g if i < 2 else g + 8, t * 2 + (i & 1)),
}


def table_of(formula: Formula, slots: int, columns: int, by_columns: bool = False) -> np.ndarray:
    """Offsets [32, slots] of a formula, in a row-major matrix of so many columns, or column-major of so many rows."""
    offsets = np.empty((32, slots), int)
    for lane in range(32):
        for i in range(slots):
            row, column = formula(lane >> 2, lane % 4, i, lane)
            offsets[lane, i] = column * columns + row if by_columns else row * columns + column
    return offsets


@pytest.mark.parametrize("shape", A_FORMULAS, ids=lambda s: f"m{s[0]}n{s[1]}k{s[2]}-{s[3]}bit")
def test_tables_equal_the_isa(shape: tuple[int, int, int, int]) -> None:
    m, n, k, bits = shape
    tables = mma_fragments(m, n, k, bits)
    np.testing.assert_array_equal(tables.a, table_of(A_FORMULAS[shape], m * k // 32, k))
    np.testing.assert_array_equal(tables.b, table_of(B_FORMULAS[shape], n * k // 32, k, by_columns=True))
    np.testing.assert_array_equal(tables.c, table_of(C_FORMULAS[m], m * n // 32, n))


def test_every_shape_of_the_catalogue_has_a_formula() -> None:
    entries = [i for i in instructions() if i.name.startswith("mma.") and (i.k, i.a.name) != (4, "fp16")]
    shapes = {(i.m, i.n, i.k, container_bits(i.a, fp4_is_packed(i))) for i in entries}
    assert shapes == set(A_FORMULAS) == set(B_FORMULAS)


@pytest.mark.parametrize("c_is_fp32", [True, False])
def test_quad_pairs_equal_the_isa(c_is_fp32: bool) -> None:
    """m8n8k4 fp16, A by rows and B by columns; quad pair q is lanes 4q … 4q + 3 and the four sixteen above them."""

    def a_element(lane: int, i: int) -> tuple[int, int]:
        return (lane % 4 if lane < 16 else lane % 4 + 4, i)

    def c_element(lane: int, i: int) -> tuple[int, int]:
        if not c_is_fp32:
            return (lane % 4 if lane < 16 else lane % 4 + 4, i)
        x = (lane & 0b1) + (i & 0b10)
        return (x if lane < 16 else x + 4, (i & 0b100) + (lane & 0b10) + (i & 0b1))

    a, b, c = quad_pairs(c_is_fp32)
    for lane in range(32):
        pair = (lane % 16) // 4
        for i in range(4):
            row, column = a_element(lane, i)
            assert a[lane, i] == b[lane, i] == pair * 32 + row * 4 + column
        for i in range(8):
            row, column = c_element(lane, i)
            assert c[lane, i] == pair * 64 + row * 8 + column


def is_permutation(table: np.ndarray, size: int) -> bool:
    return sorted(table.ravel().tolist()) == list(range(size))


def mma_shapes() -> list[golden.Instruction]:
    """One instruction for every shape and type of A."""
    entries = {(i.m, i.n, i.k, i.a.name, i.c.name, i.d.name): i for i in golden.instructions() if i.name.startswith("mma.")}
    return list(entries.values())


@pytest.mark.parametrize("instruction", mma_shapes(), ids=lambda i: i.name)
def test_each_element_has_exactly_one_slot(instruction: golden.Instruction) -> None:
    i = instruction
    with_c, with_d = fragments_of(i)
    assert is_permutation(with_c.a, with_c.tiles * i.m * i.k)
    assert is_permutation(with_c.b, with_c.tiles * i.n * i.k)
    assert is_permutation(with_c.c, with_c.tiles * i.m * i.n)
    assert is_permutation(with_d.c, with_d.tiles * i.m * i.n)


@pytest.mark.parametrize("n", range(8, 257, 8))
def test_wgmma_accumulators_equal_the_isa(n: int) -> None:
    """PTX ISA 9.0, section 9.7.15.5.1, D of wgmma, rows of one warp: row = groupID, + 8 for i mod 4 ≥ 2; column as below."""
    table = accumulators(16, n)
    expected = table_of(lambda g, t, i, lane: (g + 8 * ((i >> 1) & 1), (i >> 2) * 8 + t * 2 + (i & 1)), n // 2, n)
    np.testing.assert_array_equal(table, expected)
    assert is_permutation(table, 16 * n)


def test_scales_come_from_the_lanes_of_thread_id_zero() -> None:
    """PTX ISA 9.0, section 9.7.14.3: row m of A from lane 4·(m mod 8) + m/8, column n of B from lane 4n."""
    rows, columns = scale_rows_of_a()[:, 0].tolist(), scale_columns_of_b()[:, 0].tolist()
    assert [rows.index(m) for m in range(16)] == [4 * (m % 8) + m // 8 for m in range(16)]
    assert [columns.index(n) for n in range(8)] == [4 * n for n in range(8)]
    assert (rows.count(-1), columns.count(-1)) == (16, 24)
