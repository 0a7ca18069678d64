"""The self-test: its rows are the reference's, its integers are exact in every datapath of the part."""

from typing import Any

import numpy as np
import pytest

import golden
from golden.chains.chain import Chain
from golden.engines.engine import Batch, run
from golden.stimulus import Operands
from hwtests import on_host
from studies.lent_minutes.instructions import LARGEST, integer_tiles, verdict_on_engine, wanted
from studies.lent_minutes.reference import ROWS, distinct, read


def dot(chain: Chain, rows: Operands) -> Any:
    return run(None, chain, Batch(*rows))


def test_rows_of_the_file_are_the_references() -> None:
    """A sample of each arithmetic, and all by the fastest engine; `test_all_rows_of_the_file_are_the_references` has them
    all."""
    for rows in read():
        assert len(rows.d) == ROWS
        np.testing.assert_array_equal(rows.instruction.dot(*rows.operands), rows.d)
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


class Engine:
    """A device's engine, which gets fp16 products wrong where it is said so."""

    xp, engine = np, "native"

    def __init__(self, wrong: bool) -> None:
        self.wrong = wrong

    def dot(self, chain: Chain, rows: Operands) -> Any:
        return dot(chain, rows) ^ (self.wrong and chain.operation.a.name == "fp16")

    def to_host(self, array: Any) -> Any:
        return array


@pytest.mark.attack("an engine that is wrong for one format")
def test_engine_is_held_to_the_reference() -> None:
    """It says how far it is after every arithmetic."""
    turns: list[None] = []
    found = verdict_on_engine(Engine(False), lambda: turns.append(None))  # type: ignore[arg-type]
    assert (found["status"], found["compared"], len(turns)) == ("done", ROWS * len(distinct()), len(distinct()))
    found = verdict_on_engine(Engine(True), lambda: None)  # type: ignore[arg-type]
    assert (found["status"], found["detail"]) == ("failed", "engine native differs from the reference")
    assert found["wrong"]["mma.m16n8k16.f32.f16.f16.f32"] == ROWS
    assert "mma.m16n8k8.f32.tf32.tf32.f32" not in found["wrong"]


@pytest.mark.parametrize("instruction", wanted(), ids=lambda i: i.name)
def test_small_integers_are_exact_in_the_instructions_of_the_list(instruction: golden.Instruction) -> None:
    """The model's sums pass; columns that lie wrong do not."""
    tiles, expected = integer_tiles(instruction)
    d = on_host.model(instruction.chain, tiles, dot)
    np.testing.assert_array_equal(d, expected)
    assert (d[:, :, [1, 0]] != expected[:, :, :2]).any()
    signs = [of.signed for of in (instruction.a, instruction.b)]
    assert [len(np.unique(x)) for x in (tiles.a, tiles.b)] == [
        min(2 * LARGEST + 1 if signed else LARGEST + 1, 1 << of.width)
        for of, signed in zip((instruction.a, instruction.b), signs, strict=True)
    ]
