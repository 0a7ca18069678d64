"""An NVIDIA GPU through CuPy. CuPy is imported here alone, when a device is asked for."""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from golden import Instruction
from golden.arrays import bits_dtype
from golden.stimulus import Tiles
from hwtests.device import Description, DeviceError
from hwtests.nvidia.disassembly import matrix_instructions
from hwtests.nvidia.kernel import ENTRY, Kernel
from hwtests.nvidia.kernels import kernel_of
from hwtests.nvidia.nvrtc import compile_cubin, cuda_major, version

ARCH_OF_CAPABILITY: dict[str, str] = {
    "70": "sm_70", "75": "sm_75", "80": "sm_80", "86": "sm_80",
    "89": "sm_89", "90": "sm_90", "100": "sm_100", "120": "sm_120",
}  # fmt: skip
"""Compute capability to the catalogue's architecture; 8.6 has Ampere's tensor cores."""

MAX_BLOCKS = 4096
"""Blocks of a launch; each walks over many tiles."""


class CudaDevice:
    """The first CUDA device of this machine; the model runs on it too.

    Raises:
        DeviceError: no CuPy, no device, a driver too old, or an architecture that the catalogue does not have.
    """

    engine = "cuda"

    def __init__(self) -> None:
        try:
            self.xp: Any = importlib.import_module("cupy")
        except ImportError as error:
            raise DeviceError(
                f"conformance needs CuPy, which is not installed ({error}): pip install cupy-cuda13x"
            ) from error
        runtime = self.xp.cuda.runtime
        try:
            if runtime.getDeviceCount() < 1:
                raise DeviceError("no CUDA device was found on this machine")
        except runtime.CUDARuntimeError as error:
            raise DeviceError(f"no usable CUDA device on this machine: {error}") from error
        capability = str(self.xp.cuda.Device().compute_capability)
        if capability not in ARCH_OF_CAPABILITY:
            known = ", ".join(ARCH_OF_CAPABILITY)
            raise DeviceError(f"this machine's GPU has compute capability {capability}; the catalogue knows {known}")
        self.arch = ARCH_OF_CAPABILITY[capability]

    def describe(self) -> Description:
        """Name, driver and versions."""
        runtime = self.xp.cuda.runtime
        name = runtime.getDeviceProperties(0)["name"].decode()
        driver, cuda = _dotted(runtime.driverGetVersion()), _dotted(runtime.runtimeGetVersion())
        return Description(name, self.arch, f"CUDA {driver}", f"CUDA {cuda}", f"NVRTC {version(cuda_major(self.arch))}")

    def load(self, instruction: Instruction) -> "CudaProgram":
        """Compile an instruction's kernel for this device, and load it."""
        if instruction.arch != self.arch:
            raise DeviceError(f"{instruction.name} of {instruction.arch} does not run on this machine's GPU, {self.arch}")
        kernel = kernel_of(instruction)
        return CudaProgram(self.xp, instruction, kernel, compile_cubin(kernel.source, kernel.target))

    def model(self, instruction: Instruction, tiles: Tiles) -> Any:
        """The model, on golden's cuda engine."""
        with memory_errors(self.xp):
            return instruction.dot(*tiles.rows(self.xp), engine=self.engine)

    def to_host(self, array: Any) -> Any:
        """A NumPy copy."""
        return self.xp.asnumpy(array)


class CudaProgram:
    """A loaded kernel."""

    def __init__(self, xp: Any, instruction: Instruction, kernel: Kernel, cubin: bytes) -> None:
        self._xp, self._instruction, self._kernel, self._cubin = xp, instruction, kernel, cubin
        module = xp.cuda.function.Module()
        module.load(cubin)
        self._function = module.get_function(ENTRY)

    @cached_property
    def machine_code(self) -> dict[str, int]:
        """From the cubin that runs, where nvdisasm is installed."""
        try:
            return dict(matrix_instructions(self._cubin))
        except FileNotFoundError:
            return {}

    def run(self, tiles: Tiles) -> Any:
        """D [tiles, m, n]; the tiles are filled up to whole blocks with copies of the last one."""
        xp, kernel, count = self._xp, self._kernel, len(tiles)
        with memory_errors(xp):
            blocks = -(-count // kernel.tiles_per_block)
            padded = blocks * kernel.tiles_per_block
            arrays = [_padded(xp, array, padded) for array in tiles.arrays()]
            d = xp.empty((padded, *tiles.c.shape[1:]), bits_dtype(self._instruction.d))
            a, b, c, *scales = arrays
            extra = [xp.uint32(value) for value in kernel.arguments]
            arguments = (a, b, c, *scales, d, xp.uint32(padded), *extra)
            self._function((min(blocks, MAX_BLOCKS), 1, 1), (kernel.threads, 1, 1), arguments)
            xp.cuda.runtime.deviceSynchronize()
        return d[:count]


def _padded(xp: Any, array: Any, tiles: int) -> Any:
    missing = tiles - len(array)
    filled = array if not missing else xp.concatenate([array, xp.repeat(array[-1:], missing, axis=0)])
    return xp.ascontiguousarray(filled)


@contextmanager
def memory_errors(xp: Any) -> Iterator[None]:
    """Out of device memory as a MemoryError, so that a smaller batch can be tried."""
    try:
        yield
    except xp.cuda.memory.OutOfMemoryError as error:
        xp.get_default_memory_pool().free_all_blocks()
        raise MemoryError(str(error)) from error


def _dotted(version_number: int) -> str:
    """13020 → 13.2."""
    return f"{version_number // 1000}.{version_number % 1000 // 10}"
