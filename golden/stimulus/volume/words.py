"""The random words of the stimulus at volume: a hash of seed, row number and counter, as stimulus/words.hpp has it."""

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint32]
IntArray = npt.NDArray[np.int64]


class Stream(IntEnum):
    """The uses of a random word; each has its own counters (see enum Stream of words.hpp)."""

    HEADER = 0
    PRODUCT = 1
    SPLIT = 2
    A = 3
    A_HIGH = 4
    B = 5
    B_HIGH = 6
    C = 7
    C_HIGH = 8
    C_KIND = 9
    ROW_A = 10
    ROW_B = 11
    NUDGE_A = 12
    SPECIAL_A = 13
    SPECIAL_B = 14
    SPECIAL_C = 15
    BLOCK = 16
    SCALE_A = 17
    SCALE_B = 18
    SPECIAL_SCALE_A = 19
    SPECIAL_SCALE_B = 20


PLACE_BITS = 26
"""Bits of the place in a counter, below the stream's number."""

CORNER_WORD = 31
"""The place of the header word that chooses a corner."""

_WEYL = 0x9E3779B97F4A7C15
"""2^64 divided by the golden ratio."""


def _mixed(z: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """SplitMix64's finaliser (Steele, Lea, Flood, OOPSLA 2014)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: npt.NDArray[np.uint64] = z ^ (z >> np.uint64(31))
    return mixed


@dataclass(frozen=True)
class Key:
    """The seed of each row's words: two halves of 64 bits, uint32 [rows]."""

    low: Words
    high: Words

    @classmethod
    def of(cls, seed: int, index: npt.NDArray[np.uint64]) -> "Key":
        """The keys of rows (or tiles) of a seed, all different."""
        start = _mixed(np.array([(seed + _WEYL) % (1 << 64)], np.uint64))
        z = _mixed(start + (index + np.uint64(1)) * np.uint64(_WEYL))
        return cls(z.astype(np.uint32), (z >> np.uint64(32)).astype(np.uint32))

    def word(self, stream: Stream, place: Any) -> Words:
        """32 uniform bits for each row and place: two rounds of multiply and shift (constants: C. Wellons, hash-prospector).

        Args:
            place: uint32 [rows or 1, …].
        """
        place = np.asarray(place, np.uint32)
        low, high = (half.reshape(-1, *(1,) * (place.ndim - 1)) for half in (self.low, self.high))
        x = low + (np.uint32(stream << PLACE_BITS) | place) * np.uint32(0x9E3779B1)
        x = (x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D) ^ high
        x = (x ^ (x >> np.uint32(15))) * np.uint32(0x846CA68B)
        words: Words = x ^ (x >> np.uint32(16))
        return words

    def rows(self, which: npt.NDArray[Any]) -> "Key":
        """The keys of some of the rows."""
        return Key(self.low[which], self.high[which])


def mixed_word(x: Words) -> Words:
    """Rehash words some of whose bits have been used, so that all bits are independent of that use."""
    x = (x ^ (x >> np.uint32(15))) * np.uint32(0x7FEB352D)
    x = (x ^ (x >> np.uint32(15))) * np.uint32(0x846CA68B)
    words: Words = x ^ (x >> np.uint32(16))
    return words


def below(bits: Any, count: Any) -> IntArray:
    """Numbers from 0 to count − 1 from 16 uniform bits; count at most 65,536."""
    numbers: IntArray = (np.asarray(bits).astype(np.int64) & 0xFFFF) * count >> 16
    return numbers


@dataclass
class Draws:
    """Numbers drawn in sequence from each row's header words, two per word."""

    key: Key
    taken: int = field(default=0, init=False)

    def below(self, count: Any) -> IntArray:
        """0 … count − 1 for each row; count a number or [rows]."""
        bits = self.key.word(Stream.HEADER, [self.taken >> 1]) >> np.uint32(16 if self.taken & 1 else 0)
        self.taken += 1
        return below(bits, count)
