"""Kernels as shared objects, built when they are first needed and cached by content."""

import hashlib
import os
import shutil
from functools import cache
from pathlib import Path

from golden.cache import Cache, File, content_key, user_folder
from golden.files import temporary_folder
from golden.processes import run_tool
from hwtests.cpu.processor_kernels import Kernel
from hwtests.device import DeviceError

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
