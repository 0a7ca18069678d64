"""Stochastic rounding with its random bits as an operand: they are added below the last place of a result, and then dropped.

The sum is first rounded to a format with further low bits, in the mode of ρ (`RandomStep.wide`); the bits are added to that
code's magnitude, and what lies below the last place of d is dropped (numerics.md, section 15):

    sign | exponent | mantissa of d | x x x     the wide code
                                    + r r r     the random bits
    sign | exponent | mantissa of d             the result
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from golden.arithmetic.conversion import Conversion, rounding_to
from golden.arithmetic.format_fields import storage_for
from golden.arithmetic.formats import Format
from golden.checks import check_bool, check_int

MOST_BITS = 32
"""Most random bits of one result."""

MOST_WIDE = 63
"""Most bits of a code with its further low bits: one more is left for a carry."""


@dataclass(frozen=True)
class RandomBits:
    """How many bits an operand adds to a result.

    Attributes:
        bits: their number r. half: whether a one stands below the last of them, half of what that is worth.
    """

    bits: int
    half: bool = False

    def __post_init__(self) -> None:
        check_int("bits of an input of random bits", self.bits, 1, MOST_BITS)
        check_bool("half of an input of random bits", self.half)

    @property
    def places(self) -> int:
        """Low bits that the wide format has and d has not."""
        return self.bits + self.half


@dataclass(frozen=True)
class RandomStep:
    """The step of a result with random bits: it adds them to a wide code, and drops the places that d has not.

    Attributes:
        random: how many bits. rho: the conversion to d. saturates: whether a result beyond the largest finite number becomes
            that number. signed_zero: whether a result that becomes zero keeps its sign.

    Raises:
        ValueError: a conversion that rounds twice, or to a format with padding, without subnormals or too wide.
    """

    random: RandomBits
    rho: Conversion
    saturates: bool
    signed_zero: bool

    def __post_init__(self) -> None:
        d, most = self.rho.d, MOST_WIDE - self.random.places
        if self.rho.rounding_format != d or d.pad_bits or not d.subnormals or d.width > most:
            raise ValueError(
                f"random bits need a rho to a format without padding and with subnormals, of at most {most} bits; "
                f"got {self.rho}"
            )

    @cached_property
    def wide(self) -> Conversion:
        """The conversion before the bits are added."""
        d, places = self.rho.d, self.random.places
        storage = storage_for(d.width + places)
        name = f"{d.name}_{places}"
        return rounding_to(
            self.rho.mode, replace(d, name=name, man_bits=d.man_bits + places, storage_bits=storage, dtype=None)
        )

    @property
    def negative_zero(self) -> int:
        """The code of a negative result that becomes zero."""
        return self.rho.d.negative_zero if self.signed_zero else 0

    def results(self, codes: Any, random: Any) -> Any:
        """The codes of d.

        Args:
            codes: wide codes, an array of unsigned integers. random: the random bits, an array of the same shape.

        Returns:
            An array of unsigned integers of 64 bits.
        """
        wide, d = self.wide.d, self.rho.d
        codes, random = codes.astype(np.uint64), random.astype(np.uint64)
        magnitude, negative = codes & np.uint64(wide.magnitude_mask), codes & np.uint64(wide.sign_bit) != 0
        added = random << np.uint64(self.random.half) | np.uint64(self.random.half)
        kept = magnitude + added >> np.uint64(self.random.places)
        sign = np.where(negative, np.where(kept != 0, d.sign_bit, self.negative_zero), 0).astype(np.uint64)
        beyond = np.where(negative, d.overflowed(True, self.saturates), d.overflowed(False, self.saturates))
        finite = np.where(kept > np.uint64(d.max_finite), beyond.astype(np.uint64), sign | kept)
        special = (magnitude > np.uint64(wide.max_finite)) | is_lone_sign(wide, negative, magnitude == 0)
        return np.where(special, codes >> np.uint64(self.random.places), finite)


def is_lone_sign(wide: Format, negative: Any, is_zero: Any) -> Any:
    """Whether a code is that of −0 where it stands for NaN."""
    return negative & is_zero if wide.negative_zero == 0 else np.zeros_like(negative)
