"""Records of the steps of dot products at native speed: a short form of golden.trace for many rows.

A trace shows one row in full; these records hold what coverage needs for thousands of rows: the terms that alignment cuts,
the extent of cancellation, the direction of rounding. The native engine's general path writes them
(golden/native/include/mmau/observe.hpp).
"""

import ctypes
from dataclasses import dataclass
from enum import IntFlag
from struct import Struct
from typing import Any

import numpy as np
import numpy.typing as npt

from golden.chains.chain import Chain
from golden.native.library import library, pack_batch, refusal
from golden.native.parameters import parameters

Records = npt.NDArray[Any]

TERM = np.dtype([("gap", np.int16), ("kept", np.int16), ("flags", np.uint16)])
"""struct mmau_seen_term: distance of its exponent below e_max (exponent value); bits from its leading one down to the last
that alignment retains, 0 or less if none remain; `TermFlag`."""

SUM = np.dtype([("e_max", np.int16), ("lead", np.int16), ("largest", np.int16), ("flags", np.uint16)])
"""struct mmau_seen_sum: exponents of its terms, of the leading ones of the total and of its largest term; `SumFlag`."""

ROUNDING = np.dtype([("lead", np.int16), ("flags", np.uint16)])
"""struct mmau_seen_rounding: exponent of the leading one before rounding; `RoundingFlag`."""


class TermFlag(IntFlag):
    """enum mmau_term_flag. No flag is set if a special operand determines the result without a sum."""

    SUMMED = 1
    NONZERO = 2
    NEGATIVE = 4
    CUT = 8
    GONE = 16


class SumFlag(IntFlag):
    """Flags of a sum in a record, as enum mmau_sum_flag of mmau.h."""

    MADE = 1
    NONZERO = 2
    NEGATIVE = 4
    OF_SOMETHING = 8


class RoundingFlag(IntFlag):
    """Flags of a rounding in a record, as enum mmau_rounding_flag of mmau.h."""

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
    BEYOND = 8192


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
    chain: Chain,
    a: npt.NDArray[Any],
    b: npt.NDArray[Any],
    c: npt.NDArray[Any],
    scale_a: npt.NDArray[Any] | None = None,
    scale_b: npt.NDArray[Any] | None = None,
) -> Observation:
    """Record the steps of each row. For a converted chain the final addition of c is not recorded.

    Args:
        a, b: bit patterns [rows, K], in the storage types of their formats; c: [rows]; scales: [rows, blocks] or None.

    Raises:
        ValueError: the native engine is not installed.
    """
    lib = library()
    if lib is None:
        raise ValueError("engine 'native' is not installed here; install the project with pip to observe steps")
    a, b = chain.operation.carried_codes(a, b)
    chain = chain.carried
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
