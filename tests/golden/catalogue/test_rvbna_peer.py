"""RISC-V's batched dot products as Spike computes them: its own header, unpacked from a clone and built here."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

import golden
from golden.arithmetic.specials import quiet_nan
from golden.comparison import differing, is_nan
from golden.program import FORMS, RowProgram
from golden.stimulus import Operands, OperandShape, generate
from tests.peers import unpacked

SOURCE = Path(__file__).parents[3] / "examples" / "program" / "rvbna.cpp"
PARTS = ("f32_add.c", "s_*F32*.c", "s_shiftRightJam32.c", "s_countLeadingZeros*.c", "softfloat_*.c")
"""The files of Spike's SoftFloat that an fp32 addition needs."""

ROWS = 20_480

pytestmark = pytest.mark.peer

INSTRUCTIONS = [i for i in golden.instructions("riscv-zvbdota") if i.evidence == "emulated"]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    spike, build = unpacked("riscv-isa-sim"), tmp_path_factory.mktemp("rvbna")
    (build / "config.h").touch()  # which Spike's configure would write; SoftFloat needs nothing of it
    softfloat = spike / "softfloat"
    sources = [str(path) for part in PARTS for path in sorted(softfloat.glob(part))]
    include = ["-I", str(build), "-I", str(softfloat)]
    subprocess.run(["gcc", "-O2", "-c", "-DSOFTFLOAT_ROUND_ODD", *include, *sources], cwd=build, check=True, timeout=300)
    objects = sorted(map(str, build.glob("*.o")))
    command = ["g++", "-O2", "-std=c++17", "-I", str(spike / "riscv"), *include, str(SOURCE), *objects, "-o", "rvbna"]
    subprocess.run(command, cwd=build, check=True, timeout=300)
    return build / "rvbna"


def rows_of(instruction: golden.Instruction) -> Operands:
    return generate(OperandShape.of(instruction), ROWS, seed=47).operands


def of_spike(program: Path, instruction: golden.Instruction, operands: Operands) -> np.ndarray:
    with RowProgram(str(program), OperandShape.of(instruction), FORMS["binary"]) as asked:
        return asked.dot(operands)


@pytest.mark.parametrize("instruction", INSTRUCTIONS, ids=lambda i: i.name)
def test_spike_agrees_with_the_model(instruction: golden.Instruction, program: Path) -> None:
    operands = rows_of(instruction)
    got = of_spike(program, instruction, operands)
    assert not differing(got, instruction.dot(operands.a, operands.b, operands.c), instruction.operation).any()
    nans = got[is_nan(got, instruction.d)]
    assert len(nans) > 50
    assert set(nans.tolist()) == {quiet_nan(instruction.d)}
