"""The cuda engine: the library's headers compiled for a chain's parameters, one thread for a dot product of rows, a block of
threads for a tile of a matrix product.

NVRTC compiles for NVIDIA's GPUs, zig's clang for AMD's, from the same source. Arrays are CuPy's, whose own launch serves, or
tensors of PyTorch (golden/tensor_array.py). The project calls NVRTC itself: CuPy always appends -ftz=true, which would flush
fp32 sums below the normal numbers.
"""

import hashlib
import os
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from golden.arrays import bits_dtype, is_device_array
from golden.cache import Cache, File
from golden.chains.chain import Chain
from golden.native import driver, hip
from golden.native.nvrtc import OPTIONS, compile_cubin, cuda_major, version
from golden.native.parameters import KEYS, parameters
from golden.tensor_array import TensorArray

FOLDER_VARIABLE = "MMAU_CUBINS"


CUBIN = "kernel.cubin"
"""File name of the cubin in an entry of the cache."""


def cached() -> Cache | None:
    """The cache of cubins across processes, None if MMAU_CUBINS is not set."""
    named = os.environ.get(FOLDER_VARIABLE)
    return Cache(Path(named)) if named else None


def key_of(source: str, target: str, include: Path | None = None) -> str:
    """The SHA-256 of all inputs of a compilation: compiler, target, options, source, and the name and text of every header
    of the folder that it includes, itself or through others, under whichever condition.

    Raises:
        FileNotFoundError: no NVRTC of the version that the target needs.
    """
    total = hashlib.sha256()
    for part in (
        version(cuda_major(target)),
        target,
        *OPTIONS,
        source,
        "" if include is None else _headers(include, tuple(_INCLUDED.findall(source))),
    ):
        encoded = part.encode()
        total.update(len(encoded).to_bytes(8, "little") + encoded)
    return total.hexdigest()


_INCLUDED = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


@cache
def _headers(include: Path, names: tuple[str, ...]) -> str:
    """The names and digests of the headers that the names lead to."""
    root, found = include.resolve(), dict[str, str]()
    waiting = [(root, name) for name in names]
    while waiting:
        folder, name = waiting.pop()
        path = next((each for each in ((folder / name).resolve(), (root / name).resolve()) if each.is_file()), None)
        if path is None or str(path) in found:
            continue
        text = path.read_bytes()
        found[str(path)] = f"{os.path.relpath(path, root)} {hashlib.sha256(text).hexdigest()}"
        waiting += [(path.parent, name) for name in _INCLUDED.findall(text.decode())]
    return "\n".join(sorted(found.values()))


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

THREADS = 256
"""Threads of a block (mmau/gpu/block.hpp)."""

ROWS, PRODUCT = "dot_rows", "matrix_product"
"""Names of the kernels: of rows, and of matrix products."""

TILE = 64
"""Rows, and columns, of D that a block of the kernel of matrix products computes (mmau/gpu/block.hpp)."""

PLANNED_STEPS = 16
"""Most steps of a plan: a kernel of a plain chain takes any number, and is compiled once for all that have more."""

_PLAN = """
#include "mmau/dot.hpp"

constexpr mmau_parameters parameters = {%s};
constexpr mmau::Plan plan = mmau::make_plan(parameters);
template <bool narrow> struct Sum { using Int = int64_t; };
template <> struct Sum<false> { using Int = mmau::Widest; };
"""

_KERNEL = """
#include "mmau/gpu/block.hpp"

MMAU_KERNEL void dot_rows(const mmau_batch batch) {
    const int64_t row = mmau::block_number() * mmau::block_threads + mmau::thread_number();
    if (row >= batch.rows) return;
    const mmau::Row operands = {mmau::element(plan.stored_a, batch.a, row * batch.a_stride),
                                mmau::element(plan.stored_b, batch.b, row * batch.b_stride),
                                mmau::element(plan.scale, batch.scale_a, row * batch.scale_a_stride),
                                mmau::element(plan.scale, batch.scale_b, row * batch.scale_b_stride)};
    const uint64_t c = mmau::load(plan.c, batch.c, row);
    mmau::store(plan.d, batch.d, row, mmau::dot_in<Sum<plan.narrow>::Int>(plan, operands, c));
}
"""


_PRODUCT = """
#include "mmau/gpu/ways.hpp"

struct Planned {
    MMAU_FN const mmau::Plan& operator()() const { return plan; }
};

MMAU_KERNEL void matrix_product(const mmau_batch batch, const int K) {
    using Way = mmau::Way<mmau::way_of(plan)>;
    __shared__ __attribute__((aligned(16))) unsigned char memory[Way::bytes(plan)];
    mmau::Block<Way::Own> block;
    Way::compute<Sum<plan.narrow>::Int>(mmau::Product<Planned>{batch, K}, mmau::block_number(), memory, block);
}
"""


def plan_source(chain: Chain, K: int) -> str:
    """Source text that defines a chain over K products as the constant `plan`, so that the compiler drops all other paths,
    and `Sum<plan.narrow>::Int`, an integer type that holds every sum."""
    made = parameters(chain, K)
    return _PLAN % ", ".join(str(getattr(made, key)) for key in KEYS)


def source(chain: Chain, K: int) -> str:
    """CUDA C++ and HIP source of the kernel of rows for a chain over K products."""
    return plan_source(chain, K) + _KERNEL


def product_source(chain: Chain, K: int) -> str:
    """CUDA C++ and HIP source of the kernel of matrix products for a chain over K products."""
    steps = K // chain.operation.length
    planned = chain.operation.length * PLANNED_STEPS if chain.is_plain and steps > PLANNED_STEPS else K
    return plan_source(chain, planned) + _PRODUCT


def target_of(capability: str) -> str:
    """The compiler's target for a compute capability: `sm_90` of `90`."""
    return f"sm_{capability}"


@cache
def _kernel(text: str, entry: str, target: str, device: int) -> Any:
    """A kernel of a source for arrays of CuPy, compiled for a target and loaded on a device."""
    import cupy

    module = cupy.cuda.function.Module()
    module.load(cubin(text, target, INCLUDE))
    return module.get_function(entry)


def compute(chain: Chain, a: Any, b: Any, c: Any, scale_a: Any = None, scale_b: Any = None, columns: int = 0) -> Any:
    """Compute d for every element of c, on the current device and stream.

    Args:
        a, b, c, scale_a, scale_b, columns: as in the native engine's `compute`, but in arrays of CuPy or tensors.

    Returns:
        d, bit patterns in an array of the same kind, of the shape of c.

    Raises:
        ValueError: the arrays are not on a GPU. FileNotFoundError: no compiler, or no driver. MemoryError: of the device.
    """
    if not is_device_array(c):
        raise ValueError("engine 'cuda' takes arrays on a GPU; got NumPy arrays, which engine 'native' takes")
    K = a.shape[-1]
    launcher = _of_tensors if isinstance(c, TensorArray) else _of_cupy
    if columns:
        blocks = -(-(c.size // columns) // TILE) * -(-columns // TILE)
        return launcher(
            product_source(chain, K), PRODUCT, blocks, (a, b, c, scale_a, scale_b), chain, columns, (np.int32(K),)
        )
    return launcher(source(chain, K), ROWS, -(-c.size // THREADS), (a, b, c, scale_a, scale_b), chain, columns, ())


def _batch_of(pointers: list[int], operands: Any, columns: int) -> Any:
    """struct mmau_batch, as an array."""
    a, _, c, scale_a, _ = operands
    K, blocks = a.shape[-1], 0 if scale_a is None else scale_a.shape[-1]
    return np.array([*pointers, c.size, columns, K, K, blocks, blocks], np.int64)


def _of_cupy(text: str, entry: str, blocks: int, operands: Any, chain: Chain, columns: int, rest: tuple[Any, ...]) -> Any:
    import cupy

    held = [None if x is None else cupy.ascontiguousarray(x) for x in operands]
    d = cupy.empty(operands[2].shape, f"uint{chain.operation.d.storage_bits}")
    if d.size:
        batch = _batch_of([0 if x is None else x.data.ptr for x in (*held, d)], operands, columns)
        device = cupy.cuda.Device()
        kernel = _kernel(text, entry, target_of(device.compute_capability), device.id)
        # CuPy passes a NumPy array of one element by value, and no other structure safely
        kernel((blocks, 1, 1), (THREADS, 1, 1), (batch.view(f"V{batch.nbytes}"), *rest))
    return d


def _of_tensors(text: str, entry: str, blocks: int, operands: Any, chain: Chain, columns: int, rest: tuple[Any, ...]) -> Any:
    held = [None if x is None else x.tensor.contiguous() for x in operands]
    d: Any = np.empty_like(operands[2], bits_dtype(chain.operation.d))
    if d.size:
        batch = _batch_of([0 if x is None else pointer(x) for x in (*held, d.tensor)], operands, columns)
        of_driver, target, device, stream = place_of(d.tensor)
        arguments = [batch.tobytes(), *(x.tobytes() for x in rest)]
        driver.launch(of_driver, binary(text, target), entry, device, stream, blocks, THREADS, arguments)
    return d


def pointer(tensor: Any) -> int:
    """The address of a tensor's first element."""
    return int(tensor.data_ptr())


def place_of(tensor: Any) -> tuple[driver.Driver, str, int, int]:
    """Where a tensor's kernels run: the driver, the compiler's target, the device's number, its current stream."""
    torch = sys.modules["torch"]
    number, stream = tensor.device.index, torch.cuda.current_stream(tensor.device).cuda_stream
    if torch.version.hip is None:
        return driver.NVIDIA, target_of("".join(map(str, torch.cuda.get_device_capability(tensor.device)))), number, stream
    return driver.AMD, torch.cuda.get_device_properties(tensor.device).gcnArchName.partition(":")[0], number, stream


@cache
def binary(text: str, target: str) -> bytes:
    """The machine code of a source for an architecture, NVIDIA's or AMD's."""
    if target.startswith("sm_"):
        return cubin(text, target, INCLUDE)
    wave = hip.wave_of(target)
    return hip.code_object(hip.assembly(text, target, wave, INCLUDE), target, wave)
