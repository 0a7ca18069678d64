"""The native engine gives the same results with every instruction set of the processor."""

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import golden
from golden.native.library import isa
from tests.golden.native.native_rows import INSTRUCTION_SETS, has_instruction_set, needs_native

pytestmark = needs_native

IN_ANOTHER_PROCESS = """
import sys, zlib
from golden.native.library import isa
from golden.stimulus import OperandShape, generate
from tests.golden.native.native_rows import class_rows
from tests.golden.distinct_arithmetics import distinct_arithmetic
sums = 0
for instruction in distinct_arithmetic():
    d = instruction.dot(*class_rows(OperandShape.of(instruction), 50, seed=13), engine="native")
    sums = zlib.crc32(d.tobytes(), sums)
print(isa(), sums)
"""


def in_another_process(wanted: str) -> list[str]:
    """The instruction set that was used, and a checksum over results of the whole catalogue."""
    environment = os.environ | {"MMAU_ISA": wanted, "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run(
        [sys.executable, "-c", IN_ANOTHER_PROCESS], env=environment, capture_output=True, text=True, check=True, timeout=300
    )
    return run.stdout.split()


@pytest.mark.slow
def test_every_instruction_set_gives_the_same_results() -> None:
    portable = in_another_process("portable")
    assert portable[0] == "portable"
    here = [name for name in INSTRUCTION_SETS if has_instruction_set(name)]
    for wanted in here[1:]:
        assert in_another_process(wanted) == [wanted, portable[1]]
    assert isa() == here[-1]


def test_unknown_instruction_set_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    zeros: Any = np.zeros((3, 16), np.uint16)
    absent = [name for name in INSTRUCTION_SETS if not has_instruction_set(name)]
    for wanted in ("avx2", "x86_64_v3", "portable ", *absent):
        monkeypatch.setenv("MMAU_ISA", wanted)
        rule = f"one that this processor has, got {wanted!r}"
        message = f"^the environment variable MMAU_ISA must be portable, x86-64-v3 or x86-64-v4, and {rule}$"
        with pytest.raises(ValueError, match=message):
            golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32").dot(zeros, zeros, np.zeros(3, np.uint32))
        with pytest.raises(ValueError, match=message):
            isa()
    monkeypatch.setenv("MMAU_ISA", "")
    assert isa() is not None
