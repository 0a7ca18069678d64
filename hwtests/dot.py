"""An instruction of a device as a function of rows, each of them one dot product, which is all that a probe may know."""

from typing import Any

import numpy as np
import numpy.typing as npt

import golden
from golden import Instruction
from golden.arrays import BitArray
from golden.stimulus import Operands, Tiles, from_diagonals, on_diagonals, places
from hwtests.cpu.host_processor import ARCHITECTURES, ProcessorDevice
from hwtests.device import Device, DeviceError
from hwtests.devices import open_device


class DeviceDot:
    """Rows computed by an instruction of a device, on diagonals of its tiles. The rows and columns of the tile change from
    one call to the next, so that a result that depends on its place does not repeat.

    Attributes:
        instruction: the instruction, whose formats and K the rows have. device: the device that runs it.
    """

    def __init__(self, instruction: Instruction, device: Device | None = None) -> None:
        """Open this machine's device and load the instruction.

        Raises:
            DeviceError: no such device here, or one of another architecture, or without that instruction.
        """
        self.instruction = instruction
        self.device = opened(instruction.arch) if device is None else device
        self._program = self.device.load(instruction)[0]
        self._asked = 0

    def identity(self) -> list[str]:
        """The identity of the results: the device, its driver, the compiler and the program that runs."""
        return [*map(str, vars(self.device.describe()).values()), self._program.sha256]

    def dot(self, *operands: npt.NDArray[Any]) -> BitArray:
        """d [rows] of a, b [rows, k], c [rows], and where it is scaled scale_a, scale_b [rows, k/K_block]."""
        i, rows = self.instruction, len(operands[2])
        count = places(i.m, i.n)
        filled = np.arange(-(-rows // count) * count) % rows  # whole tiles: rows repeated from the first on
        arrays = (*operands, *[None] * (5 - len(operands)))
        whole = Operands(*(None if array is None else array[filled] for array in arrays))  # type: ignore[arg-type]
        shift, below = self._asked % count, self._asked // count % max(1, i.m // count)
        self._asked += 1
        tiles = on_diagonals(whole, i.m, i.n, np, shift, below)
        xp = self.device.xp
        placed = Tiles(*(None if array is None else xp.asarray(array) for array in vars(tiles).values()))
        d: BitArray = from_diagonals(self.device.to_host(self._program.run(placed)), np, shift, below)
        return d[:rows]


def opened(arch: str) -> Device:
    """This machine's processor or GPU.

    Raises:
        DeviceError: it is none, or one of another architecture.
    """
    if arch in ARCHITECTURES:
        return ProcessorDevice(arch)
    if arch in golden.PROCESSORS:
        raise DeviceError(f"instructions of {arch} cannot be run from here; those of {', '.join(ARCHITECTURES)} can")
    device = open_device()
    here = device.describe()
    if here.arch != arch:
        raise DeviceError(f"this machine's device must be {arch}, and is {here.device}, {here.arch}")
    return device
