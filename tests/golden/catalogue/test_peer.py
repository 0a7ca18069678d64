"""The models beside the public MMA-Sim package, on fresh random inputs, for all 326 instructions that it has.

Where it departs from numerics.md, rows are left out by a rule on the inputs alone (`mma_sim.DEPARTURES`), and a test shows
that the rule is needed. The vectors of tests/data are computed again.

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
    return generate(OperandShape.of_instruction(instruction), ROWS, SEED).operands


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
    rows = differing_rows(got, expected, any_nan=not instruction.operation.nan_is_fixed())
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
        rows = differing_rows(got, expected, any_nan=not instruction.operation.nan_is_fixed())
        assert (len(expected), rows.size) == (96, 0), first_difference(rows, got, expected, instruction.d.describe)


def directed(instruction: golden.Instruction, a: float, b: float, c: float) -> Operands:
    """One row: a·b in place 0, zeros elsewhere, and c."""
    x, y = np.zeros((2, 1, instruction.k), f"uint{instruction.a.storage_bits}")
    x[0, 0], y[0, 0] = instruction.a.encode(a), instruction.b.encode(b)
    return Operands(x, y, np.array([c], np.float32).view(np.uint32), None, None)


@pytest.mark.parametrize("c", [np.inf, -np.inf, np.nan])
def test_peer_loses_an_accumulator_that_is_not_finite(torch: ModuleType, c: float) -> None:
    """Beside a product of 2^26 it counts as too small a c, so the rows that are left out differ."""
    instruction = golden.instruction("gfx942", "v_mfma_f32_32x32x16_bf8_bf8")
    row = directed(instruction, 2.0**13, 2.0**13, c)
    assert mma_sim.loses_accumulator(instruction, row).all()
    got = instruction.dot(*row, engine="reference").view(np.float32)
    np.testing.assert_array_equal(got, np.array([c], np.float32))
    assert mma_sim.dot(instruction, row).view(np.float32) == 2.0**26


def test_peer_sums_to_overflow_in_double(torch: ModuleType) -> None:
    """The largest number and half its last bit, less next to nothing: still that number, but not in double."""
    instruction = golden.instruction("gfx908", "v_mfma_f32_4x4x2bf16")
    row = directed(instruction, 2.0**103, 1.0, float(np.finfo(np.float32).max))
    row.a[0, 1], row.b[0, 1] = instruction.a.encode(-1), instruction.b.encode(1)
    assert mma_sim.sums_to_overflow_in_double(instruction, row).all()
    assert instruction.dot(*row, engine="reference") == 0x7F7F_FFFF
    assert mma_sim.dot(instruction, row) == 0x7F80_0000


def test_peer_takes_negative_zero_for_zero_in_ftz_addmul(torch: ModuleType) -> None:
    """−0 and products that underflow to −0: −0 by IEEE 754, +0 there, so the rows that are left out differ."""
    instruction = golden.instruction("gfx90a", "v_mfma_f32_4x4x2bf16")
    row = directed(instruction, -(2.0**-100), 2.0**-100, -0.0)
    row.b[0, 1], row.a[0, 1] = instruction.b.negative_zero, instruction.a.encode(1)
    assert mma_sim.takes_negative_zero(instruction, row).all()
    assert instruction.dot(*row, engine="reference") == 0x8000_0000
    assert mma_sim.dot(instruction, row) == 0
