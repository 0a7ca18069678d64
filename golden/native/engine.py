"""The native engine: golden's dot products at machine speed, for whole batches and for matrices."""

from ctypes import addressof, c_char
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from golden.arrays import bits_dtype
from golden.chain import Chain, ConvertedChain
from golden.checks import check_int
from golden.native.library import library, pack_batch, refusal
from golden.native.parameters import parameters

MAX_THREADS = 1024

_from_buffer = c_char.from_buffer

_threads = 0


def set_threads(count: int) -> None:
    """Set the number of threads that the native engine uses for a batch; 0, the default, means one per core.

    Raises:
        TypeError, ValueError: not an integer from 0 to 1024.
    """
    global _threads
    check_int("threads", count, 0, MAX_THREADS)
    _threads = count


def is_available() -> bool:
    """Whether the library is installed."""
    return library() is not None


@lru_cache(maxsize=4096)
def _prepared(chain: Chain | ConvertedChain, K: int) -> tuple[bytes, np.dtype[Any]]:
    """The chain's struct mmau_parameters, and the dtype of d's bits."""
    return bytes(parameters(chain, K)), bits_dtype(chain.operation.d)


def _address(array: npt.NDArray[Any]) -> int:
    """The address of the array's data. `ndarray.ctypes` works for any array but takes three times as long."""
    try:
        return addressof(_from_buffer(array))  # type: ignore[arg-type]  # a buffer, which typing knows from Python 3.12 on
    except (TypeError, ValueError):  # read-only, or empty
        return int(array.ctypes.data)


def compute(
    chain: Chain | ConvertedChain,
    a: npt.NDArray[Any],
    b: npt.NDArray[Any],
    c: npt.NDArray[Any],
    scale_a: npt.NDArray[Any] | None,
    scale_b: npt.NDArray[Any] | None,
    columns: int = 0,
) -> npt.NDArray[Any]:
    """Compute d for every element of c.

    Args:
        a, b: bit patterns [rows, K]; c: [rows]; scale_a, scale_b: [rows, blocks] or None.
        columns: 0, or N of a matrix product: c is then [M, N], a and scale_a have M rows, b and scale_b N, the columns of B.

    Returns:
        d, bit patterns in the shape of c.
    """
    lib = library()
    if lib is None:
        raise ValueError("engine 'native' is not installed here; install the project with pip, or use engine='reference'")
    K = a.shape[-1]
    packed, d_dtype = _prepared(chain, K)
    a, b, c = np.ascontiguousarray(a), np.ascontiguousarray(b), np.ascontiguousarray(c)
    alpha = beta = blocks = 0
    if scale_a is not None and scale_b is not None:
        scale_a, scale_b = np.ascontiguousarray(scale_a), np.ascontiguousarray(scale_b)
        alpha, beta, blocks = _address(scale_a), _address(scale_b), scale_a.shape[-1]
    d = np.empty(c.shape, d_dtype)
    addresses = (_address(a), _address(b), _address(c), alpha, beta, _address(d))
    batch = pack_batch(*addresses, c.size, columns, K, K, blocks, blocks)
    status = lib.mmau_dot_batch(packed, batch, _threads)
    if status:
        raise refusal(status)
    return d
