"""The native engine: golden's dot products at machine speed, for whole batches and for matrices."""

from ctypes import addressof, c_char, c_void_p
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from golden.arithmetic.formats import Format
from golden.arrays import bits_dtype, float_dtype
from golden.chains.chain import Chain
from golden.checks import check_int
from golden.native.library import TOO_WIDE, library, pack_batch, refusal
from golden.native.parameters import flag_rules, is_one_call, parameters
from golden.operations.base import Operation
from golden.operations.gst_fdpa import GSTFDPA

MAX_THREADS = 1024

NOT_INSTALLED = "engine 'native' is not installed here; install the project with pip, or use engine='reference'"

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
def computes(operation: Operation) -> bool:
    """Whether the library, where it is installed, computes a step: it has the formats, and integers as wide as the exact
    sums."""
    lib, chain = library(), Chain(operation).carried
    if lib is None or not operation.is_native or not is_one_call(chain):
        return operation.is_native
    status: int = lib.mmau_check(bytes(parameters(chain, operation.length)))
    return status != TOO_WIDE


@lru_cache(maxsize=4096)
def _prepared(chain: Chain, K: int) -> tuple[bytes, np.dtype[Any]]:
    """The chain's struct mmau_parameters, and the dtype of d's bits."""
    return bytes(parameters(chain, K)), bits_dtype(chain.operation.d)


def _address(array: npt.NDArray[Any]) -> int:
    """The address of the array's data. `ndarray.ctypes` works for any array but takes three times as long."""
    try:
        return addressof(_from_buffer(array))  # type: ignore[arg-type]  # a buffer, which typing knows from Python 3.12 on
    except (TypeError, ValueError):  # read-only, or empty
        return int(array.ctypes.data)


NEAR_BYTES = 1 << 19
"""So many bytes of B stay in a core's own cache while the rows of A pass by. GST-FDPA reads B where it lies, once for each
row of A; other products decode a tile of it once."""


def compute(
    chain: Chain,
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
        raise ValueError(NOT_INSTALLED)
    K = a.shape[-1]
    packed, d_dtype = _prepared(chain, K)
    step = NEAR_BYTES // (K * b.itemsize) if isinstance(chain.operation, GSTFDPA) else 0
    if 0 < step < columns and b.nbytes > NEAR_BYTES and len(a) > 1:
        d = np.empty(c.shape, d_dtype)
        for j in range(0, columns, step):
            of_few = None if scale_b is None else scale_b[j : j + step]
            few = compute(chain, a, b[j : j + step], c[:, j : j + step], scale_a, of_few, min(step, columns - j))
            d[:, j : j + step] = few
        return d
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


def compute_flagged(
    chain: Chain, a: npt.NDArray[Any], b: npt.NDArray[Any], c: npt.NDArray[Any]
) -> tuple[npt.NDArray[Any], npt.NDArray[np.uint8]]:
    """Compute d and the exception flags of every row.

    Args:
        chain: steps of an operation that defines flags (`Chain.check_flags`).
        a, b: bit patterns [rows, K]; c: [rows].
    """
    lib = library()
    if lib is None:
        raise ValueError(NOT_INSTALLED)
    K = a.shape[-1]
    packed, d_dtype = _prepared(chain, K)
    arrays = [np.ascontiguousarray(each) for each in (a, b, c)]
    d, flags = np.empty(c.shape, d_dtype), np.empty(c.shape, np.uint8)
    batch = pack_batch(*map(_address, arrays), 0, 0, _address(d), c.size, 0, K, K, 0, 0)
    status = lib.mmau_dot_flags(packed, batch, flag_rules(chain.operation), c_void_p(_address(flags)))
    if status:
        raise refusal(status)
    return d, flags


Views = dict[np.dtype[Any], npt.NDArray[Any]]
"""Views of one buffer by the dtypes that an operand may have."""


class Buffers(NamedTuple):
    """Memory of one product: views of its operands, of D by the dtype of C, and struct mmau_batch with their addresses."""

    a: Views
    b: Views
    c: Views
    d: Views
    batch: bytes


class PreparedProduct:
    """Matrix products D = A·B + C of one shape, without scales; everything is prepared except the copies of the operands.

    A call of `compute` spends more time on addresses, structs and checks than the library needs for one instruction.

    Args:
        chain: a chain that the library computes in one call.
        a, b: formats of A and B, which use all bits of their storage.
        shape: m, n, k.
    """

    def __init__(self, chain: Chain, a: Format, b: Format, shape: tuple[int, int, int]) -> None:
        self._of = chain, a, b, shape
        m, n, k = shape
        self._shapes = (m, k), (k, n), (m, n)
        self._parameters = _prepared(chain, k)[0]
        self._free: list[Buffers] = []

    def __reduce__(self) -> tuple[type["PreparedProduct"], tuple[Any, ...]]:
        return PreparedProduct, self._of  # a copy has buffers of its own: these hold addresses

    def __call__(self, A: Any, B: Any, C: Any) -> npt.NDArray[Any] | None:
        """Compute D, bit patterns or floats like C; return None, and compute nothing, unless the operands are NumPy arrays
        of the right shapes and formats.

        Raises:
            ValueError: the environment variable MMAU_ISA names an instruction set that this processor does not have.
        """
        array = np.ndarray
        if type(A) is not array or type(B) is not array or type(C) is not array:
            return None
        if (A.shape, B.shape, C.shape) != self._shapes:
            return None
        try:
            buffers = self._free.pop()  # atomic: threads do not share buffers
        except IndexError:
            buffers = self._new_buffers()
        a, b, c = buffers.a.get(A.dtype), buffers.b.get(B.dtype), buffers.c.get(C.dtype)
        if a is None or b is None or c is None:
            self._free.append(buffers)
            return None
        a[...], b[...], c[...] = A, B, C
        lib = library()
        assert lib is not None
        status = lib.mmau_dot_batch(self._parameters, buffers.batch, _threads)
        if status:
            raise refusal(status)
        d = buffers.d[C.dtype].copy()
        self._free.append(buffers)
        return d

    def _new_buffers(self) -> Buffers:
        chain, a_format, b_format, (m, n, k) = self._of
        c_format, d_format = chain.operation.c, chain.operation.d
        formats = ((a_format, (m, k)), (b_format, (n, k)), (c_format, (m, n)), (d_format, (m, n)))
        a, b, c, d = (np.zeros(shape, bits_dtype(of)) for of, shape in formats)
        batch = pack_batch(_address(a), _address(b), _address(c), 0, 0, _address(d), m * n, n, k, k, 0, 0)
        c_floats, d_floats = float_dtype(c_format), float_dtype(d_format)
        as_c = {c.dtype: d}
        if c_floats is not None:
            as_c[c_floats] = d if d_floats is None else d.view(d_floats)
        return Buffers(
            _views(a, a_format), {of: view.T for of, view in _views(b, b_format).items()}, _views(c, c_format), as_c, batch
        )


def _views(codes: npt.NDArray[Any], operand: Format) -> Views:
    floats = float_dtype(operand)
    return {codes.dtype: codes} if floats is None else {codes.dtype: codes, floats: codes.view(floats)}


def prepared_product(chain: Chain, a: Format, b: Format, shape: tuple[int, int, int]) -> PreparedProduct | None:
    """Prepare products of one shape for a chain; None if the library is not installed, does not compute the chain in one
    call, or if the operation has scales or a format has no fields or invalid codes."""
    operation = chain.operation
    fills_storage = all(operand.width == operand.storage_bits for operand in (a, b, operation.c))
    of_fields = operation.carried is operation and operation.scale_format is None
    lib = library()
    if lib is None or not is_one_call(chain) or not of_fields or not fills_storage:
        return None
    try:
        if lib.mmau_check(_prepared(chain, shape[2])[0]):  # too wide a sum, of which `compute` says so
            return None
        return PreparedProduct(chain, a, b, shape)
    except ValueError:  # a chain of `compute`'s refusals
        return None
