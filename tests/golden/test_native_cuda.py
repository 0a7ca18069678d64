"""The cuda engine without a GPU: every kernel compiles, and what it is given is checked. With one: it equals native."""

from typing import Any

import numpy as np
import pytest

import golden
from golden.chain import Chain
from golden.native import cuda
from golden.stimulus import OperandShape
from tests.golden.native_rows import class_rows
from tests.golden.rows import distinct_arithmetic
from tests.golden.test_native import EXTREMES

ARCHITECTURES = ("sm_90", "sm_120")
HOPPER = golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32")


def one_of_each_operation() -> list[golden.Instruction]:
    seen: dict[object, golden.Instruction] = {}
    for instruction in distinct_arithmetic():
        seen.setdefault((type(instruction.chain), instruction.operation.name, instruction.d.name), instruction)
    return list(seen.values())


def compiled(text: str, architecture: str) -> bytes:
    """The cubin; the compiler's messages where it refuses."""
    nvrtc = pytest.importorskip("cupy.cuda.nvrtc", reason="CuPy is not installed")
    program = nvrtc.createProgram(text, "dot_rows.cu", (), ())
    try:
        nvrtc.compileProgram(program, (*cuda.OPTIONS, f"-arch={architecture}"))
    except nvrtc.NVRTCError:
        pytest.fail(nvrtc.getProgramLog(program))
    return bytes(nvrtc.getCUBIN(program))


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("instruction", one_of_each_operation(), ids=lambda i: f"{i.arch}-{i.name}")
def test_kernel_compiles(instruction: golden.Instruction, architecture: str) -> None:
    assert b"dot_rows" in compiled(cuda.source(instruction.chain, instruction.k), architecture)


@pytest.mark.parametrize("operation", EXTREMES, ids=lambda operation: operation.name)
def test_kernel_at_the_limits_compiles(operation: golden.Operation) -> None:
    assert b"dot_rows" in compiled(cuda.source(Chain(operation), operation.length), "sm_90")


def test_numpy_arrays_are_refused() -> None:
    zeros: Any = np.zeros(16, np.uint16)
    with pytest.raises(
        ValueError, match=r"^engine 'cuda' takes CuPy arrays; got NumPy arrays, which engine 'native' takes$"
    ):
        HOPPER.dot(zeros, zeros, np.uint32(0), engine="cuda")


def device() -> Any:
    """CuPy, where it has a GPU to use."""
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    try:
        cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        pytest.skip(f"no GPU: {error}")
    return cupy


@pytest.mark.parametrize("instruction", one_of_each_operation(), ids=lambda i: f"{i.arch}-{i.name}")
def test_device_equals_host(instruction: golden.Instruction) -> None:
    cupy = device()
    operands = class_rows(OperandShape.of_instruction(instruction), 20_000, seed=19)
    a, b, c, scale_a, scale_b = (None if column is None else cupy.asarray(column) for column in operands)
    assert (instruction.dot(a, b, c, scale_a, scale_b).get() == instruction.dot(*operands)).all()
    with pytest.raises(
        ValueError, match=r"^engine 'native' takes NumPy arrays; got CuPy arrays, which engine 'cuda' takes$"
    ):
        instruction.dot(a, b, c, scale_a, scale_b, engine="native")
