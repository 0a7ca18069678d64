"""The kernels of matrix products on GPUs, run on the host: from the very headers, compiled once for every plan
(`gpu_host.cpp`), or from the very text that a GPU's compiler gets, compiled for a plan, as threads that wait for each other
at its barriers (`gpu_threads.cpp`)."""

import ctypes
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from golden.arrays import bits_dtype
from golden.chains.chain import Chain
from golden.native.cuda import INCLUDE, THREADS, TILE, product_source
from golden.native.library import pack_batch, refusal
from golden.native.parameters import parameters

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not on PATH")

NOT_QUICK = -1
"""Status of a chain that the quick kernel does not take."""

HERE = Path(__file__).parent

FLAGS = ("-std=c++17", "-Wall", "-Wextra", "-Wno-unknown-pragmas", "-Werror", "-ffp-contract=off", "-fPIC")

COMPILERS = {
    "nvrtc": ("-D__CUDACC_RTC__", "-D__CUDA_ARCH__=900"), "nvrtc of sm_80": ("-D__CUDACC_RTC__", "-D__CUDA_ARCH__=800"),
    "hip": ("-D__HIP__", "-Wno-attributes"),
}  # fmt: skip
"""What tells the headers which of the GPUs' compilers is at work."""


def _built(name: str, *arguments: str | Path) -> ctypes.CDLL:
    """A library of this process, by the host's compiler."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / name
        subprocess.run(["g++", *FLAGS, "-shared", *map(str, arguments), "-o", str(made)], check=True, timeout=600)
        return ctypes.CDLL(str(made))


@cache
def host_library(include: Path = INCLUDE) -> ctypes.CDLL:
    """The kernels of a folder of headers, for every plan."""
    return _built("gpu_host.so", "-O2" if include == INCLUDE else "-O1", f"-I{include}", HERE / "gpu_host.cpp")


@cache
def kernel_library(text: str, compiler: str, include: Path = INCLUDE) -> ctypes.CDLL:
    """The kernel of a text, as one of the GPUs' compilers gets it."""
    with tempfile.TemporaryDirectory() as folder:
        kernel, compiled = Path(folder) / "kernel.cpp", Path(folder) / "kernel.o"
        kernel.write_text(text.replace("__shared__", "IN_SHARED_MEMORY"), encoding="utf-8")
        words = ("-O2", *COMPILERS[compiler], f"-I{include}", "-include", str(HERE / "gpu_words.hpp"))
        subprocess.run(["g++", *FLAGS, *words, "-c", str(kernel), "-o", str(compiled)], check=True, timeout=600)
        return _built("kernel.so", "-O1", f"-I{INCLUDE}", HERE / "gpu_threads.cpp", compiled)


def _batch(chain: Chain, operands: tuple[Any, ...]) -> tuple[Any, bytes, Any]:
    """D, to be written, struct mmau_batch, and the arrays that it points to."""
    arrays = [None if x is None else np.ascontiguousarray(x) for x in operands]
    a, _, c, scale_a, _ = operands
    d = np.zeros(c.shape, bits_dtype(chain.operation.d))
    K, blocks = a.shape[1], 0 if scale_a is None else scale_a.shape[1]
    addresses = (0 if x is None else x.ctypes.data for x in (*arrays, d))
    return d, pack_batch(*addresses, c.size, c.shape[1], K, K, blocks, blocks), arrays


def host_product(
    chain: Chain, *operands: Any, quick: bool = False, descending: bool = False, planned_K: int | None = None,
    include: Path = INCLUDE,
) -> Any:  # fmt: skip
    """D [M, N] of a [M, K], the columns b [N, K], c and scales by a kernel; None where the quick one does not take it.

    Args:
        planned_K: K of the plan, which a kernel's source has; the kernel's own K is that of the operands.
    """
    K = operands[0].shape[1]
    d, batch, _arrays = _batch(chain, operands)
    made = bytes(parameters(chain, planned_K or K))
    status = host_library(include).mmau_gpu_product(made, batch, K, int(descending), int(quick))
    if status == NOT_QUICK:
        return None
    if status:
        raise refusal(status)
    return d


class ThreadsParted(AssertionError):
    """Some threads of a block waited at a barrier that others did not come to."""


def kernel_product(
    chain: Chain, *operands: Any, compiler: str = "nvrtc", descending: bool = False, include: Path = INCLUDE
) -> Any:
    """D, as `host_product`, by the kernel that golden.native.cuda launches, on as many blocks of as many threads.

    Raises:
        ThreadsParted: the threads do not all come to the same barriers.
    """
    (M, N), K = operands[2].shape, operands[0].shape[1]
    d, batch, _arrays = _batch(chain, operands)
    kernel = kernel_library(product_source(chain, K), compiler, include)
    blocks = -(-M // TILE) * -(-N // TILE)
    if kernel.launch(batch, K, blocks, THREADS, int(descending)):
        raise ThreadsParted("some threads of a block wait at a barrier that others do not come to")
    return d
