"""The interface of a device for conformance: it runs whole tiles of an instruction, compares many of them with the model,
and describes itself."""

from dataclasses import dataclass
from typing import Any, Protocol

from golden import Instruction
from golden.chains.chain import Chain
from golden.stimulus import Operands, Tiles
from hwtests.tally import Tally


class DeviceError(ValueError):
    """A device that is missing, too old, of another architecture or out of memory; one line for the user."""


class AbsentError(DeviceError):
    """The device lacks an instruction that its architecture does not guarantee."""


@dataclass(frozen=True)
class Description:
    """The name of the device, its architecture in the catalogue, and the versions that a result depends on."""

    device: str
    arch: str
    driver: str
    runtime: str
    compiler: str


class Program(Protocol):
    """A loaded kernel of an instruction."""

    @property
    def route(self) -> str:
        """The operand route (such as `A from registers`) of an instruction that has several; else empty."""

    @property
    def machine_code(self) -> dict[str, int]:
        """The matrix instructions in the kernel, with their counts; empty if no disassembler is at hand."""

    @property
    def expected_code(self) -> dict[str, int]:
        """The matrix instructions, with their counts, that the kernel must consist of."""

    @property
    def sha256(self) -> str:
        """SHA-256 of the binary that runs."""

    def run(self, tiles: Tiles) -> Any:
        """Run the kernel on all tiles; returns D with shape [tiles, m, n]."""


class Device(Protocol):
    """A device, or in tests a model that stands in for one."""

    @property
    def xp(self) -> Any:
        """The module of the device's arrays: numpy or cupy."""

    @property
    def engine(self) -> str:
        """Name of the engine that `dot` uses."""

    def describe(self) -> Description:
        """Describe the device: its name, its architecture and the versions that a result depends on."""

    def evidence(self) -> dict[str, str]:
        """The identity of this machine and moment: driver, UUID, clocks."""

    def load(self, instruction: Instruction) -> tuple[Program, ...]:
        """Compile and load an instruction's kernels, one for each operand route.

        Raises:
            ValueError (DeviceError, CompileError): the instruction cannot run here.
        """

    def dot(self, chain: Chain, rows: Operands) -> Any:
        """Compute d of each row by the golden model, on the device's own arrays."""

    def compare(self, instruction: Instruction, program: Program, seed: int, first: int, count: int) -> Tally:
        """Compare tiles first … first + count − 1 of the stimulus at volume.

        Raises:
            MemoryError: the tiles do not fit in memory.
        """

    def to_host(self, array: Any) -> Any:
        """Copy an array of the device to a NumPy array."""


def unexpected_code(machine_code: dict[str, int], expected_code: dict[str, int]) -> dict[str, int]:
    """The machine instructions of a kernel if they are not the expected ones; empty if they are, or if that is unknown."""
    return dict(machine_code) if machine_code and machine_code != expected_code else {}


def first_line(error: Exception) -> str:
    """The first line of an error's message, or its class if it has none."""
    return str(error).strip().partition("\n")[0] or type(error).__name__
