"""The self-test: its rows are the reference's, its integers are exact in every datapath of the part."""

import re
from typing import Any

import numpy as np
import pytest

import golden
from golden.stimulus import Tiles
from hwtests import on_host
from hwtests.nvidia.sparse_and_integer import MatrixInstruction, metadata_word
from studies.h200.reference import ROWS, distinct, read
from studies.h200.self_test import LARGEST, integer_tiles, verdict_on_matrix_instruction
from studies.sparse_and_integer.__main__ import Ran, instructions_of
from tests.studies.h200.stand_in import ModelDevice, dot, right, swap_columns


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
    assert covered == {(i.chain, i.k) for i in golden.instructions("sm_90") if i.d.name != "int32"}


FLOATS = [i for i in distinct() if i.d.name != "int32"]


@pytest.mark.parametrize("instruction", FLOATS, ids=lambda i: i.name)
def test_integers_are_exact_in_every_datapath(instruction: golden.Instruction) -> None:
    tiles, expected = integer_tiles(instruction)
    np.testing.assert_array_equal(on_host.model(instruction.chain, tiles, dot), expected)
    assert len(np.unique(tiles.a)) == len(np.unique(tiles.b)) == 2 * LARGEST + 1


def test_two_instructions_have_other_tiles() -> None:
    first, second = (integer_tiles(golden.instruction("sm_90", f"wgmma.m64n{n}k16.f32.f16.f16"))[0] for n in (8, 16))
    assert (first.a != second.a).any()


OUTSIDE = instructions_of("sm_90")


@pytest.mark.parametrize("instruction", OUTSIDE, ids=lambda i: i.name)
def test_integers_of_instructions_outside_the_catalogue_are_exact(instruction: MatrixInstruction) -> None:
    """A device that computes the model's sums passes; one whose columns lie wrong, or that takes other elements of B, does
    not."""
    device = ModelDevice(right)
    assert verdict_on_matrix_instruction(device.run, instruction)["status"] == "done"

    def swapped(i: MatrixInstruction, tiles: Tiles, metadata: Any) -> Ran:
        ran = device.run(i, tiles, metadata)
        return ran._replace(d=swap_columns(ran.d))

    def misread(i: MatrixInstruction, tiles: Tiles, metadata: Any) -> Ran:
        nibbles = np.array(list(i.selections), np.uint32)
        others = np.roll(nibbles, 1)[np.searchsorted(np.sort(nibbles), metadata & 0xF)] if i.sparse else metadata
        return device.run(
            i, Tiles(tiles.a, tiles.b[:, :, ::-1] if not i.sparse else tiles.b, tiles.c), metadata_word(others)
        )

    for fault in (swapped, misread):
        found = verdict_on_matrix_instruction(fault, instruction)
        assert found["status"] == "failed"
        assert re.match(r"wrong layout: \d+ of \d+ elements of small-integer tiles, first \[", found["detail"])
