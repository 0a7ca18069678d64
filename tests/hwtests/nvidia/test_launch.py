"""Launches through CuPy under faults, on NumPy under CuPy's name: recycled memory, a driver that refuses."""

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
from studies.lent_minutes.instructions import integer_tiles, verdict_on_kernel
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
