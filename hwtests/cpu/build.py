"""Kernels as shared objects, built when they are first needed and kept by content."""

import hashlib
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

from golden.files import write_atomically
from hwtests.cpu.kernel import Kernel
from hwtests.device import DeviceError

OPTIONS = ("-O2", "-Wall", "-Wextra", "-fPIC", "-shared")

COMPILERS = ("cc", "gcc", "clang")


def compiler() -> str:
    """The C compiler: the environment variable CC, or the first of `COMPILERS` that is there.

    Raises:
        DeviceError: none is.
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
    """The first line of what the compiler says of itself."""
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.partition("\n")[0]


def folder() -> Path:
    """Where kernels are kept: `mmau` in the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mmau"


def built(kernel: Kernel) -> Path:
    """The shared object of a kernel, from the cache where source, options and compiler are the same.

    Raises:
        DeviceError: no compiler, or one that does not know the instruction. OSError: the cache cannot be written.
    """
    program = compiler()
    options = (*OPTIONS, *kernel.options)
    parts = (kernel.source.read_bytes(), " ".join(options).encode(), version(program).encode())
    digest = hashlib.sha256(b"\0".join(parts)).hexdigest()
    path = folder() / f"cpu-{digest}.so"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        _compile(program, options, kernel.source, path)
    return path


def _compile(program: str, options: tuple[str, ...], source: Path, path: Path) -> None:
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        done = subprocess.run(
            [program, *options, str(source), "-o", str(temporary)], capture_output=True, text=True, timeout=300, check=False
        )
        if done.returncode:
            said = done.stderr.splitlines() or ["it says nothing"]
            first = next((line for line in said if "error" in line), said[0])
            raise DeviceError(f"{version(program)} does not compile {source.name} with {' '.join(options)}: {first}")
        write_atomically(path, temporary.read_bytes())
    finally:
        temporary.unlink(missing_ok=True)
