"""Arm's instructions under QEMU, an emulator written from the architecture's text, beside the catalogue's models."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

import golden
from golden.comparison import differing
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
    stimulus = generate(OperandShape.of(instruction), ROWS, seed=41)
    arrays = [stimulus.operands.a, stimulus.operands.b, stimulus.operands.c]
    got = emulated(program, instruction, arrays)
    expected = instruction.dot(arrays[0], arrays[1], arrays[2])
    assert got.shape == expected.shape
    assert np.count_nonzero(differing(got, expected, instruction.operation)) == 0
