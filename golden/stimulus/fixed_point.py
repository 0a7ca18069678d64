"""Fixed-point numbers beside floating-point ones: their codes are made as those of a format of fields."""

from functools import cache
from typing import Any

import numpy as np

from golden.arithmetic.format_fields import storage_for
from golden.arithmetic.formats import Format, IntegerFormat
from golden.arrays import BitArray, bits_dtype

EXP_BITS = 4
"""Exponent bits of the carrier of a number that is too wide for one of a single exponent."""

SINGLE = 54
"""Largest width of a number whose carrier has one exponent, and all its bits as significand."""


def carrier(of: Format) -> Format:
    """A format of fields in which codes of a format are made: that of a fixed-point number, or `Format.carried_by`."""
    return _carrier(of) if isinstance(of, IntegerFormat) else of.carried_by


@cache
def _carrier(c: IntegerFormat) -> Format:
    """A format of fields whose numbers c has, from its last place to its largest number or just below."""
    exp_bits = 1 if c.bits <= SINGLE else EXP_BITS
    man_bits = c.bits - (1 << exp_bits)
    return Format(
        name=f"{c.name}'s carrier", exp_bits=exp_bits, man_bits=man_bits, bias=1 - man_bits + c.fraction, specials="finite",
        storage_bits=storage_for(1 + exp_bits + man_bits),
    )  # fmt: skip


def codes_of(c: Format, codes: BitArray) -> BitArray:
    """The codes of c next to codes of its carrier; the ends of a fixed-point number's range for the ends of the carrier's.

    Bits of a large number that the carrier has not are those above them, so that all places of c vary.
    """
    if not isinstance(c, IntegerFormat):
        found: BitArray = c.codes_of(codes)
        return found
    of = _carrier(c)
    field = codes.astype(np.uint64) & np.uint64(of.magnitude_mask)
    stored, man = field >> np.uint64(of.man_bits), field & np.uint64((1 << of.man_bits) - 1)
    places = np.maximum(stored, 1) - np.uint64(1)
    magnitude: Any = (man | np.minimum(stored, 1) << np.uint64(of.man_bits)) << places
    magnitude |= magnitude >> np.uint64(c.bits // 2) & (np.uint64(1) << places) - np.uint64(1)
    at_end, negative = field == of.max_finite, codes.astype(np.uint64) > of.magnitude_mask
    magnitude = np.where(at_end, np.where(negative, c.codes >> 1, c.max_finite).astype(np.uint64), magnitude)
    whole: BitArray = np.where(negative, ~magnitude + np.uint64(1), magnitude) & np.uint64(c.codes - 1)
    return whole.astype(bits_dtype(c))
