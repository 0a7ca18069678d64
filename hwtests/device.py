"""The interface of a device for conformance: run whole tiles of an instruction, compare many of them with the model,
and describe itself."""

from dataclasses import dataclass
from typing import Any, Protocol

from golden import Instruction
from golden.chain import Chain
from golden.stimulus import Operands, Tiles
from hwtests.tally import Tally


class DeviceError(ValueError):
    """A device that is missing, too old, of another architecture or out of memory; one line for the user."""


class AbsentError(DeviceError):
    """An instruction that a device of its architecture need not have, and this one does not."""


@dataclass(frozen=True)
class Description:
    """The name of the device, its architecture in the catalogue, and the versions that a result depends on."""

    device: str
    arch: str
    driver: str
    runtime: str
    compiler: str


class Program(Protocol):
    """An instruction's kernel, loaded."""

    @property
    def route(self) -> str:
        """The operand route, for an instruction with several routes: `A from registers`; else empty."""

    @property
    def machine_code(self) -> dict[str, int]:
        """The matrix instructions in it, with their counts; empty where no disassembler is at hand."""

    @property
    def expected_code(self) -> dict[str, int]:
        """Those that the instruction must become."""

    @property
    def sha256(self) -> str:
        """Of the binary that runs."""

    def run(self, tiles: Tiles) -> Any:
        """D [tiles, m, n]."""


class Device(Protocol):
    """A device, or in tests a model of one."""

    @property
    def xp(self) -> Any:
        """numpy or cupy: what its arrays are."""

    @property
    def engine(self) -> str:
        """The engine that `dot` uses."""

    def describe(self) -> Description:
        """Its name."""

    def evidence(self) -> dict[str, str]:
        """The identity of this machine and moment: driver, UUID, clocks."""

    def load(self, instruction: Instruction) -> tuple[Program, ...]:
        """Compile and load an instruction's kernels, one for each operand route.

        Raises:
            ValueError (DeviceError, CompileError): it cannot run here.
        """

    def dot(self, chain: Chain, rows: Operands) -> Any:
        """The golden model's d of each row, on this device's arrays."""

    def compare(self, instruction: Instruction, program: Program, seed: int, first: int, count: int) -> Tally:
        """Compare tiles first … first + count − 1 of the stimulus at volume. Raises MemoryError where they do not fit."""

    def to_host(self, array: Any) -> Any:
        """An array of the device as a NumPy array."""


def unexpected_code(machine_code: dict[str, int], expected_code: dict[str, int]) -> dict[str, int]:
    """The machine instructions of a kernel if they are not the expected ones; empty if they are, or if that is unknown."""
    return dict(machine_code) if machine_code and machine_code != expected_code else {}


def first_line(error: Exception) -> str:
    """The first line of an error's message, or its class if it has none."""
    return str(error).strip().partition("\n")[0] or type(error).__name__
