"""An NVIDIA GPU through CuPy. Only this module imports CuPy, when a device is opened."""

import hashlib
import importlib
import subprocess
from functools import cached_property
from typing import Any

from golden import Instruction
from golden.arrays import bits_dtype
from golden.chains.chain import Chain
from golden.engines.engine import Batch, run
from golden.native.cuda import cubin
from golden.native.nvrtc import cuda_major, version
from golden.processes import run_tool
from golden.stimulus import Operands, Tiles
from hwtests.device import Description, DeviceError, Program
from hwtests.nvidia.disassembly import expected, known_machine_code
from hwtests.nvidia.kernels import kernels_of
from hwtests.nvidia.source import ENTRY, Kernel
from hwtests.nvidia.volume import MAX_BLOCKS, Volume, cuda_errors, loaded, unwritten
from hwtests.tally import Tally

Selection = tuple[int, tuple[int, ...]]
"""A code of a group's metadata, and the positions that it selects."""


def route_of(selection: Selection) -> str:
    """Name of a selection's operand route: `metadata 0x4 selects 0 and 1`."""
    code, positions = selection
    return f"metadata {code:#x} selects {' and '.join(map(str, positions))}"


def words(xp: Any, selection: Selection, tiles: int) -> Any:
    """Metadata, uint32 [tiles], with the same selection for every group of every row."""
    return xp.full(tiles, selection[0] * 0x1111_1111, xp.uint32)


def spread(xp: Any, instruction: Instruction, selection: Selection, tiles: Tiles) -> Tiles:
    """Tiles whose B [tiles, n, 2k] holds the given elements at the selected positions. Between them it holds the complements
    of these elements, which the instruction must ignore.

    Args:
        xp: the arrays' module, numpy or cupy.
    """
    _, positions = selection
    group, b = 2 * len(positions), tiles.b
    others = [place for place in range(group) if place not in positions]
    spaced = xp.empty((*b.shape[:2], instruction.k // len(positions), group), b.dtype)
    elements = b.reshape(*b.shape[:2], -1, len(positions))
    spaced[..., list(positions)] = elements
    spaced[..., others] = elements ^ b.dtype.type((1 << instruction.b.width) - 1)
    return Tiles(tiles.a, spaced.reshape(*b.shape[:2], instruction.b_k), tiles.c)


FIELDS = {
    "driver": "driver_version",
    "uuid": "uuid",
    "sm_clock": "clocks.sm",
    "memory_clock": "clocks.mem",
    "largest_sm_clock": "clocks.max.sm",
    "temperature": "temperature.gpu",
    "power": "power.draw",
}
"""Key of a report to the name of the field in `nvidia-smi`."""


def queried() -> dict[str, str]:
    """The fields of the first device, with units as `nvidia-smi` writes them; empty if it is missing or fails."""
    command = ["nvidia-smi", "--id=0", f"--query-gpu={','.join(FIELDS.values())}", "--format=csv,noheader"]
    try:
        result = run_tool(command, timeout=60)
        result.check_returncode()
    except (OSError, subprocess.SubprocessError):
        return {}
    values = [value.strip() for value in result.stdout.strip().split(",")]
    return dict(zip(FIELDS, values, strict=True)) if len(values) == len(FIELDS) else {}


ARCH_OF_CAPABILITY: dict[str, str] = {
    "70": "sm_70", "75": "sm_75", "80": "sm_80", "86": "sm_80",
    "89": "sm_89", "90": "sm_90", "100": "sm_100", "120": "sm_120",
}  # fmt: skip
"""Compute capability to the catalogue's architecture; 8.6 has the tensor cores of Ampere."""


class CudaDevice:
    """The first CUDA device of this machine; the golden model runs on it too.

    Raises:
        DeviceError: no CuPy, no device, a driver that is too old, or an architecture that the catalogue does not have.
    """

    engine = "cuda"

    def __init__(self) -> None:
        try:
            self.xp: Any = importlib.import_module("cupy")
        except ImportError as error:
            raise DeviceError(
                f"conformance needs CuPy, which is not installed ({error}): pip install cupy-cuda13x, or hip-python for an "
                "AMD GPU"
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
        """The device's name, its driver and the versions of its software."""
        runtime = self.xp.cuda.runtime
        name = runtime.getDeviceProperties(0)["name"].decode()
        driver, cuda = _dotted(runtime.driverGetVersion()), _dotted(runtime.runtimeGetVersion())
        return Description(name, self.arch, f"CUDA {driver}", f"CUDA {cuda}", f"NVRTC {version(cuda_major(self.arch))}")

    def evidence(self) -> dict[str, str]:
        """The output of `nvidia-smi`: driver version, UUID and clocks of the device."""
        return queried()

    def load(self, instruction: Instruction) -> "tuple[CudaProgram, ...]":
        """Compile an instruction's kernels for this device, and load them."""
        if instruction.arch != self.arch:
            raise DeviceError(f"{instruction.name} of {instruction.arch} does not run on this machine's GPU, {self.arch}")
        return tuple(
            CudaProgram(self.xp, instruction, kernel, cubin(kernel.source, kernel.target), selection)
            for kernel in kernels_of(instruction)
            for selection in instruction.selections.items() or (None,)
        )

    def dot(self, chain: Chain, rows: Operands) -> Any:
        """Compute d of each row by the golden model, on golden's cuda engine."""
        with cuda_errors(self.xp):
            return run(self.engine, chain, Batch(*rows))

    def compare(self, instruction: Instruction, program: Program, seed: int, first: int, count: int) -> Tally:
        """Compare tiles with the model by four launches: stimulus, instruction, comparison, and comparison of some tiles
        with another e_zero."""
        with cuda_errors(self.xp):
            return self._volume.compare(instruction, program, seed, first, count)

    @cached_property
    def _volume(self) -> Volume:
        return Volume(self.xp, self.arch)

    def to_host(self, array: Any) -> Any:
        """Copy an array of the GPU to a NumPy array."""
        return self.xp.asnumpy(array)


class CudaProgram:
    """A loaded kernel of an instruction.

    Args:
        selection: the selection of a sparse instruction's metadata; None for a dense instruction.
    """

    def __init__(
        self, xp: Any, instruction: Instruction, kernel: Kernel, binary: bytes, selection: Selection | None = None
    ) -> None:
        self._xp, self._instruction, self._kernel, self._binary = xp, instruction, kernel, binary
        self._selection, self.expected_code = selection, expected(instruction)
        self.route = ", ".join(filter(None, (kernel.route, "" if selection is None else route_of(selection))))
        self.sha256 = hashlib.sha256(binary).hexdigest()
        with cuda_errors(xp):
            self._function = loaded(xp, binary, ENTRY)

    @cached_property
    def machine_code(self) -> dict[str, int]:
        """The tensor-core instructions, with their counts, in the cubin that runs; empty unless nvdisasm is installed or the
        cubin came with its disassembly."""
        return known_machine_code(self._binary)

    def run(self, tiles: Tiles) -> Any:
        """Run the kernel on all tiles; returns D with shape [tiles, m, n]. The last block is filled up with copies of the
        last tile."""
        xp, kernel, count = self._xp, self._kernel, len(tiles)
        with cuda_errors(xp):
            blocks = -(-count // kernel.tiles_per_block)
            padded = blocks * kernel.tiles_per_block
            if self._selection is not None:
                tiles = spread(xp, self._instruction, self._selection, tiles)
            arrays = [_padded(xp, array, padded) for array in tiles.arrays()]
            d = unwritten(xp, (padded, *tiles.c.shape[1:]), bits_dtype(self._instruction.d))
            a, b, c, *scales = arrays
            extra = [xp.uint32(value) for value in kernel.arguments]
            metadata = () if self._selection is None else (words(xp, self._selection, padded),)
            arguments = (a, b, c, *scales, *metadata, d, xp.uint32(padded), *extra)
            self._function((min(blocks, MAX_BLOCKS), 1, 1), (kernel.threads, 1, 1), arguments)
            xp.cuda.runtime.deviceSynchronize()
        return d[:count]


def _padded(xp: Any, array: Any, tiles: int) -> Any:
    missing = tiles - len(array)
    filled = array if not missing else xp.concatenate([array, xp.repeat(array[-1:], missing, axis=0)])
    return xp.ascontiguousarray(filled)


def _dotted(version_number: int) -> str:
    """CUDA's version number with a dot: 13020 becomes 13.2."""
    return f"{version_number // 1000}.{version_number % 1000 // 10}"
