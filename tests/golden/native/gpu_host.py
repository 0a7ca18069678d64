"""The kernels of matrix products on GPUs, run on the host: compiled once from the very headers (`gpu_host.cpp`)."""

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
from golden.native.cuda import INCLUDE
from golden.native.library import pack_batch, refusal
from golden.native.parameters import parameters

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not on PATH")

NOT_QUICK = -1
"""Status of a chain that the quick kernel does not take."""

FLAGS = ("-std=c++17", "-Wall", "-Wextra", "-Wno-unknown-pragmas", "-Werror", "-ffp-contract=off", "-shared", "-fPIC")


@cache
def host_library(include: Path = INCLUDE) -> ctypes.CDLL:
    """The kernels of a folder of headers as a library of this process."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "gpu_host.so"
        source = Path(__file__).with_suffix(".cpp")
        subprocess.run(
            ["g++", "-O2" if include == INCLUDE else "-O1", *FLAGS, f"-I{include}", str(source), "-o", str(made)],
            check=True,
            timeout=600,
        )
        return ctypes.CDLL(str(made))


def host_product(
    chain: Chain, a: Any, b: Any, c: Any, scale_a: Any = None, scale_b: Any = None, *, quick: bool = False,
    descending: bool = False, planned_K: int | None = None, include: Path = INCLUDE,
) -> Any:  # fmt: skip
    """D [M, N] of a [M, K] and the columns b [N, K] by a kernel; None where the quick one does not take the chain.

    Args:
        planned_K: K of the plan, which a kernel's source has; the kernel's own K is that of the operands.
    """
    arrays = [None if x is None else np.ascontiguousarray(x) for x in (a, b, c, scale_a, scale_b)]
    d = np.zeros(c.shape, bits_dtype(chain.operation.d))
    K, blocks = a.shape[1], 0 if scale_a is None else scale_a.shape[1]
    addresses = (0 if x is None else x.ctypes.data for x in (*arrays, d))
    batch = pack_batch(*addresses, c.size, c.shape[1], K, K, blocks, blocks)
    made = bytes(parameters(chain, planned_K or K))
    status = host_library(include).mmau_gpu_product(made, batch, K, int(descending), int(quick))
    if status == NOT_QUICK:
        return None
    if status:
        raise refusal(status)
    return d
