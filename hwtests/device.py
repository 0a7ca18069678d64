"""What conformance needs of a device: run whole tiles of an instruction, and say what it is."""

from dataclasses import dataclass
from typing import Any, Protocol

from golden import Instruction
from golden.stimulus import Tiles


class DeviceError(ValueError):
    """A device that is missing, too old, of another architecture or out of memory; one line for the user."""


@dataclass(frozen=True)
class Description:
    """The device's own name, its architecture in the catalogue, and the versions that a result depends on."""

    device: str
    arch: str
    driver: str
    runtime: str
    compiler: str


class Program(Protocol):
    """An instruction's kernel, loaded."""

    @property
    def machine_code(self) -> dict[str, int]:
        """The matrix instructions in it, with their counts; empty where no disassembler is at hand."""

    def run(self, tiles: Tiles) -> Any:
        """D [tiles, m, n]."""


class Device(Protocol):
    """A device, or in tests a model of one."""

    @property
    def xp(self) -> Any:
        """numpy or cupy: what its arrays are."""

    @property
    def engine(self) -> str:
        """The engine that `model` uses."""

    def describe(self) -> Description:
        """What it is."""

    def load(self, instruction: Instruction) -> Program:
        """Compile and load an instruction's kernel. Raises DeviceError where it cannot run here."""

    def model(self, instruction: Instruction, tiles: Tiles) -> Any:
        """The golden model's D [tiles, m, n], on this device's arrays."""

    def to_host(self, array: Any) -> Any:
        """An array of the device as a NumPy array."""
