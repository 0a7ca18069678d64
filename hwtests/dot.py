"""An instruction of a device as a function of rows, each of them one dot product; a probe sees nothing else of the
device."""

import numpy as np

import golden
from golden import Instruction
from golden.arrays import BitArray
from golden.cache import content_key
from golden.device import formats_of
from golden.stimulus import Operands, Tiles, from_diagonals, on_diagonals, places
from hwtests.cpu.host_processor import ARCHITECTURES, ProcessorDevice
from hwtests.device import Device, DeviceError
from hwtests.devices import open_device


class DeviceDot:
    """Rows computed by an instruction of a device, on the diagonals of its tiles.

    The rows and columns of the tile change from one call to the next, so that a result that depends on its place does not
    repeat.

    Attributes:
        instruction: the instruction; the rows have its formats and its K.
        device: the device that runs it.
        name, shape, identity: as `golden.device.Device` defines them.
    """

    def __init__(self, instruction: Instruction, device: Device | None = None) -> None:
        """Open this machine's device, unless one is given, and load the instruction.

        Raises:
            DeviceError: no such device here, or one of another architecture, or one that lacks the instruction.
        """
        self.instruction = instruction
        self.device = opened(instruction.arch) if device is None else device
        self._program = self.device.load(instruction)[0]
        self._asked = 0
        self.name, self.shape = f"this machine's {instruction.label}", formats_of(instruction)

    @property
    def identity(self) -> str:
        """A digest of the device, its driver, the compiler and the program that runs."""
        described = map(str, vars(self.device.describe()).values())
        return content_key({"parts": [*described, self._program.sha256]})

    def dot(self, rows: Operands) -> BitArray:
        """Compute d [rows] of the rows, as bit patterns."""
        i, asked = self.instruction, len(rows.c)
        count = places(i.m, i.n)
        whole = rows.rows(np.arange(-(-asked // count) * count) % asked)  # whole tiles: rows repeated from the first on
        shift, below = self._asked % count, self._asked // count % max(1, i.m // count)
        self._asked += 1
        tiles = on_diagonals(whole, i.m, i.n, np, shift, below)
        xp = self.device.xp
        placed = Tiles(*(None if array is None else xp.asarray(array) for array in vars(tiles).values()))
        d: BitArray = from_diagonals(self.device.to_host(self._program.run(placed)), np, shift, below)
        return d[:asked]


def opened(arch: str) -> Device:
    """Open this machine's processor or GPU of an architecture.

    Raises:
        DeviceError: there is no such device, or it has another architecture.
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
