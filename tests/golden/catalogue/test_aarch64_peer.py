"""Arm's instructions under QEMU, an emulator written from the architecture's text, beside the catalogue's models."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

import golden
from golden.arithmetic.specials import quiet_nan
from golden.chains.chain import PAIRED, Chain
from golden.comparison import differing, is_nan
from golden.engines.engine import Batch, run
from golden.operations import EFDPA
from golden.stimulus import OperandShape, generate

COMPILER, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64"
SOURCE = Path(__file__).with_name("aarch64_rows.c")
ROWS = 20_480

pytestmark = pytest.mark.needs("aarch64")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("aarch64") / "rows"
    options = ["-O1", "-Wall", "-Wextra", "-static", "-march=armv8.6-a+fp16+bf16", "-ffp-contract=off"]
    subprocess.run([COMPILER, *options, str(SOURCE), "-o", str(path)], check=True, timeout=300)
    return path


def emulated(program: Path, instruction: golden.Instruction, arrays: list[np.ndarray]) -> np.ndarray:
    """The emulator's d of rows of a [rows, K], b [rows, K], c [rows]."""
    a, b, c = arrays
    packed = np.rec.fromarrays([*a.T, *b.T, c])
    command = [EMULATOR, "-cpu", "max", str(program), instruction.name]
    done = subprocess.run(command, input=packed.tobytes(), capture_output=True, check=True, timeout=300)
    return np.frombuffer(done.stdout, c.dtype)


EMULATED = [i for i in golden.instructions("aarch64") if i.evidence == "emulated"]


@pytest.mark.slow
@pytest.mark.parametrize("instruction", EMULATED, ids=lambda i: i.name)
def test_emulator_agrees_with_the_model(instruction: golden.Instruction, program: Path) -> None:
    stimulus = generate(OperandShape.of_instruction(instruction), ROWS, seed=41)
    arrays = [stimulus.operands.a, stimulus.operands.b, stimulus.operands.c]
    got = emulated(program, instruction, arrays)
    expected = instruction.dot(arrays[0], arrays[1], arrays[2])
    assert got.shape == expected.shape
    assert np.count_nonzero(differing(got, expected, instruction.operation)) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bfdot", "bfmmla"])
def test_rounding_flush_and_order_of_paired_products_are_seen(name: str, program: Path) -> None:
    """Models of one key less, of fused pairs (what EBF = 1 asks for), and of multiply-adds in order; and which NaN comes."""
    instruction = golden.instruction("aarch64", name)
    stimulus = generate(OperandShape.of_instruction(instruction), ROWS, seed=41)
    arrays = [stimulus.operands.a, stimulus.operands.b, stimulus.operands.c]
    got, operation = emulated(program, instruction, arrays), instruction.operation
    others: list[Chain] = [
        Chain(operation.changed(**keys), PAIRED)
        for keys in ({"rho": "RNE-FP32"}, {"flush_inputs": False}, {"flush_results": False}, {"overflow": "by-mode"})
    ]
    others += [Chain(operation), Chain(EFDPA(a="bf16", b="bf16", c="fp32", L=2))]  # type: ignore[arg-type]
    for other in others:
        assert np.count_nonzero(differing(got, run(None, other, Batch(arrays[0], arrays[1], arrays[2])), operation)) > 10
    nans = got[is_nan(got, instruction.d)]
    assert len(nans) > 100
    assert set(nans.tolist()) == {quiet_nan(instruction.d)}


def test_model_that_flushes_is_seen(program: Path) -> None:
    """BFDOT and BFMMLA flush and round to odd; the widening multiply-add does neither."""
    instruction = golden.instruction("aarch64", "bfmlalb")
    stimulus = generate(OperandShape.of_instruction(instruction), ROWS, seed=41)
    arrays = [stimulus.operands.a, stimulus.operands.b, stimulus.operands.c]
    got = emulated(program, instruction, arrays)
    for keys in ({"flush_inputs": True}, {"flush_results": True}, {"rho": "RO-FP32"}):
        other = golden.Unit(name="other", operation=instruction.operation.changed(**keys))
        assert np.count_nonzero(differing(got, other.dot(arrays[0], arrays[1], arrays[2]), instruction.operation)) > 100
