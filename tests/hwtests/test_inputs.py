"""The stimulus at volume as conformance takes it."""

import numpy as np
import pytest

import golden
from hwtests.inputs import NAMES, row_of, tiles_of

PLAIN = golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32")
SCALED = golden.instruction("sm_120", "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e3m2.e2m3.f32.ue8m0")


@pytest.mark.parametrize("instruction", [PLAIN, SCALED], ids=lambda i: i.name)
def test_row_of_a_tile_is_what_one_element_of_d_comes_from(instruction: golden.Instruction) -> None:
    i = instruction
    tiles, labels = tiles_of(i, 1, 4, 3)
    assert max(labels.tolist()) < len(NAMES)
    row = row_of(tiles, 2, 9, 5)
    A, B, C = tiles.a[2], tiles.b[2].T, tiles.c[2]
    scales = () if tiles.scale_a is None or tiles.scale_b is None else (tiles.scale_a[2], tiles.scale_b[2].T)
    np.testing.assert_array_equal(i.dot(*row), i(A, B, C, *scales)[9, 5][None])
