"""Sources of random numbers for generators of stimulus."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Size = int | tuple[int, ...]


class Draws(Protocol):
    """Random arrays. Axis 0 counts rows (or tiles), and the numbers of a row do not depend on the number of rows."""

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
