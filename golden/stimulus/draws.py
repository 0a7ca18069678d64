"""Sources of random numbers: a NumPy generator, or a hash that NumPy and CuPy compute identically."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Size = int | tuple[int, ...]


class Draws(Protocol):
    """Random arrays. Axis 0 counts rows (or tiles), and the numbers of a row do not depend on the number of rows."""

    @property
    def xp(self) -> Any:
        """The arrays' module, numpy or cupy."""

    def integers(self, low: Any, high: Any, size: Size | None = None, *, endpoint: bool = False) -> Any:
        """int64, low ≤ x < high (≤ high with `endpoint`); bounds may be arrays, which then give the size."""

    def codes(self, bits: int, size: Size) -> Any:
        """uint64, all patterns of that many bits equally likely."""

    def choice(self, options: Sequence[Any], size: Size) -> Any:
        """One of the numbers for each element."""

    def random(self, size: Size) -> Any:
        """float64, 0 ≤ x < 1."""

    def permutation(self, count: int) -> Any:
        """0 … count − 1 in random order, the same for all rows."""


@dataclass(frozen=True)
class GeneratorDraws:
    """The numbers of a NumPy generator, in the order of the calls."""

    generator: np.random.Generator
    xp: Any = np

    def integers(self, low: Any, high: Any, size: Size | None = None, *, endpoint: bool = False) -> Any:
        return self.generator.integers(low, high, size, dtype=np.int64, endpoint=endpoint)

    def codes(self, bits: int, size: Size) -> Any:
        return self.generator.integers(0, 1 << bits, size, dtype=np.uint64)

    def choice(self, options: Sequence[Any], size: Size) -> Any:
        return self.generator.choice(options, size)

    def random(self, size: Size) -> Any:
        return self.generator.random(size)

    def permutation(self, count: int) -> Any:
        return self.generator.permutation(count)

    def permuted(self, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Each row's elements, shuffled independently."""
        return self.generator.permuted(rows, axis=1)


_WEYL = 0x9E3779B97F4A7C15
"""SplitMix64's increment, 2^64 over the golden ratio."""


@dataclass
class CounterDraws:
    """A hash (SplitMix64's) of seed, call, row number and place: its only state is the number of calls, so that row r's
    numbers are the same in every batch.

    Attributes:
        xp: numpy or cupy. seed: any integer from 0 on.
        numbers: uint64 [rows], the rows' numbers.
    """

    xp: Any
    seed: int
    numbers: Any
    calls: int = field(default=0, init=False)

    def words(self, size: Size) -> Any:
        """uint64, uniform."""
        shape = (size,) if isinstance(size, int) else size
        each = int(np.prod(shape[1:], dtype=np.int64))
        counter = self.numbers[:, None] * self.xp.uint64(each) + self.xp.arange(each, dtype=self.xp.uint64)[None, :]
        return self._hashed(counter).reshape(shape)

    def _hashed(self, counter: Any) -> Any:
        """Words of the next call, [rows, places]."""
        self.calls += 1
        key = (self.seed * 1024 + self.calls) * _WEYL % (1 << 64)
        return _mixed(self.xp, _mixed(self.xp, counter + self.xp.uint64(1)) ^ self.xp.uint64(key))

    def integers(self, low: Any, high: Any, size: Size | None = None, *, endpoint: bool = False) -> Any:
        span = high - low + endpoint
        if size is None:
            size = span.shape
        return (self.words(size) >> self.xp.uint64(11)).astype(self.xp.int64) % span + low

    def codes(self, bits: int, size: Size) -> Any:
        return self.words(size) >> self.xp.uint64(64 - bits)

    def choice(self, options: Sequence[Any], size: Size) -> Any:
        return self.xp.asarray(options)[self.integers(0, len(options), size)]

    def random(self, size: Size) -> Any:
        return (self.words(size) >> self.xp.uint64(11)).astype(self.xp.float64) * 2.0**-53

    def permutation(self, count: int) -> Any:
        return self.xp.argsort(self._hashed(self.xp.arange(count, dtype=self.xp.uint64)))


def _mixed(xp: Any, z: Any) -> Any:
    """SplitMix64's finaliser (Steele, Lea, Flood, OOPSLA 2014)."""
    z = (z ^ (z >> xp.uint64(30))) * xp.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> xp.uint64(27))) * xp.uint64(0x94D049BB133111EB)
    return z ^ (z >> xp.uint64(31))
