"""Launches through CuPy under faults, on NumPy under CuPy's name: recycled memory, a driver that refuses."""

import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import golden
from hwtests.conform.check import Check
from hwtests.conform.instruction_progress import Progress
from hwtests.device import DeviceError
from hwtests.nvidia import cupy_device as cuda_device
from hwtests.nvidia.cupy_device import CudaDevice
from hwtests.nvidia.sparse_and_integer import INTEGER
from studies.h200.self_test import integer_tiles, verdict_on_kernel
from studies.sparse_and_integer import __main__
from studies.sparse_and_integer.__main__ import integer_operands, run_on
from tests.hwtests.nvidia.test_cupy_device import RuntimeFailureError, opened

WGMMA = golden.instruction("sm_90", "wgmma.m64n8k16.f32.f16.f16")
BINARY = bytes(64)


def recycling() -> Callable[..., Any]:
    """numpy.empty that hands out the same block for the same shape again, as CuPy's pool does."""
    blocks: dict[Any, Any] = {}
    return lambda shape, dtype: blocks.setdefault((tuple(np.atleast_1d(shape)), np.dtype(dtype)), np.zeros(shape, dtype))


def with_recycled_memory(monkeypatch: pytest.MonkeyPatch, instruction: golden.Instruction) -> tuple[CudaDevice, Any]:
    device, cupy = opened(monkeypatch, instruction)
    monkeypatch.setattr(cuda_device, "cubin", lambda source, target: BINARY)
    cupy.empty, cupy.asnumpy = recycling(), np.array

    def full(shape: Any, value: int, dtype: Any) -> Any:
        block = cupy.empty(shape, dtype)
        block[...] = value
        return block

    cupy.full, cupy.empty_like = full, lambda array: cupy.empty(array.shape, array.dtype)
    return device, cupy


def test_route_that_writes_nothing_does_not_pass_with_the_results_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the self-test nor the independence of operand routes."""
    device, _ = with_recycled_memory(monkeypatch, WGMMA)
    both = device.load(WGMMA)
    _, expected = integer_tiles(WGMMA)

    def right(grid: Any, block: Any, arguments: tuple[Any, ...]) -> None:
        arrays = [x for x in arguments if isinstance(x, np.ndarray)]
        if len(arrays[-1]) == len(expected):
            arrays[-1][...] = expected

    both[0]._function, both[1]._function = right, lambda grid, block, arguments: None
    monkeypatch.setattr(device, "load", lambda instruction: both)
    found = verdict_on_kernel(device, WGMMA)
    assert found["status"] == "failed"
    assert found["detail"].startswith(f"wrong layout (A from registers): {expected.size} of {expected.size} elements")
    progress = Progress()
    check = Check(device, WGMMA, 1, progress)
    stimulus = check.rows()
    both[0]._function = lambda grid, block, arguments: arguments[3].fill(0)
    assert not check.check_independence(stimulus)
    assert "0xffffffff with shift=0, below=0, A from registers" in progress.detail


@pytest.fixture
def probe(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The probe on a kernel that writes nothing; `alive` is a reference to what was loaded."""
    device, cupy = with_recycled_memory(monkeypatch, WGMMA)
    monkeypatch.setattr(__main__, "cubin", lambda source, target: BINARY)
    found = SimpleNamespace(cupy=cupy, run=run_on(device), alive=None)

    class Idle:
        def __call__(self, grid: Any, block: Any, arguments: Any) -> None:
            pass

    def get_function(entry: str) -> Idle:
        function = Idle()
        found.alive = weakref.ref(function)
        return function

    cupy.cuda.function.Module = lambda: SimpleNamespace(load=lambda binary: None, get_function=get_function)
    return found


def test_probe_does_not_take_old_memory_for_results(probe: SimpleNamespace) -> None:
    instruction = INTEGER[0]
    tiles = integer_operands(instruction, 4, 0)
    probe.cupy.empty(tiles.c.shape, tiles.c.dtype).fill(7)
    assert (probe.run(instruction, tiles, None).d == 0xFFFF_FFFF).all()


def test_probe_holds_its_kernel_until_the_results_are_there(probe: SimpleNamespace) -> None:
    held: list[bool] = []

    def asnumpy(array: Any) -> Any:
        held.append(probe.alive() is not None)
        return np.array(array)

    probe.cupy.asnumpy = asnumpy
    probe.run(INTEGER[0], integer_operands(INTEGER[0], 4, 0), None)
    assert held == [True]


@pytest.mark.parametrize("when", ["load", "launch"])
@pytest.mark.parametrize("broken", [False, True])
def test_kernel_that_the_driver_refuses(when: str, broken: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error fails that instruction alone if the device still works, and ends the process if it does not."""
    device, cupy = opened(monkeypatch, WGMMA)
    monkeypatch.setattr(cuda_device, "cubin", lambda source, target: BINARY)
    tiles, _ = integer_tiles(WGMMA)

    def refuse(*_: Any) -> None:
        raise cupy.cuda.driver.CUDADriverError("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: too many resources requested for launch")

    def synchronize() -> None:
        if broken:
            raise RuntimeFailureError("cudaErrorIllegalAddress: an illegal memory access was encountered")

    cupy.cuda.runtime.deviceSynchronize = synchronize
    if when == "load":
        cupy.cuda.function.Module = lambda: SimpleNamespace(load=refuse)
    else:
        cupy.cuda.function.Module = lambda: SimpleNamespace(load=lambda binary: None, get_function=lambda entry: refuse)
    kind, words = (
        (RuntimeFailureError, "illegal memory access") if broken else (DeviceError, "^the driver refuses a kernel: CUDA")
    )
    with pytest.raises(kind, match=words):
        device.load(WGMMA)[0].run(tiles)
