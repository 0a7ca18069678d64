"""What happens inside the steps of a dot product, row by row, at machine speed: golden.trace for many rows at a time.

A trace tells one row in full; these records hold what coverage asks of thousands: which terms alignment cuts, how far a sum
cancels, where rounding goes. The native engine's general path writes them (golden/native/include/mmau/observe.hpp).
"""

import ctypes
from dataclasses import dataclass
from enum import IntFlag
from struct import Struct
from typing import Any

import numpy as np
import numpy.typing as npt

from golden.chain import Chain, ConvertedChain
from golden.native.library import library, pack_batch, refusal
from golden.native.parameters import parameters

Records = npt.NDArray[Any]

TERM = np.dtype([("gap", np.int16), ("kept", np.int16), ("flags", np.uint16)])
"""struct mmau_seen_term: how far its exponent lies below e_max (exponent value); bits from its leading one down to the last
that alignment keeps, 0 or less where all go; `TermFlag`."""

SUM = np.dtype([("e_max", np.int16), ("lead", np.int16), ("largest", np.int16), ("flags", np.uint16)])
"""struct mmau_seen_sum: exponents of its terms, of the leading ones of the total and of its largest term; `SumFlag`."""

ROUNDING = np.dtype([("lead", np.int16), ("flags", np.uint16)])
"""struct mmau_seen_rounding: exponent of the leading one of what is rounded; `RoundingFlag`."""


class TermFlag(IntFlag):
    """enum mmau_term_flag. None is set where a special operand keeps the sum from being made."""

    SUMMED = 1
    NONZERO = 2
    NEGATIVE = 4
    CUT = 8
    GONE = 16


class SumFlag(IntFlag):
    """enum mmau_sum_flag."""

    MADE = 1
    NONZERO = 2
    NEGATIVE = 4
    OF_SOMETHING = 8


class RoundingFlag(IntFlag):
    """enum mmau_rounding_flag."""

    MADE = 1
    NONZERO = 2
    NEGATIVE = 4
    LAST = 8
    GUARD = 16
    STICKY = 32
    AWAY = 64
    CARRY = 128
    TINY = 256
    TO_ZERO = 512
    SUBNORMAL = 1024
    OVERFLOW = 2048
    FLUSHED = 4096


class _Counts(ctypes.Structure):
    """struct mmau_record_counts."""

    _fields_ = [(key, ctypes.c_int32) for key in ("steps", "terms", "sums", "roundings")]


@dataclass(frozen=True)
class Observation:
    """The records of some rows, in the order of mmau.h.

    Attributes:
        terms, sums, roundings: [rows, steps, records of a step], of the dtypes `TERM`, `SUM` and `ROUNDING`.
        c, d: codes before and after each step [rows, steps].
    """

    terms: Records
    sums: Records
    roundings: Records
    c: npt.NDArray[np.uint64]
    d: npt.NDArray[np.uint64]


def observe(
    chain: Chain | ConvertedChain,
    a: npt.NDArray[Any],
    b: npt.NDArray[Any],
    c: npt.NDArray[Any],
    scale_a: npt.NDArray[Any] | None = None,
    scale_b: npt.NDArray[Any] | None = None,
) -> Observation:
    """The steps of each row. A converted chain is seen without the addition of c that ends it.

    Args:
        a, b: bit patterns [rows, K], in the storage types of their formats; c: [rows]; scales: [rows, blocks] or None.

    Raises:
        ValueError: the native engine is not installed.
    """
    lib = library()
    if lib is None:
        raise ValueError("engine 'native' is not installed here; install the project with pip to observe steps")
    rows, K = a.shape
    packed, counts = bytes(parameters(chain, K)), _Counts()
    _checked(lib.mmau_count_records(packed, ctypes.byref(counts)))
    arrays = [np.ascontiguousarray(each) for each in (a, b, c)]
    scales = [np.ascontiguousarray(each) for each in (scale_a, scale_b) if each is not None]
    blocks = scales[0].shape[-1] if scales else 0
    shape = (rows, counts.steps)
    found = Observation(
        np.empty((*shape, counts.terms), TERM),
        np.empty((*shape, counts.sums), SUM),
        np.empty((*shape, counts.roundings), ROUNDING),
        np.empty(shape, np.uint64),
        np.empty(shape, np.uint64),
    )
    addresses = [each.ctypes.data for each in (*arrays, *scales)] + [0] * (2 - len(scales)) + [0]
    batch = pack_batch(*addresses, rows, 0, K, K, blocks, blocks)
    written = (found.terms, found.sums, found.roundings, found.c, found.d)
    _checked(lib.mmau_observe(packed, batch, _pack_observation(*(each.ctypes.data for each in written))))
    return found


_pack_observation = Struct("5P").pack
"""struct mmau_observation."""


def _checked(status: int) -> None:
    if status:
        raise refusal(status)
