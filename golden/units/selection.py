"""2:4 sparsity: of each group of elements of b, metadata say which ones the stored elements of a are multiplied by."""

import sys
from typing import Any

import numpy as np

from golden.arrays import BitArray, check_shape, is_device_array, is_tensor

Selections = dict[int, tuple[int, ...]]
"""Code of the metadata of a group to the positions in it whose elements are stored, ascending."""

PAIRS_OF_FOUR: Selections = {0x4: (0, 1), 0x8: (0, 2), 0xC: (0, 3), 0x9: (1, 2), 0xD: (1, 3), 0xE: (2, 3)}
"""Selections of two elements of four: the low two bits of a code are the position of the first, the high two that of the
second."""

ONE_OF_TWO: Selections = {0x4: (0,), 0xE: (1,)}
"""Selections of one element of two (tf32): a code names the two halves of the element, as pairs of four."""

CODE_BITS = 4
"""Bits of the code of a group."""


def pair(code: int) -> tuple[int, int]:
    """The places that circuits here take for a code: those of `PAIRS_OF_FOUR`. For another code, of which nothing is said,
    the first place is at most 2 and the second at least 1."""
    return min(code & 3, 2), max(code >> 2, 1)


def places_of(metadata: Any, selections: Selections) -> Any:
    """The places in b of the selected elements: codes [..., groups] → integers [..., k]."""
    stored = len(next(iter(selections.values())))
    table = np.zeros((1 << CODE_BITS, stored), np.int64)
    for code, positions in selections.items():
        table[code] = positions
    xp = sys.modules["cupy"] if is_device_array(metadata) else np
    groups = metadata.shape[-1]
    places = xp.asarray(table)[metadata] + 2 * stored * xp.arange(groups)[:, None]
    return places.reshape(*metadata.shape[:-1], groups * stored)


def selected(name: str, b: BitArray, metadata: Any, selections: Selections, k: int) -> BitArray:
    """The elements of b that the metadata pairs with the stored elements of a: [..., 2k] → [..., k].

    Args:
        name: the instruction's or the unit's, for messages. metadata: codes [..., groups], with the axes of b before the
            last one, or axes of length 1 on either side.

    Raises:
        TypeError: metadata that are no integers. ValueError: a wrong shape, or a code that selects nothing.
    """
    stored = len(next(iter(selections.values())))
    groups, size = k // stored, 2 * stored
    if not is_device_array(metadata):
        metadata = np.asarray(metadata.cpu() if is_tensor(metadata) else metadata)
    if metadata.dtype.kind not in "ui":
        raise TypeError(f"metadata of {name} must be an array of integers, got {metadata.dtype}")
    check_shape("b", b, (*b.shape[:-1], 2 * k), f"twice the k of {name}")
    check_shape("metadata", metadata, (*metadata.shape[:-1], groups), f"one for every {size} elements of b of {name}")
    xp = sys.modules["cupy"] if is_device_array(metadata) else np
    is_code = xp.isin(metadata, xp.asarray(list(selections)))
    if not bool(is_code.all()):
        codes = ", ".join(map(str, sorted(selections)))
        raise ValueError(f"metadata of {name} must be one of {codes}, got {int(metadata[~is_code].reshape(-1)[0])}")
    return np.take_along_axis(b, places_of(metadata, selections), axis=-1)


def scattered(b: BitArray, others: BitArray, metadata: Any) -> BitArray:
    """`others` with b where the metadata select: [rows, k], [rows, 2k], codes of `PAIRS_OF_FOUR` → [rows, 2k]."""
    found = others.copy()
    np.put_along_axis(found, places_of(metadata, PAIRS_OF_FOUR), b.astype(found.dtype), -1)
    return found
