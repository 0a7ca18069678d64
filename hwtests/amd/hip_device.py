"""An AMD GPU through HIP, by the package `hip-python`, which is imported here alone, when a device is asked for.

Arrays are NumPy's; every run copies a batch to the device and its result back. The model runs on the host. Written against
the interface of hip-python 7.2 and checked without a device; it has never run on one.
"""

import ctypes
import hashlib
import importlib
import importlib.metadata
import re
from collections import Counter
from functools import cached_property
from typing import Any

import numpy as np

import golden
from golden import Instruction
from golden.arrays import bits_dtype
from golden.chains.chain import Chain
from golden.engines.engine import Batch, fastest_engine, run
from golden.native.hip import assembly, code_object
from golden.stimulus import Operands, Tiles
from hwtests.amd.kernels import kernel_of
from hwtests.amd.mfma import ENTRY, HipKernel
from hwtests.device import Description, DeviceError, Program
from hwtests.on_host import compare
from hwtests.tally import Tally

_MATRIX = re.compile(r"^\s*(v_(?:mfma|wmma|dot2)_\w+)", re.M)


def matrix_instructions(text: str) -> Counter[str]:
    """The mnemonics of matrix instructions and dot products in an assembly text, and how often each occurs."""
    return Counter(_MATRIX.findall(text))


MAX_BLOCKS = 4096
"""Largest number of blocks in a launch; each block computes many tiles."""


class HipDevice:
    """The first HIP device of this machine.

    Raises:
        DeviceError: no hip-python, no ROCm, no device, or an architecture that the catalogue does not have.
    """

    xp = np

    def __init__(self) -> None:
        try:
            self.hip: Any = importlib.import_module("hip.hip")
        except ImportError as error:
            raise DeviceError(
                f"an AMD GPU needs hip-python, which is not installed ({error}): pip install hip-python"
            ) from error
        try:
            if self.call("hipGetDeviceCount") < 1:
                raise DeviceError("no HIP device was found on this machine")
        except RuntimeError as error:  # hip-python loads ROCm's library at its first call
            raise DeviceError(f"no usable HIP device on this machine: {error}") from error
        self.properties = self.hip.hipDeviceProp_t()
        self.call("hipGetDeviceProperties", self.properties, 0)
        self.arch = self.properties.gcnArchName.decode().partition(":")[0]
        known = sorted({entry.arch for entry in golden.instructions() if entry.arch.startswith("gfx")})
        if self.arch not in known:
            raise DeviceError(f"this machine's GPU is {self.arch}; the catalogue knows {', '.join(known)}")
        self.engine = fastest_engine()

    def call(self, name: str, *arguments: Any, **keys: Any) -> Any:
        """Call a function of HIP and return its result, or None if it has none.

        Raises:
            MemoryError, RuntimeError: the call failed; the message is HIP's.
        """
        status, *results = getattr(self.hip, name)(*arguments, **keys)
        if status == self.hip.hipError_t.hipErrorOutOfMemory:
            raise MemoryError(f"{name}: {status.name}")
        if status != self.hip.hipError_t.hipSuccess:
            raise RuntimeError(f"{name}: {status.name}")
        return results[0] if results else None

    def describe(self) -> Description:
        """The device's name and the versions of its software."""
        driver, runtime = self.call("hipDriverGetVersion"), self.call("hipRuntimeGetVersion")
        compiler = f"ziglang {importlib.metadata.version('ziglang')}"
        return Description(self.properties.name.decode(), self.arch, f"HIP {driver}", f"HIP {runtime}", compiler)

    def evidence(self) -> dict[str, str]:
        """The device's UUID, and its full architecture with the features that are on."""
        return {"uuid": bytes(self.properties.uuid.bytes).hex(), "features": self.properties.gcnArchName.decode()}

    def load(self, instruction: Instruction) -> "tuple[HipProgram, ...]":
        """Compile an instruction's kernel for this device, and load it."""
        if instruction.arch != self.arch:
            raise DeviceError(f"{instruction.name} of {instruction.arch} does not run on this machine's GPU, {self.arch}")
        kernel = kernel_of(instruction)
        return (HipProgram(self, instruction, kernel, assembly(kernel.source, self.arch, kernel.wave)),)

    def dot(self, chain: Chain, rows: Operands) -> Any:
        """Compute d of each row by the golden model, on the host."""
        return run(self.engine, chain, Batch(*rows))

    def compare(self, instruction: Instruction, program: Program, seed: int, first: int, count: int) -> Tally:
        """Compare tiles with the model; everything except the instruction itself runs on the host."""
        return compare(instruction, program, seed, first, count, self.dot)

    def to_host(self, array: Any) -> Any:
        """Return the array, which is on the host already."""
        return array


class HipProgram:
    """A loaded kernel of an instruction."""

    route = ""

    def __init__(self, device: HipDevice, instruction: Instruction, kernel: HipKernel, text: str) -> None:
        self._device, self._instruction, self._kernel, self._text = device, instruction, kernel, text
        binary = code_object(text, device.arch, kernel.wave)
        self.sha256 = hashlib.sha256(binary).hexdigest()
        self._module = device.call("hipModuleLoadData", binary)
        self._function = device.call("hipModuleGetFunction", self._module, ENTRY.encode())

    @cached_property
    def machine_code(self) -> dict[str, int]:
        """The matrix instructions, with their counts, in the assembly that was linked; the compiler may unroll a loop."""
        return dict(matrix_instructions(self._text))

    @property
    def expected_code(self) -> dict[str, int]:
        """The expected instructions: only the instruction itself, as often as the compiler unrolled the loop."""
        return {self._kernel.mnemonic: self.machine_code.get(self._kernel.mnemonic, 1)}

    def run(self, tiles: Tiles) -> Any:
        """Run the kernel on all tiles; returns D with shape [tiles, m, n]. The last block is filled up with copies of the
        last tile."""
        kernel, count = self._kernel, len(tiles)
        blocks = -(-count // kernel.tiles_per_block)
        padded = blocks * kernel.tiles_per_block
        d = np.empty((padded, *tiles.c.shape[1:]), bits_dtype(self._instruction.d))
        arrays = [np.concatenate([x, np.repeat(x[-1:], padded - count, axis=0)]) for x in tiles.arrays()]
        pointers: list[Any] = []
        try:
            for array in (*arrays, d):
                pointers.append(self._device.call("hipMalloc", array.nbytes))
            kinds = self._device.hip.hipMemcpyKind
            for pointer, array in zip(pointers, arrays, strict=False):
                self._device.call("hipMemcpy", pointer, array, array.nbytes, kinds.hipMemcpyHostToDevice)
            self._device.call(
                "hipModuleLaunchKernel", self._function, min(blocks, MAX_BLOCKS), 1, 1, kernel.threads, 1, 1,
                sharedMemBytes=0, stream=None, kernelParams=None, extra=(*pointers, ctypes.c_uint(padded)),
            )  # fmt: skip
            self._device.call("hipDeviceSynchronize")
            self._device.call("hipMemcpy", d, pointers[-1], d.nbytes, kinds.hipMemcpyDeviceToHost)
        finally:
            for pointer in pointers:
                self._device.call("hipFree", pointer)
        return d[:count]
