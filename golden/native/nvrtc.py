"""Compilation with NVRTC, through ctypes: from the wheels `nvidia-cuda-nvrtc` (13) and `nvidia-cuda-nvrtc-cu12` (for
sm_70, which CUDA 13 dropped), or from an installed CUDA toolkit.

The environment variable MMAU_NVRTC names a folder whose NVRTC of CUDA 13 is used before any other.
"""

import ctypes
import os
import shutil
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

SONAMES = {13: "libnvrtc.so.13", 12: "libnvrtc.so.12"}
"""CUDA major version to the library's file name."""

FOLDER_VARIABLE = "MMAU_NVRTC"

OPTIONS = ("-std=c++17", "-ftz=false", "-fmad=false")
"""Options of every compilation: subnormal results are not flushed, and the compiler fuses no multiply and add itself."""

_WHEEL_FOLDERS = {13: "cu13/lib", 12: "cuda_nvrtc/lib"}
"""Folders of the wheels' libraries, below the namespace package `nvidia`."""


class CompileError(ValueError):
    """The compiler refused a source; the message is its log."""


def cuda_major(target: str) -> int:
    """The CUDA version that compiles for a target."""
    return 12 if target == "sm_70" else 13


def compile_cubin(source: str, target: str, include: Path | None = None) -> bytes:
    """Compile CUDA C++ to a cubin.

    Args:
        target: sm_70, sm_75 … sm_90a, sm_100a, sm_120a.
        include: folder of headers.

    Raises:
        FileNotFoundError: no NVRTC of the version that the target needs.
        CompileError: the source does not compile.
    """
    library = load(cuda_major(target))
    program = ctypes.c_void_p()
    _check(library, library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None))
    try:
        options = [
            option.encode() for option in (f"-arch={target}", *OPTIONS, *(() if include is None else (f"-I{include}",)))
        ]
        status = library.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
        if status:
            log = _output(library, "ProgramLog", program).decode(errors="replace").strip("\0\n")
            raise CompileError(f"NVRTC refuses a kernel for {target}: {log}")
        return _output(library, "CUBIN", program)
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


@cache
def load(major: int) -> Any:
    """The NVRTC library of a CUDA major version.

    Raises:
        FileNotFoundError: it is not installed.
    """
    for path in (*_candidates(major), Path(SONAMES[major])):
        load_builtins(path)
        try:
            library = ctypes.CDLL(str(path))
        except OSError:
            continue
        library.nvrtcGetErrorString.restype = ctypes.c_char_p
        return library
    wheel = "nvidia-cuda-nvrtc" if major == 13 else "nvidia-cuda-nvrtc-cu12"
    raise FileNotFoundError(f"NVRTC of CUDA {major} ({SONAMES[major]}) was not found; install it with: pip install {wheel}")


def load_builtins(library: Path) -> None:
    """Load the builtins library beside an NVRTC library.

    NVRTC opens it by file name when it compiles. NVRTC of CUDA 13.0 has no search path, so it finds its builtins only if the
    process has already loaded them; later versions search their own folder.
    """
    major = library.name.rpartition(".")[2]
    for path in sorted(library.parent.glob(f"libnvrtc-builtins.so.{major}.*")) if library.is_absolute() else ():
        try:
            ctypes.CDLL(str(path))
        except OSError:
            continue


def _candidates(major: int) -> Iterator[Path]:
    chosen = os.environ.get(FOLDER_VARIABLE)
    if chosen and major == 13:
        yield Path(chosen).resolve() / SONAMES[major]
    spec = find_spec("nvidia")
    for folder in () if spec is None else spec.submodule_search_locations or ():
        yield Path(folder) / _WHEEL_FOLDERS[major] / SONAMES[major]
    nvcc = shutil.which("nvcc")
    toolkits = [
        os.environ.get("CUDA_PATH"),
        os.environ.get("CUDA_HOME"),
        nvcc and str(Path(nvcc).parents[1]),
        "/usr/local/cuda",
    ]
    yield from (Path(toolkit) / "lib64" / SONAMES[major] for toolkit in toolkits if toolkit)


def version(major: int) -> str:
    """The version of the library that `load` finds, such as `13.5`."""
    high, low = ctypes.c_int(), ctypes.c_int()
    library = load(major)
    _check(library, library.nvrtcVersion(ctypes.byref(high), ctypes.byref(low)))
    return f"{high.value}.{low.value}"


def _check(library: Any, status: int) -> None:
    if status:
        raise RuntimeError(f"NVRTC failed: {library.nvrtcGetErrorString(status).decode()}")


def _output(library: Any, what: str, program: ctypes.c_void_p) -> bytes:
    """The result of nvrtcGet<what>, after a query for its size."""
    size = ctypes.c_size_t()
    _check(library, getattr(library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    buffer = ctypes.create_string_buffer(size.value)
    _check(library, getattr(library, f"nvrtcGet{what}")(program, buffer))
    return buffer.raw
