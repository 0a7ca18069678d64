"""Codes assembled from sign, exponent and fraction, and the landmarks of a format, as in stimulus/numbers.hpp.

Codes of every format are uint64 here; the random words of fp64 have 64 bits, of other formats 32.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from golden.arithmetic.formats import Format
from golden.stimulus.codes import lowest_lead
from golden.stimulus.volume.words import IntArray, Key, Stream, Words, below

Codes = npt.NDArray[np.uint64]


class Fractions(NamedTuple):
    """Recipes for fractions: from two random ones x and y, (x & (y | widen) | y & fill) & keep | set; uint64 [rows]."""

    widen: Codes
    fill: Codes
    keep: Codes
    set: Codes


def fractions_of(man_bits: int, kind: IntArray, few: IntArray) -> Fractions:
    """Eight kinds: random (twice), sparse, dense, zeros, ones, without the last `few` bits, without the first `few`."""
    ones, every, none = (1 << man_bits) - 1, np.uint64((1 << 64) - 1), np.uint64(0)
    kept = np.select([kind == 4, kind == 6, kind == 7], [0 * few, ones >> few << few, ones >> few], ones).astype(np.uint64)
    return Fractions(
        np.where(kind == 2, none, every),
        np.where(kind == 3, every, none),
        kept,
        np.where(kind == 5, np.uint64(ones), none),
    )


def word_bits(operand: Format) -> int:
    """Bits of a random word of the format."""
    return 64 if operand.storage_bits == 64 else 32


def code_word(key: Key, operand_bits: int, stream: Stream, place: Any) -> Codes:
    """Random words of 32 bits, or of 64 from two streams."""
    low = key.word(stream, place).astype(np.uint64)
    if operand_bits == 32:
        return low
    high = key.word(Stream(stream + 1), place).astype(np.uint64)
    return (high << np.uint64(32)) | low


def fraction(kind: Fractions, man_bits: int, random: Codes, bits: int) -> Codes:
    """Fractions of man_bits bits from random words of `bits` bits."""
    widen, fill, keep, ones = (mask.reshape(-1, *(1,) * (random.ndim - 1)) for mask in kind)
    y = random >> np.uint64(1)
    x = y >> np.uint64(bits - 1 - man_bits)
    blended = (x & (y | widen)) | (y & fill)
    fractions: Codes = (blended & keep) | ones
    return fractions


def number(operand: Format, sign: Any, lead: Any, frac: Any) -> Codes:
    """Codes of (−1)^sign · 2^lead · (1 + frac/2^man_bits), never special. The exponent is clipped to the range; below e_min
    the code is a subnormal and loses the low bits of frac."""
    exp = np.clip(lead, lowest_lead(operand), operand.e_max)
    above, lost = np.maximum(exp - operand.e_min, 0), np.maximum(operand.e_min - exp, 0)
    hidden = np.uint64(1 << operand.man_bits if operand.subnormals else 0)
    sig = (np.asarray(frac, np.uint64) | hidden) >> lost.astype(np.uint64)  # the hidden bit adds one to the stored exponent
    field = (above.astype(np.uint64) << np.uint64(operand.man_bits)) + sig
    field = np.minimum(field, np.uint64(operand.max_finite >> operand.pad_bits))
    code: Codes = field << np.uint64(operand.pad_bits)
    if not operand.signed:
        return code
    return code | (np.asarray(sign).astype(np.uint64) << np.uint64(operand.width - 1))


def zero_or(operand: Format, is_zero: Any, code: Codes) -> Codes:
    """±0 where `is_zero`, else the code; +0 where the format has no −0."""
    zeros: Codes = np.where(is_zero, code & np.uint64(operand.negative_zero), code)
    return zeros


def any_code(operand: Format, random: Codes, bits: int) -> Codes:
    """A random bit pattern."""
    return random >> np.uint64(bits - operand.width)


def landmark(operand: Format, menu: Any, random: Words) -> Codes:
    """A code at which a format changes its behaviour: zero, smallest and largest subnormal, smallest normal, one, largest;
    with menu 1 infinity too; with menu 0 also two NaNs. Bits that the format ignores are random in half of the codes."""
    drawn, hidden = random.astype(np.uint64), 1 << operand.man_bits
    largest, top = operand.max_finite >> operand.pad_bits, ((1 << operand.exp_bits) - 1) << operand.man_bits
    infinity, quiet, lowest = largest, largest, largest
    if operand.specials == "ieee":
        infinity, quiet, lowest = top, top | hidden >> 1, top | 1
    elif operand.specials == "fn":
        quiet = lowest = top | (hidden - 1)
    elif operand.specials == "fnuz":
        quiet = lowest = 0
    fields = [0, 1, hidden - 1, hidden, operand.bias << operand.man_bits, largest, infinity, quiet, lowest]
    which = below(random >> np.uint32(16), np.select([menu == 0, menu == 1], [9, 7], 6))
    field, sign = np.array(fields, np.uint64)[which], drawn & np.uint64(1)
    if operand.specials == "fnuz":
        sign = np.where(field == 0, (which >= 7).astype(np.uint64), sign)
    ignored = (drawn >> np.uint64(2)) & np.uint64((1 << operand.pad_bits) - 1)
    ignored = np.where(drawn & np.uint64(2), ignored, np.uint64(0))
    code: Codes = (field << np.uint64(operand.pad_bits)) | ignored
    return code | (sign << np.uint64(operand.width - 1)) if operand.signed else code


def field_of(operand: Format, code: Codes) -> Codes:
    """Exponent and mantissa of codes."""
    bits = operand.exp_bits + operand.man_bits
    return (code >> np.uint64(operand.pad_bits)) & np.uint64((1 << bits) - 1)


def changeable(operand: Format, code: Codes) -> npt.NDArray[np.bool_]:
    """Whether adding one to the field, or subtracting one, gives a finite number other than zero."""
    field, largest = field_of(operand, code), operand.max_finite >> operand.pad_bits
    answer: npt.NDArray[np.bool_] = (field > 1) & (field < (largest & ~1))
    return answer


def shifted(operand: Format, code: Codes, shift: Any) -> Codes:
    """Codes with their exponents moved by `shift`; subnormals, zeros and special values stay as they are."""
    field, largest = field_of(operand, code), operand.max_finite >> operand.pad_bits
    least = 1 << operand.man_bits if operand.subnormals else 0
    by = np.asarray(shift, np.int64).astype(np.uint64) << np.uint64(operand.man_bits + operand.pad_bits)
    moved: Codes = np.where((field >= least) & (field <= largest), code + by, code)
    return moved


def negated(operand: Format, code: Codes, sign: Any) -> Codes:
    """Codes with their sign changed where `sign` is 1; fnuz formats have no −0, and keep their zero and NaN."""
    if not operand.signed:
        return code
    changes = np.asarray(sign).astype(np.uint64)
    if operand.specials == "fnuz":
        changes = np.where(field_of(operand, code) == 0, np.uint64(0), changes)
    return code ^ (changes << np.uint64(operand.width - 1))
