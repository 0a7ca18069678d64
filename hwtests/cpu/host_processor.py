"""This machine's processor as a device of conformance."""

import ctypes
import hashlib
import os
import platform
import tempfile
from typing import Any

import numpy as np

from golden import Instruction
from golden.arrays import bits_dtype
from golden.chain import Chain
from golden.engines import Batch, fastest_engine, run
from golden.stimulus import Operands, Tiles
from hwtests import inputs
from hwtests.cpu.build import built, compiler, version
from hwtests.cpu.processor import Processor, this_processor
from hwtests.cpu.processor_kernels import kernel_of
from hwtests.device import AbsentError, Description, DeviceError, Program
from hwtests.tally import Tally, tally

ARCHITECTURES: dict[str, str] = {"x86-amx": "amx_tile", "x86-avx512": "avx512f"}
"""Architectures that a processor can be checked against, each with the processor flag that all of its instructions need."""


class ProcessorDevice:
    """This machine's processor, as one of its architectures.

    Args:
        arch: one of `ARCHITECTURES`.
        processor: description to use instead of this machine's.

    Raises:
        DeviceError: the processor lacks that architecture, or there is no compiler.
    """

    xp: Any = np

    def __init__(self, arch: str, processor: Processor | None = None) -> None:
        if arch not in ARCHITECTURES:
            raise DeviceError(f"processors of {', '.join(ARCHITECTURES)} are conformed to, and {arch} is none of these")
        self.arch, self.processor = arch, this_processor() if processor is None else processor
        flag = ARCHITECTURES[arch]
        if flag not in self.processor.flags:
            raise DeviceError(
                f"this machine's processor, {self.processor.name}, has no {arch}: {flag} is not among its flags"
            )
        self._compiler = compiler()

    @property
    def engine(self) -> str:
        """Name of the engine that `dot` uses."""
        return fastest_engine(on_device=False)

    def describe(self) -> Description:
        """Model, microcode, kernel and compiler."""
        microcode, kernel = f"microcode {self.processor.microcode}", f"{platform.system()} {platform.release()}"
        return Description(self.processor.name, self.arch, microcode, kernel, version(self._compiler))

    def evidence(self) -> dict[str, str]:
        """The microcode revision; `describe` says everything else."""
        return {"microcode": self.processor.microcode}

    def load(self, instruction: Instruction) -> "tuple[ProcessorProgram, ...]":
        """Build an instruction's kernel, and load it.

        Raises:
            AbsentError: this processor lacks the instruction. DeviceError: the compiler does not know it.
        """
        kernel = kernel_of(instruction)
        missing = [flag for flag in kernel.flags if flag not in self.processor.flags]
        if missing:
            raise AbsentError(f"this processor does not have it: {', '.join(missing)} not among its flags")
        return (ProcessorProgram(instruction, built(kernel)),)

    def dot(self, chain: Chain, rows: Operands) -> Any:
        """Compute d of each row by the golden model, on golden's fastest engine."""
        return run(None, chain, Batch(*rows))

    def compare(self, instruction: Instruction, program: Program, seed: int, first: int, count: int) -> Tally:
        """Compare tiles with the model on the host, as `Device.compare` describes."""
        tiles, labels = inputs.tiles_of(instruction, seed, first, count)
        a, b, c, _, _ = tiles.rows(np)
        rows = Operands(_rows(a, instruction.k), _rows(b, instruction.k), c.reshape(-1), None, None)
        expected = self.dot(instruction.chain, rows)
        return tally(instruction, tiles, labels, inputs.NAMES, first, program.run(tiles), expected.reshape(tiles.c.shape))

    def to_host(self, array: Any) -> Any:
        """Return the array, which is on the host already."""
        return array


def _rows(operand: Any, k: int) -> Any:
    return np.ascontiguousarray(operand.reshape(-1, k))


class ProcessorProgram:
    """A loaded kernel of an instruction.

    Args:
        library: path of the kernel's shared object.
    """

    route = ""
    machine_code: dict[str, int] = {}  # noqa: RUF012  # no disassembler is asked
    expected_code: dict[str, int] = {}  # noqa: RUF012

    def __init__(self, instruction: Instruction, library: bytes) -> None:
        self._instruction, self.sha256 = instruction, hashlib.sha256(library).hexdigest()
        with tempfile.NamedTemporaryFile(prefix="mmau-cpu-", suffix=".so") as file:
            file.write(library)
            file.flush()
            self._rows = ctypes.CDLL(file.name).mmau_rows
        self._rows.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int64, ctypes.c_int32]

    def run(self, tiles: Tiles) -> Any:
        """Run the kernel on all tiles; returns D with shape [tiles, m, n].

        Raises:
            DeviceError: the operating system refuses AMX.
        """
        a, b = np.ascontiguousarray(tiles.a), np.ascontiguousarray(tiles.b)
        d = np.ascontiguousarray(tiles.c).astype(bits_dtype(self._instruction.d), copy=True)
        status = self._rows(a.ctypes.data, b.ctypes.data, d.ctypes.data, len(d), self._instruction.k)
        if status:
            raise DeviceError(
                f"the operating system refuses {self._instruction.arch} to this process: {os.strerror(status)}"
            )
        return d
