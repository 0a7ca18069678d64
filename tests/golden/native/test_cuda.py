"""The cuda engine without a GPU: every kernel compiles, and what it is given is checked. With one: it equals native."""

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import golden
from golden.chains.chain import Chain
from golden.native import cuda
from golden.native.cuda import cubin
from golden.stimulus import OperandShape
from hwtests.nvidia.disassembly import sass
from tests.golden.distinct_arithmetics import distinct_arithmetic
from tests.golden.native.native_rows import class_rows
from tests.golden.native.test_engine import EXTREMES
from tests.hwtests.compilers import needs_cuda_compiler

ARCHITECTURES = ("sm_90", "sm_120")
HOPPER = golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32")


def one_of_each_operation() -> list[golden.Instruction]:
    seen: dict[object, golden.Instruction] = {}
    for instruction in distinct_arithmetic():
        seen.setdefault((type(instruction.chain), instruction.operation.name, instruction.d.name), instruction)
    return list(seen.values())


@needs_cuda_compiler
@pytest.mark.kernels
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("instruction", one_of_each_operation(), ids=lambda i: f"{i.arch}-{i.name}")
def test_kernel_compiles(instruction: golden.Instruction, architecture: str) -> None:
    assert b"dot_rows" in cubin(cuda.source(instruction.chain, instruction.k), architecture, cuda.INCLUDE)
    product = cubin(cuda.product_source(instruction.chain, instruction.k), architecture, cuda.INCLUDE)
    assert b"matrix_product" in product


@needs_cuda_compiler
@pytest.mark.kernels
@pytest.mark.parametrize("operation", EXTREMES, ids=lambda operation: operation.name)
def test_kernel_at_the_limits_compiles(operation: golden.Operation) -> None:
    assert b"dot_rows" in cubin(cuda.source(Chain(operation), operation.length), "sm_90", cuda.INCLUDE)


@needs_cuda_compiler
@pytest.mark.parametrize(
    ("name", "sums"),
    [("mma.m16n8k32.f32.e4m3.e4m3.f32", {"FADD"}), ("v_mfma_f32_16x16x4f32", {"FFMA"})],
    ids=["converted", "fma"],
)
def test_no_result_is_flushed(name: str, sums: set[str]) -> None:
    """Machine additions preserve subnormal results: none has the modifier .FTZ."""
    instruction = golden.instruction("sm_90" if name.startswith("mma") else "gfx908", name)
    mnemonics = {found for found, _ in sass(cubin(cuda.source(instruction.chain, instruction.k), "sm_90", cuda.INCLUDE))}
    assert sums <= mnemonics
    assert not [found for found in mnemonics if found.startswith(("FADD", "FMUL", "FFMA")) and ".FTZ" in found]


def test_what_reaches_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """The project's cubin is loaded for the device's own capability, once, and CuPy compiles nothing."""
    asked: list[tuple[str, str]] = []
    loaded: list[bytes] = []
    launches: list[tuple[Any, ...]] = []

    class Array(np.ndarray):
        data = SimpleNamespace(ptr=64)  # type: ignore[assignment]

    def launch(grid: Any, block: Any, arguments: Any) -> None:
        assert isinstance(arguments[0], np.ndarray)  # by value where it has one element, as CuPy's custom_struct examples
        assert (arguments[0].size, arguments[0].nbytes) == (1, 12 * 8)
        batch, *rest = arguments
        launches.append((grid, block, np.frombuffer(batch.tobytes(), np.int64)[6:].tolist(), rest))

    def asked_for(source: str, target: str, include: Any) -> bytes:
        asked.append((source, target))
        return b"cubin"

    module = SimpleNamespace(load=loaded.append, get_function=lambda name: launch)
    cupy = SimpleNamespace(
        ndarray=Array,
        ascontiguousarray=lambda array: array,
        empty=lambda shape, dtype: np.empty(shape, dtype).view(Array),
        cuda=SimpleNamespace(
            function=SimpleNamespace(Module=lambda: module), Device=lambda: SimpleNamespace(compute_capability="90", id=0)
        ),
    )
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setattr(cuda, "cubin", asked_for)
    cuda._kernel.cache_clear()
    a, c = np.zeros((300, 32), np.uint16).view(Array), np.zeros(300, np.uint32).view(Array)
    for _ in range(2):
        assert cuda.compute(HOPPER.chain, a, a, c).shape == (300,)
        assert cuda.compute(HOPPER.chain, a[:65], a, np.zeros((65, 300), np.uint32).view(Array), columns=300).size == 19_500
    cuda._kernel.cache_clear()
    assert asked == [(cuda.source(HOPPER.chain, 32), "sm_90"), (cuda.product_source(HOPPER.chain, 32), "sm_90")]
    assert loaded == [b"cubin", b"cubin"]
    rows: tuple[Any, ...] = ((2, 1, 1), (256, 1, 1), [300, 0, 32, 32, 0, 0], [])
    assert launches == [rows, ((10, 1, 1), (256, 1, 1), [19_500, 300, 32, 32, 0, 0], [32])] * 2


def test_numpy_arrays_are_refused() -> None:
    zeros: Any = np.zeros(16, np.uint16)
    with pytest.raises(
        ValueError, match=r"^engine 'cuda' takes arrays on a GPU; got NumPy arrays, which engine 'native' takes$"
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
    operands = class_rows(OperandShape.of(instruction), 20_000, seed=19)
    a, b, c, scale_a, scale_b = (None if column is None else cupy.asarray(column) for column in operands)
    assert (instruction.dot(a, b, c, scale_a, scale_b).get() == instruction.dot(*operands)).all()
    with pytest.raises(
        ValueError, match=r"^engine 'native' takes NumPy arrays; got arrays on a GPU, which engine 'cuda' takes$"
    ):
        instruction.dot(a, b, c, scale_a, scale_b, engine="native")
