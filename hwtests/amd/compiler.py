"""Compilation with the clang inside the `ziglang` wheel: HIP source to gfx9 assembly, no ROCm and no GPU needed."""

import re
import subprocess
import sys
import tempfile
from collections import Counter
from functools import cache
from importlib.util import find_spec
from pathlib import Path

_MFMA = re.compile(r"^\s*(v_mfma_\w+)", re.M)
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
    require_clang()
    with tempfile.TemporaryDirectory() as folder:
        kernel, output = Path(folder) / "kernel.hip", Path(folder) / "kernel.s"
        kernel.write_text(source, encoding="utf-8")
        command = [sys.executable, "-m", "ziglang", "clang", *_FLAGS, f"--offload-arch={arch}", "-S", "-o"]
        result = subprocess.run([*command, output, kernel], capture_output=True, text=True, timeout=120)
        if result.returncode:
            raise CompileError(f"clang refuses a kernel for {arch}: {first_error(result.stderr)}")
        return output.read_text(encoding="utf-8")


def first_error(log: str) -> str:
    """The first line of a compiler's log that says `error`, or all of a log without one."""
    return next((line for line in log.splitlines() if "error" in line), log.strip())


def matrix_instructions(text: str) -> Counter[str]:
    """The MFMA mnemonics in an assembly text, and how often each occurs."""
    return Counter(_MFMA.findall(text))
