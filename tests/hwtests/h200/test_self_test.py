"""The self-test: its rows are the reference's, its integers are exact in every datapath of the part."""

import numpy as np
import pytest

import golden
from hwtests import on_host
from hwtests.h200.reference import ROWS, distinct, read
from hwtests.h200.self_test import LARGEST, integer_tiles
from tests.hwtests.h200.stand_in import dot


def test_rows_of_the_file_are_the_references() -> None:
    """A sample of each arithmetic here; `test_all_rows_of_the_file_are_the_references` has them all."""
    for rows in read():
        assert len(rows.d) == ROWS
        chosen = slice(None, None, 16)
        d = rows.instruction.dot(*rows.operands.rows(chosen), engine="reference")
        np.testing.assert_array_equal(d, rows.d[chosen])


@pytest.mark.long
def test_all_rows_of_the_file_are_the_references() -> None:
    for rows in read():
        np.testing.assert_array_equal(rows.instruction.dot(*rows.operands, engine="reference"), rows.d)


def test_every_arithmetic_of_the_part_has_rows() -> None:
    covered = {(rows.instruction.chain, rows.instruction.k) for rows in read()}
    assert covered == {(i.chain, i.k) for i in golden.instructions("sm_90")}


@pytest.mark.parametrize("instruction", distinct(), ids=lambda i: i.name)
def test_integers_are_exact_in_every_datapath(instruction: golden.Instruction) -> None:
    tiles, expected = integer_tiles(instruction)
    np.testing.assert_array_equal(on_host.model(instruction.chain, tiles, dot), expected)
    assert len(np.unique(tiles.a)) == len(np.unique(tiles.b)) == 2 * LARGEST + 1


def test_two_instructions_have_other_tiles() -> None:
    first, second = (integer_tiles(golden.instruction("sm_90", f"wgmma.m64n{n}k16.f32.f16.f16"))[0] for n in (8, 16))
    assert (first.a != second.a).any()
