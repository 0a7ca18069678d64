"""The models beside the public MMA-Sim package, on fresh random inputs, for all 326 instructions that it has.

Where it departs from numerics.md, rows are left out by a rule on the inputs alone (`mma_sim.DEPARTURES`).
The vectors of tests/data are computed again.

`MMAU_PEER_SEED` repeats or varies a run (default 1), `MMAU_PEER_ROWS` lengthens it.
"""

import os
from types import ModuleType

import numpy as np
import pytest

import golden
from golden.recordings.recording import content
from golden.stimulus import Operands, OperandShape, generate
from tests.data import mma_sim, remake_vectors
from tests.data.load import Case, vector_sets
from tests.golden.differences import differing_rows, first_difference

SEED = int(os.environ.get("MMAU_PEER_SEED", "1"))
ROWS = int(os.environ.get("MMAU_PEER_ROWS", "400"))

pytestmark = pytest.mark.peer


@pytest.fixture(scope="module")
def torch() -> ModuleType:
    """PyTorch, where MMA-Sim is installed too."""
    pytest.importorskip("mmasim", reason="MMA-Sim is not installed (extra `peer`)")
    module: ModuleType = pytest.importorskip("torch", reason="PyTorch is not installed (extra `peer`)")
    return module


INSTRUCTIONS = mma_sim.instructions()


def stimulus(instruction: golden.Instruction) -> Operands:
    return generate(OperandShape.of(instruction), ROWS, SEED).operands


def is_any_nan(instruction: golden.Instruction) -> bool:
    """Whether NaN results are not compared by their codes. MMA-Sim writes one NaN everywhere; FP64 on an H100 passes on an
    operand's, as recorded rows show."""
    return not instruction.operation.nan_is_fixed() or getattr(instruction.operation, "nan", "quiet") != "quiet"


def test_peer_has_the_326_instructions_of_the_vectors() -> None:
    assert len(INSTRUCTIONS) == 326
    assert set(INSTRUCTIONS) == set(remake_vectors.instructions())


@pytest.mark.parametrize("instruction", [pytest.param(i, id=f"{i.arch}:{i.name}") for i in INSTRUCTIONS])
def test_model_equals_peer(torch: ModuleType, instruction: golden.Instruction) -> None:
    torch.set_num_threads(1)
    operands = stimulus(instruction)
    operands = operands.rows(np.flatnonzero(~mma_sim.departs(instruction, operands)))
    assert len(operands.c) > ROWS // 2
    got = instruction.dot(*operands, engine="reference")
    expected = mma_sim.dot(instruction, operands)
    rows = differing_rows(got, expected, any_nan=is_any_nan(instruction))
    assert rows.size == 0, f"seed {SEED}: {first_difference(rows, got, expected, instruction.d.describe)}"


@pytest.mark.usefixtures("torch")
@pytest.mark.parametrize("vectors", vector_sets(), ids=str)
def test_vectors_are_what_mma_sim_computes(vectors: Case) -> None:
    """The committed inputs give the committed outputs, those by the twin where MMA-Sim may lose the accumulator."""
    instruction = vectors.instruction
    expected = vectors.expected()
    got = remake_vectors.expected(instruction, vectors.operands())
    rows = differing_rows(got, expected, vectors.any_nan)
    assert rows.size == 0, first_difference(rows, got, expected, instruction.d.describe)


@pytest.mark.usefixtures("torch")
def test_fresh_vectors_follow_from_their_seed_and_are_the_models_results() -> None:
    instructions = remake_vectors.instructions()
    for number in range(0, len(instructions), 25):
        instruction = instructions[number]
        made, again, other = (remake_vectors.vectors_of(instruction, number, seed) for seed in (5, 5, 6))
        assert content(made) == content(again)
        assert (made.operands.a != other.operands.a).any()
        got, expected = made.dot(engine="reference"), made.d
        rows = differing_rows(got, expected, any_nan=is_any_nan(instruction))
        assert (len(expected), rows.size) == (96, 0), first_difference(rows, got, expected, instruction.d.describe)
