"""Arm's sums of outer products under QEMU, beside the catalogue's models (examples/program/sme.c is what QEMU runs).

`MMAU_QEMU_AARCH64` names another qemu-aarch64 than that on PATH: 7.2 has the instructions of SME, 11.1 those of SME2,
FPCR.EBF and FP8 too. Debian's package qemu-user of a later release unpacks anywhere (`dpkg -x`): its programs are static.
"""

import os
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import golden
from golden.arithmetic.specials import quiet_nan
from golden.chains.chain import Chain
from golden.comparison import differing, is_nan
from golden.engines.engine import Batch, run
from golden.operations import EFDPA
from golden.program import FORMS, ProgramError, RowProgram
from golden.stimulus import Operands, OperandShape, generate

SOURCE = Path(__file__).parents[3] / "examples" / "program" / "sme.c"
ROWS = 6_144
SINCE_11 = ("h.h", ".ebf", "e4m3", "e5m2")
"""Ends of the names of instructions that QEMU 7.2 does not have; of those with `.ebf` it computes something else."""

pytestmark = pytest.mark.needs("aarch64")

ENTRIES = golden.instructions("armv9-sme")


@cache
def emulator() -> tuple[str, int]:
    """The emulator, and the first number of its version."""
    program = os.environ.get("MMAU_QEMU_AARCH64", "qemu-aarch64")
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True, timeout=60).stdout
    version = re.search(r"version (\d+)\.", said)
    assert version is not None, said
    return program, int(version[1])


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sme") / "sme"
    options = ["-O1", "-Wall", "-Wextra", "-static", "-march=armv9-a"]
    subprocess.run(["aarch64-linux-gnu-gcc", *options, str(SOURCE), "-o", str(path)], check=True, timeout=300)
    return path


def rows_of(instruction: golden.Instruction) -> Operands:
    return generate(OperandShape.of(instruction), ROWS, seed=43).operands


def emulated(program: Path, instruction: golden.Instruction, operands: Operands, name: str | None = None) -> np.ndarray:
    """The emulator's d; skips where it is too old. `name`: of another instruction on the same operands."""
    command, version = emulator()
    if version < 11 and instruction.name.endswith(SINCE_11):
        pytest.skip(f"{command} is of version {version}; MMAU_QEMU_AARCH64 may name a later one")
    shape = OperandShape.of(instruction)
    text = f"{command} -cpu max {program} {name or instruction.name}"
    with RowProgram(text, shape, FORMS["binary"]) as asked:
        return asked.dot(operands)


@pytest.mark.slow
@pytest.mark.parametrize("instruction", ENTRIES, ids=lambda i: i.name)
def test_emulator_agrees_with_the_model(instruction: golden.Instruction, program: Path) -> None:
    operands = rows_of(instruction)
    got = emulated(program, instruction, operands)
    expected = instruction.dot(operands.a, operands.b, operands.c)
    assert np.count_nonzero(differing(got, expected, instruction.operation)) == 0
    if instruction.d.infinity is not None:  # Arm's default NaN, whatever the operands' NaN
        nans = got[is_nan(got, instruction.d)]
        assert len(nans) > 50
        assert set(nans.tolist()) == {quiet_nan(instruction.d)}


def others_of(instruction: golden.Instruction) -> dict[str, Chain]:
    """Models of the widening instructions with one fault each."""
    operation = instruction.operation
    assert isinstance(operation, EFDPA)

    def chain(changed: EFDPA, **keys: Any) -> Chain:
        return Chain(changed, **{"add_c": "last", **keys})

    return {
        "c fused with the products": chain(operation, add_c="first"),
        "zeros all positive": chain(operation.changed(zero="positive")),
        "rounded to odd": chain(operation.changed(rho="RO-FP32"), addition="RO"),
        "results flushed": chain(operation.changed(flush_results=True)),
        "products subtracted": chain(operation, subtract=True),
    }


@pytest.mark.attack("model")
@pytest.mark.parametrize("name", ["fmopa.za.s.h", "bfmopa.za.s.h.ebf"])
def test_every_rule_of_the_widening_sums_is_seen(name: str, program: Path) -> None:
    """A sum of two products, rounded; c added with another rounding; zeros of IEEE 754."""
    instruction = golden.instruction("armv9-sme", name)
    operands = rows_of(instruction)
    got = emulated(program, instruction, operands)
    batch = Batch(operands.a, operands.b, operands.c)
    unseen = {
        fault
        for fault, chain in others_of(instruction).items()
        if not np.count_nonzero(differing(got, run(None, chain, batch), instruction.operation))
    }
    assert unseen == set()


@pytest.mark.attack("model")
@pytest.mark.parametrize(("name", "other"), [("fmopa.za.s.h", "fmops.za.s.h"), ("smopa.za.s.b", "sumopa.za.s.b")])
def test_another_instruction_is_seen(name: str, other: str, program: Path) -> None:
    instruction = golden.instruction("armv9-sme", name)
    operands = rows_of(instruction)
    got = emulated(program, instruction, operands, other)
    assert np.count_nonzero(differing(got, instruction.dot(operands.a, operands.b, operands.c), instruction.operation)) > 500


def test_instruction_that_the_program_does_not_know(program: Path) -> None:
    instruction = golden.instruction("armv9-sme", "fmopa.za.s.s")
    with pytest.raises(ProgramError, match=r"its last message: sme: no instruction fmul$"):
        emulated(program, instruction, rows_of(instruction), "fmul")
