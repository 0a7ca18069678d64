"""The cuda engine: the library's headers compiled by NVRTC for a chain's parameters, with one thread per dot product.

The project calls NVRTC itself: CuPy always appends -ftz=true, which would flush fp32 sums below the normal numbers.
"""

import hashlib
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from golden.arrays import is_device_array
from golden.cache import Cache, File
from golden.chains.chain import Chain
from golden.native.nvrtc import OPTIONS, compile_cubin, cuda_major, version
from golden.native.parameters import KEYS, parameters

FOLDER_VARIABLE = "MMAU_CUBINS"


CUBIN = "kernel.cubin"
"""File name of the cubin in an entry of the cache."""


def cached() -> Cache | None:
    """The cache of cubins across processes, None if MMAU_CUBINS is not set."""
    named = os.environ.get(FOLDER_VARIABLE)
    return Cache(Path(named)) if named else None


def key_of(source: str, target: str, include: Path | None = None) -> str:
    """The SHA-256 of all inputs of a compilation: compiler, target, options, source, and every header's name and
    text, included or not.

    Raises:
        FileNotFoundError: no NVRTC of the version that the target needs.
    """
    total = hashlib.sha256()
    for part in (version(cuda_major(target)), target, *OPTIONS, source, "" if include is None else _headers(include)):
        encoded = part.encode()
        total.update(len(encoded).to_bytes(8, "little") + encoded)
    return total.hexdigest()


@cache
def _headers(include: Path) -> str:
    digests = (
        f"{path.relative_to(include).as_posix()} {hashlib.sha256(path.read_bytes()).hexdigest()}"
        for path in sorted(include.rglob("*"))
        if path.is_file()
    )
    return "\n".join(digests)


def cubin(source: str, target: str, include: Path | None = None) -> bytes:
    """The cubin of a CUDA C++ source; arguments and errors as `golden.native.nvrtc.compile_cubin`."""
    return _compiled(key_of(source, target, include), source, target, include, cached())


@cache
def _compiled(key: str, source: str, target: str, include: Path | None, cubins: Cache | None) -> bytes:
    found = None if cubins is None else cubins.read(key)
    if found is not None:
        return found[CUBIN].content
    made = compile_cubin(source, target, include)
    if cubins is not None:
        cubins.write(key, {CUBIN: File(made)})
    return made


INCLUDE = Path(__file__).parent / "include"

THREADS = 128
"""Threads per block."""

ENTRY = "dot_rows"
"""Name of the kernel."""

_PLAN = """
#include "mmau/dot.hpp"

constexpr mmau_parameters parameters = {%s};
constexpr mmau::Plan plan = mmau::make_plan(parameters);
template <bool narrow> struct Sum { using Int = int64_t; };
template <> struct Sum<false> { using Int = mmau::Widest; };
"""

_KERNEL = """
extern "C" __global__ void dot_rows(const mmau_batch batch) {
    const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= batch.rows) return;
    const int64_t i = batch.columns ? row / batch.columns : row, j = batch.columns ? row % batch.columns : row;
    const mmau::Row operands = {mmau::element(plan.stored_a, batch.a, i * batch.a_stride),
                                mmau::element(plan.stored_b, batch.b, j * batch.b_stride),
                                mmau::element(plan.scale, batch.scale_a, i * batch.scale_a_stride),
                                mmau::element(plan.scale, batch.scale_b, j * batch.scale_b_stride)};
    const uint64_t c = mmau::load(plan.c, batch.c, row);
    mmau::store(plan.d, batch.d, row, mmau::dot_in<Sum<plan.narrow>::Int>(plan, operands, c));
}
"""


def plan_source(chain: Chain, K: int) -> str:
    """Source text that defines a chain over K products as the constant `plan`, so that the compiler drops all other paths,
    and `Sum<plan.narrow>::Int`, an integer type that holds every sum."""
    made = parameters(chain, K)
    return _PLAN % ", ".join(str(getattr(made, key)) for key in KEYS)


def source(chain: Chain, K: int) -> str:
    """CUDA C++ source of the kernel for a chain over K products."""
    return plan_source(chain, K) + _KERNEL


def target_of(capability: str) -> str:
    """The compiler's target for a compute capability: `sm_90` of `90`."""
    return f"sm_{capability}"


@cache
def _kernel(text: str, target: str, device: int) -> Any:
    """The kernel of a source, compiled for a target and loaded on a device."""
    import cupy

    module = cupy.cuda.function.Module()
    module.load(cubin(text, target, INCLUDE))
    return module.get_function(ENTRY)


def compute(chain: Chain, a: Any, b: Any, c: Any, scale_a: Any = None, scale_b: Any = None, columns: int = 0) -> Any:
    """Compute d for every element of c, on the current device and stream.

    Args:
        a, b, c, scale_a, scale_b, columns: as in the native engine's `compute`, but CuPy arrays of bit patterns.

    Returns:
        d, bit patterns in a CuPy array of the shape of c.

    Raises:
        ValueError: the arrays are not CuPy's. FileNotFoundError: no NVRTC.
    """
    if not is_device_array(c):
        raise ValueError("engine 'cuda' takes CuPy arrays; got NumPy arrays, which engine 'native' takes")
    import cupy

    K = a.shape[-1]
    operands = [None if array is None else cupy.ascontiguousarray(array) for array in (a, b, c, scale_a, scale_b)]
    d = cupy.empty(c.shape, f"uint{chain.operation.d.storage_bits}")
    if c.size:
        blocks = 0 if scale_a is None else scale_a.shape[-1]
        pointers = [0 if array is None else array.data.ptr for array in (*operands, d)]
        # struct mmau_batch; CuPy passes a NumPy array of one element by value, and no other structure safely
        batch = np.array([*pointers, c.size, columns, K, K, blocks, blocks], np.int64)
        device = cupy.cuda.Device()
        kernel = _kernel(source(chain, K), target_of(device.compute_capability), device.id)
        kernel((-(-c.size // THREADS), 1, 1), (THREADS, 1, 1), (batch.view(f"V{batch.nbytes}"),))
    return d
