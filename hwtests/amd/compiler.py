"""Compiles HIP source to assembly, and assembly to a code object that ROCm loads, with the clang and lld inside the
`ziglang` wheel; neither ROCm nor a GPU is needed."""

import re
import sys
from collections import Counter
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from golden.files import temporary_folder
from golden.processes import run_tool

_MATRIX = re.compile(r"^\s*(v_(?:mfma|wmma|dot2)_\w+)", re.M)
_FLAGS = ("-x", "hip", "--cuda-device-only", "-nogpuinc", "-nogpulib", "-O2", "-Wall", "-Werror", "-fno-crash-diagnostics")


class CompileError(ValueError):
    """The compiler refused a source; the message is its first error."""


@cache
def require_clang() -> None:
    """Check that the compiler is installed.

    Raises:
        FileNotFoundError: it is not installed.
    """
    if find_spec("ziglang") is None:
        raise FileNotFoundError("clang with AMD's targets was not found; install it with: pip install ziglang")


def assembly(source: str, arch: str, wave: int = 64) -> str:
    """Compile HIP C++ to assembly.

    Args:
        source: HIP C++.
        arch: architecture such as gfx90a.
        wave: number of lanes of a wave; gfx9 has 64 only.

    Raises:
        FileNotFoundError: the compiler is not installed.
        CompileError: the source does not compile.
    """
    with temporary_folder("mmau-hip-") as folder:
        kernel, output = Path(folder) / "kernel.hip", Path(folder) / "kernel.s"
        kernel.write_text(source, encoding="utf-8")
        _run(arch, "clang", *_FLAGS, *_wave(arch, wave), f"--offload-arch={arch}", "-S", "-o", output, kernel)
        return output.read_text(encoding="utf-8")


def _wave(arch: str, wave: int) -> tuple[str, ...]:
    """The compiler's option for the number of lanes of a wave; none for gfx9, which has one size."""
    return () if arch.startswith("gfx9") else (f"-m{'' if wave == 64 else 'no-'}wavefrontsize64",)


def code_object(text: str, arch: str, wave: int = 64) -> bytes:
    """Assemble and link an assembly text to a code object, which `hipModuleLoadData` takes.

    Args:
        text: the assembly.
        arch: architecture such as gfx90a.
        wave: number of lanes of a wave; gfx9 has 64 only.

    Raises:
        FileNotFoundError: the compiler is not installed.
        CompileError: the text does not assemble or link.
    """
    with temporary_folder("mmau-hip-") as folder:
        assembled, relocatable, linked = (Path(folder) / f"kernel.{suffix}" for suffix in ("s", "o", "co"))
        assembled.write_text(text, encoding="utf-8")
        target = ("-target", "amdgcn-amd-amdhsa", f"-mcpu={arch}", *_wave(arch, wave))
        _run(arch, "clang", *target, "-c", "-o", relocatable, assembled)
        _run(arch, "ld.lld", "-shared", "-o", linked, relocatable)
        return linked.read_bytes()


def _run(arch: str, program: str, *arguments: str | Path) -> None:
    require_clang()
    command = [sys.executable, "-m", "ziglang", program, *arguments]
    result = run_tool(command, timeout=120)
    if result.returncode:
        raise CompileError(f"{program} refuses a kernel for {arch}: {first_error(result.stderr)}")


def first_error(log: str) -> str:
    """The first line of a compiler's log that contains `error`; the whole log if there is none."""
    return next((line for line in log.splitlines() if "error" in line), log.strip())


def matrix_instructions(text: str) -> Counter[str]:
    """The mnemonics of matrix instructions and dot products in an assembly text, and how often each occurs."""
    return Counter(_MATRIX.findall(text))
