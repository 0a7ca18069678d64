"""Compilation with the clang and lld inside the `ziglang` wheel: HIP source to gfx9 assembly, and that to a code object that
ROCm loads; no ROCm and no GPU needed."""

import re
import subprocess
import sys
import tempfile
from collections import Counter
from functools import cache
from importlib.util import find_spec
from pathlib import Path

_MFMA = re.compile(r"^\s*(v_mfma_\w+)", re.M)
_SPILLS = re.compile(r"^\s*\.[sv]gpr_spill_count:\s*(\d+)", re.M)
_FLAGS = ("-x", "hip", "--cuda-device-only", "-nogpuinc", "-nogpulib", "-O2", "-Wall", "-Werror", "-fno-crash-diagnostics")


class CompileError(ValueError):
    """The compiler refused a source; the message is its first error."""


@cache
def require_clang() -> None:
    """Check that the compiler is there.

    Raises:
        FileNotFoundError: it is not installed.
    """
    if find_spec("ziglang") is None:
        raise FileNotFoundError("clang with AMD's targets was not found; install it with: pip install ziglang")


def assembly(source: str, arch: str) -> str:
    """Compile HIP C++ to assembly.

    Raises:
        FileNotFoundError: no compiler. CompileError: the source does not compile.
    """
    with tempfile.TemporaryDirectory() as folder:
        kernel, output = Path(folder) / "kernel.hip", Path(folder) / "kernel.s"
        kernel.write_text(source, encoding="utf-8")
        _run(arch, "clang", *_FLAGS, f"--offload-arch={arch}", "-S", "-o", output, kernel)
        return output.read_text(encoding="utf-8")


def code_object(text: str, arch: str) -> bytes:
    """Assemble and link an assembly text: what `hipModuleLoadData` takes.

    Raises:
        FileNotFoundError: no compiler. CompileError: it does not assemble or link.
    """
    with tempfile.TemporaryDirectory() as folder:
        assembled, relocatable, linked = (Path(folder) / f"kernel.{suffix}" for suffix in ("s", "o", "co"))
        assembled.write_text(text, encoding="utf-8")
        _run(arch, "clang", "-target", "amdgcn-amd-amdhsa", f"-mcpu={arch}", "-c", "-o", relocatable, assembled)
        _run(arch, "ld.lld", "-shared", "-o", linked, relocatable)
        return linked.read_bytes()


def _run(arch: str, program: str, *arguments: str | Path) -> None:
    require_clang()
    command = [sys.executable, "-m", "ziglang", program, *arguments]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if result.returncode:
        raise CompileError(f"{program} refuses a kernel for {arch}: {first_error(result.stderr)}")


def first_error(log: str) -> str:
    """The first line of a compiler's log that says `error`, or all of a log without one."""
    return next((line for line in log.splitlines() if "error" in line), log.strip())


def matrix_instructions(text: str) -> Counter[str]:
    """The MFMA mnemonics in an assembly text, and how often each occurs."""
    return Counter(_MFMA.findall(text))


def spilled_registers(text: str) -> int:
    """Registers that the kernel of an assembly text spills to memory, vector and scalar, as its metadata says.

    Raises:
        ValueError: no metadata.
    """
    counts = _SPILLS.findall(text)
    if not counts:
        raise ValueError("the assembly does not say how many registers it spills")
    return sum(map(int, counts))
