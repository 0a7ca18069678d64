"""HIP C++ compiled for AMD's GPUs by the clang of the wheel `ziglang`, which brings AMD's targets and needs no ROCm."""

import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from golden.files import temporary_folder
from golden.processes import run_tool

_FLAGS = ("-x", "hip", "--cuda-device-only", "-nogpuinc", "-nogpulib", "-O2", "-Wall", "-Werror", "-fno-crash-diagnostics")

_OF_HEADERS = ("-std=c++17", "-ffp-contract=off")  # no multiplication may be fused with an addition unasked


LONGEST_SECONDS = 3600.0
"""Seconds after which a compiler counts as hanging: a kernel takes it up to half a minute, and many times that on a busy
machine."""


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


def assembly(source: str, arch: str, wave: int = 64, include: Path | None = None) -> str:
    """Compile HIP C++ to assembly.

    Args:
        source: HIP C++.
        arch: architecture such as gfx90a.
        wave: number of lanes of a wave; gfx9 has 64 only.
        include: folder of the native library's headers, for a source that includes them.

    Raises:
        FileNotFoundError: the compiler is not installed.
        CompileError: the source does not compile.
    """
    headers = () if include is None else (*_OF_HEADERS, f"-I{include}")
    with temporary_folder("mmau-hip-") as folder:
        kernel, output = Path(folder) / "kernel.hip", Path(folder) / "kernel.s"
        kernel.write_text(source, encoding="utf-8")
        _run(arch, "clang", *_FLAGS, *_wave(arch, wave), *headers, f"--offload-arch={arch}", "-S", "-o", output, kernel)
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
    result = run_tool(command, timeout=LONGEST_SECONDS)
    if result.returncode:
        raise CompileError(f"{program} refuses a kernel for {arch}: {first_error(result.stderr)}")


def first_error(log: str) -> str:
    """The first line of a compiler's log that contains `error`; the whole log if there is none."""
    return next((line for line in log.splitlines() if "error" in line), log.strip())


def wave_of(arch: str) -> int:
    """Lanes of a wave where nothing else is asked for: 64 of gfx9, else 32."""
    return 64 if arch.startswith("gfx9") else 32
