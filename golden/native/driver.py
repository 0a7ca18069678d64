"""Kernels launched by the driver of NVIDIA's or AMD's GPUs, through ctypes, on tensors of PyTorch: nothing else is needed.

Both drivers have the same functions by other names. PyTorch has set up the device, whose primary context the kernels share.
"""

import ctypes
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple


class Driver(NamedTuple):
    """A driver's library and its functions' names.

    Attributes:
        files: file names of the library, the first that is found.
        load, function, launch: its functions.
    """

    files: tuple[str, ...]
    load: str
    function: str
    launch: str


NVIDIA = Driver(("libcuda.so.1",), "cuModuleLoadData", "cuModuleGetFunction", "cuLaunchKernel")

AMD = Driver(
    ("libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6"),
    "hipModuleLoadData", "hipModuleGetFunction", "hipModuleLaunchKernel",
)  # fmt: skip


@cache
def library(driver: Driver) -> ctypes.CDLL:
    """The library: that of PyTorch's own folder, if it brings one, else the system's.

    Raises:
        FileNotFoundError: there is none.
    """
    torch: Any = sys.modules.get("torch")
    own = () if torch is None else (str(Path(torch.__file__).parent / "lib" / name) for name in driver.files)
    for name in (*own, *driver.files):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise FileNotFoundError(
        f"the driver of this GPU, {driver.files[0]}, was not found; it comes with the GPU's own driver or ROCm"
    )


class DriverError(RuntimeError):
    """The driver refused a call."""


def _call(driver: Driver, name: str, *arguments: Any) -> None:
    status = getattr(library(driver), name)(*arguments)
    if status:
        raise DriverError(f"the GPU's driver refuses a kernel: {name} returns {status}")


@cache
def use_primary_context(device: int) -> int:
    """The primary context of one of NVIDIA's devices, which PyTorch and this module share."""
    found, context = ctypes.c_int(), ctypes.c_void_p()
    _call(NVIDIA, "cuInit", 0)
    _call(NVIDIA, "cuDeviceGet", ctypes.byref(found), device)
    _call(NVIDIA, "cuDevicePrimaryCtxRetain", ctypes.byref(context), found)
    return context.value or 0


@cache
def loaded(driver: Driver, binary: bytes, entry: str, device: int) -> ctypes.c_void_p:
    """A kernel of a binary, loaded on a device, which is the current one."""
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    _call(driver, driver.load, ctypes.byref(module), binary)
    _call(driver, driver.function, ctypes.byref(function), module, entry.encode())
    return function


def launch(
    driver: Driver,
    binary: bytes,
    entry: str,
    device: int,
    stream: int,
    blocks: int,
    threads: int,
    arguments: Sequence[bytes],
) -> None:
    """Launch a kernel on a stream of a device, whose arguments are given as the bytes of each.

    Raises:
        FileNotFoundError: no driver. DriverError: it refuses the kernel.
    """
    if driver is NVIDIA:  # a thread of PyTorch's backward pass may have no context of its own yet
        _call(NVIDIA, "cuCtxSetCurrent", ctypes.c_void_p(use_primary_context(device)))
    function = loaded(driver, binary, entry, device)
    buffers = [ctypes.create_string_buffer(argument, len(argument)) for argument in arguments]
    places = (ctypes.c_void_p * len(buffers))(*map(ctypes.addressof, buffers))
    grid = (blocks, 1, 1, threads, 1, 1)
    _call(driver, driver.launch, function, *grid, 0, ctypes.c_void_p(stream), places, None)
