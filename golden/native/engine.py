"""The native engine: golden's dot products at machine speed, for whole batches and for matrices."""

import ctypes
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from golden.arrays import bits_dtype
from golden.chain import Chain, ConvertedChain
from golden.checks import check_int
from golden.native.library import Batch, library, message
from golden.native.parameters import parameters

MAX_THREADS = 1024

_threads = 0
_parameters: WeakKeyDictionary[Chain | ConvertedChain, dict[int, Any]] = WeakKeyDictionary()


def set_threads(count: int) -> None:
    """Use `count` threads for a batch from now on; 0 (as at the start) for one a core.

    Raises:
        TypeError, ValueError: not an integer from 0 to 1024.
    """
    global _threads
    check_int("threads", count, 0, MAX_THREADS)
    _threads = count


def is_available() -> bool:
    """Whether the library is installed."""
    return library() is not None


def _parameters_of(chain: Chain | ConvertedChain, K: int) -> Any:
    """A reference to the chain's parameters, made once."""
    made = _parameters.setdefault(chain, {})
    if K not in made:
        made[K] = ctypes.byref(parameters(chain, K))
    return made[K]


def compute(
    chain: Chain | ConvertedChain,
    a: npt.NDArray[Any],
    b: npt.NDArray[Any],
    c: npt.NDArray[Any],
    scale_a: npt.NDArray[Any] | None,
    scale_b: npt.NDArray[Any] | None,
    columns: int = 0,
) -> npt.NDArray[Any]:
    """d for every element of c.

    Args:
        a, b: bit patterns [rows, K]; c: [rows]; scale_a, scale_b: [rows, blocks] or None.
        columns: 0, or N of a matrix product: c is then [M·N], a and scale_a have M rows, b and scale_b N, the columns of B.

    Returns:
        d [rows], bit patterns.
    """
    lib = library()
    if lib is None:
        raise ValueError("engine 'native' is not installed here; install the project with pip, or use engine='reference'")
    K = a.shape[-1]
    scales = () if scale_a is None or scale_b is None else (scale_a, scale_b)
    operands = [np.ascontiguousarray(operand) for operand in (a, b, c, *scales)]
    d = np.empty(c.shape, bits_dtype(chain.operation.d))
    pointers = [operand.ctypes.data for operand in operands] + [None] * (2 - len(scales))
    blocks = scales[0].shape[-1] if scales else 0
    batch = Batch(*pointers, d.ctypes.data, c.size, columns, K, K, blocks, blocks)
    status = lib.mmau_dot_batch(_parameters_of(chain, K), ctypes.byref(batch), _threads)
    if status:
        raise ValueError(message(status))
    return d
