"""This machine's processor as a device of conformance."""

import ctypes
import hashlib
import os
import platform
import shutil
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from golden import Instruction
from golden.arrays import bits_dtype
from golden.cache import Cache, File, content_key, user_folder
from golden.chains.chain import Chain
from golden.engines.engine import Batch, fastest_engine, run
from golden.files import temporary_folder
from golden.processes import run_tool
from golden.stimulus import Operands, Tiles
from hwtests import on_host
from hwtests.device import AbsentError, Description, DeviceError, Program
from hwtests.tally import Tally, tally

SOURCES = Path(__file__).parent / "kernels"


@dataclass(frozen=True)
class Kernel:
    """The source and the options of one instruction's kernel.

    Attributes:
        source: path of the C source.
        options: options of the compiler.
        flags: processor flags that must all be present, as /proc/cpuinfo spells them.
    """

    source: Path
    options: tuple[str, ...]
    flags: tuple[str, ...]


_AVX512 = {
    "vdpbf16ps": ("avx512_bf16", "-mavx512bf16"),
    "vpdpbusd": ("avx512_vnni", "-mavx512vnni"),
    "vpdpbusds": ("avx512_vnni", "-mavx512vnni"),
    "vfmaddph": ("avx512_fp16", "-mavx512fp16"),
}
"""Instruction to processor flag and compiler option."""

_AMX = {"tdpbf16ps": ("amx_bf16", "-mamx-bf16"), "tdpfp16ps": ("amx_fp16", "-mamx-fp16")}


def kernel_of(instruction: Instruction) -> Kernel:
    """The kernel of an instruction of x86-amx or x86-avx512."""
    name = instruction.name.partition(".")[0]
    chosen = f"-DMMAU_{name.upper()}"
    if instruction.arch == "x86-avx512":
        flag, option = _AVX512[name]
        return Kernel(SOURCES / "avx512.c", ("-mavx512f", option, chosen), ("avx512f", flag))
    flag, option = _AMX.get(name, ("amx_int8", "-mamx-int8"))
    element = f"-DMMAU_ELEMENT_BYTES={instruction.a.storage_bits // 8}"
    return Kernel(SOURCES / "amx.c", ("-mamx-tile", option, chosen, element), ("amx_tile", flag))


OPTIONS = ("-O2", "-Wall", "-Wextra", "-fPIC", "-shared")

COMPILERS = ("cc", "gcc", "clang")

LIBRARY = "kernel.so"
"""The file of a cache entry."""


def compiler() -> str:
    """The C compiler: the environment variable CC, or the first of `COMPILERS` on PATH.

    Raises:
        DeviceError: no compiler found.
    """
    wanted = os.environ.get("CC")
    for name in [wanted] if wanted else COMPILERS:
        found = shutil.which(name)
        if found:
            return found
    raise DeviceError(
        f"conformance on a processor needs a C compiler, and there is none: {wanted or ', '.join(COMPILERS)} not on PATH; "
        "install one (Debian: gcc) or name it in CC"
    )


@cache
def version(program: str) -> str:
    """The first line of the compiler's own description."""
    done = run_tool([program, "--version"], timeout=60)
    done.check_returncode()
    return done.stdout.partition("\n")[0]


def built(kernel: Kernel) -> bytes:
    """The shared object of a kernel, from the user's cache if source, options and compiler are the same.

    Raises:
        DeviceError: no compiler, or one that does not know the instruction.
    """
    program, cache = compiler(), Cache(user_folder("cpu"))
    options = (*OPTIONS, *kernel.options)
    source = hashlib.sha256(kernel.source.read_bytes()).hexdigest()
    key = content_key({"source": source, "options": options, "compiler": version(program)})
    found = cache.read(key)
    if found is not None:
        return found[LIBRARY].content
    made = _compile(program, options, kernel.source)
    cache.write(key, {LIBRARY: File(made)})
    return made


def _compile(program: str, options: tuple[str, ...], source: Path) -> bytes:
    with temporary_folder("mmau-cpu-") as folder:
        output = Path(folder) / LIBRARY
        done = run_tool([program, *options, str(source), "-o", str(output)], timeout=300)
        if done.returncode:
            lines = done.stderr.splitlines() or ["no message"]
            first = next((line for line in lines if "error" in line), lines[0])
            raise DeviceError(f"{version(program)} does not compile {source.name} with {' '.join(options)}: {first}")
        return output.read_bytes()


CPUINFO = Path("/proc/cpuinfo")


@dataclass(frozen=True)
class Processor:
    """The first processor of a machine.

    Attributes:
        name: model name, family, model and stepping.
        microcode: revision of the microcode.
        flags: features, as the kernel spells them.
    """

    name: str
    microcode: str
    flags: frozenset[str]


def this_processor(text: str | None = None) -> Processor:
    """The processor that /proc/cpuinfo, or a text like it, describes.

    Raises:
        DeviceError: no such file, or no x86 processor in it.
    """
    if text is None:
        if not CPUINFO.exists():
            raise DeviceError(f"the processor is read from {CPUINFO}, which {platform.system()} does not have; Linux has it")
        text = CPUINFO.read_text(encoding="utf-8", errors="replace")
    first = text.partition("\n\n")[0]
    pairs = (line.partition(":") for line in first.splitlines())
    fields = {key.strip(): value.strip() for key, _, value in pairs}
    if "flags" not in fields:
        raise DeviceError(f"this machine's processor, {platform.machine()}, is no x86 one, and no other is conformed to")
    family, model, stepping = (fields.get(key, "unknown") for key in ("cpu family", "model", "stepping"))
    name = f"{fields.get('model name', 'unknown')}, family {family}, model {model}, stepping {stepping}"
    return Processor(name, fields.get("microcode", "unknown"), frozenset(fields["flags"].split()))


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
        tiles, labels = on_host.tiles_of(instruction, seed, first, count)
        a, b, c, _, _ = tiles.rows(np)
        rows = Operands(_rows(a, instruction.k), _rows(b, instruction.k), c.reshape(-1), None, None)
        expected = self.dot(instruction.chain, rows)
        return tally(instruction, tiles, labels, on_host.NAMES, first, program.run(tiles), expected.reshape(tiles.c.shape))

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
