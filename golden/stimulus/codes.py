"""Arrays of bit patterns: numbers assembled from sign, exponent and fraction, and the landmarks of a format."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from golden.arithmetic.formats import Format, IntegerFormat
from golden.arrays import bits_dtype

Size = int | tuple[int, ...]


class Draws(Protocol):
    """Random arrays. Axis 0 counts rows (or tiles), and the numbers of a row do not depend on the number of rows."""

    def integers(self, low: Any, high: Any, size: Size | None = None, *, endpoint: bool = False) -> Any:
        """int64, low ≤ x < high (≤ high with `endpoint`); bounds may be arrays, which then give the size."""

    def codes(self, bits: int, size: Size) -> Any:
        """uint64, all patterns of that many bits equally likely."""

    def choice(self, options: Sequence[Any], size: Size) -> Any:
        """Draw one of the numbers for each element."""

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
        """Shuffle the elements of each row, independently of other rows."""
        return self.generator.permuted(rows, axis=1)


IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


def lowest_lead(operand: Format) -> int:
    """Exponent of the leading bit of the smallest positive number, subnormals included."""
    return operand.e_min - operand.man_bits if operand.subnormals else operand.e_min


def number(operand: Format, sign: Any, lead: Any, frac: Any = 0) -> Any:
    """Codes of (−1)^sign · 2^lead · (1 + frac/2^man_bits), never special.

    Args:
        sign: 0 or 1; without effect in unsigned formats.
        lead: exponent of the leading bit (exponent value), clipped to the format's range; below e_min the code is a
            subnormal and loses the low bits of frac.
        frac: 0 … 2^man_bits − 1. A result above the largest finite number becomes the largest one.
    """
    lead = np.clip(np.asarray(lead, dtype=np.int64), lowest_lead(operand), operand.e_max)
    sig = np.asarray(frac, dtype=np.int64) | (1 << operand.man_bits)
    below = np.maximum(operand.e_min - lead, 0)
    normal = ((lead + operand.bias) << operand.man_bits) + (sig - (1 << operand.man_bits))
    field = np.where(below > 0, sig >> below, normal)
    field = np.minimum(field, operand.max_finite >> operand.pad_bits)
    code = field.astype(np.uint64) << np.uint64(operand.pad_bits)
    if operand.signed:
        code = code | (np.asarray(sign, dtype=np.uint64) << np.uint64(operand.width - 1))
    return code.astype(bits_dtype(operand))


def zeros(operand: Format, sign: Any) -> Any:
    """+0 and −0 by sign; +0 where the format has no −0."""
    choices = np.array([0, operand.negative_zero], bits_dtype(operand))
    return choices[np.asarray(sign, dtype=np.int64)]


def uniform_codes(draws: Draws, operand: Format, size: tuple[int, ...]) -> Any:
    """Random bit patterns, all equally likely."""
    return draws.codes(operand.width, size).astype(bits_dtype(operand))


def fractions(draws: Draws, operand: Format, size: tuple[int, ...]) -> Any:
    """Fractions for `number`, of one kind per index of axis 0; random, sparse, dense, and all zeros or all ones are equally
    likely."""
    ones = (1 << operand.man_bits) - 1
    first = draws.integers(0, ones, size, endpoint=True)
    second = draws.integers(0, ones, size, endpoint=True)
    kind = draws.integers(0, 5, (size[0],) + (1,) * (len(size) - 1))
    uniform = np.where(kind == 3, 0 * first, ones)
    return np.where(kind == 0, first, np.where(kind == 1, first & second, np.where(kind == 2, first | second, uniform)))


def signs(draws: Draws, size: tuple[int, ...]) -> Any:
    """0 or 1: a quarter of the rows all plus, a quarter all minus, the others mixed."""
    mixed = draws.integers(0, 2, size)
    kind = draws.integers(0, 4, (size[0],) + (1,) * (len(size) - 1))
    return np.where(kind == 0, 0 * mixed, np.where(kind == 1, 0 * mixed + 1, mixed))


def sign_bit(operand: Format) -> int:
    """The bit of a code that is the sign, or is in its place (ue4m3 ignores it); 0 without one."""
    return operand.codes >> 1 if operand.signed or operand.ignored_sign else 0


def finite_landmarks(operand: Format) -> list[int]:
    """Codes of both signs of zero, the smallest and largest subnormal, the smallest normal number, one, the largest; of
    integers those at zero and at both ends."""
    if isinstance(operand, IntegerFormat):
        top, bottom = operand.max_finite, operand.lowest
        return list(dict.fromkeys(value % operand.codes for value in (0, 1, -1, 2, top, top - 1, bottom, bottom + 1)))
    if not operand.has_zero:
        return [0, operand.encode_scaled(1, 0, "RNE", "saturate"), operand.max_finite]
    smallest_normal = 1 << operand.man_bits
    fields = (1, smallest_normal - 1, smallest_normal)
    magnitudes = [min(field << operand.pad_bits, operand.max_finite) for field in fields]
    magnitudes += [operand.encode_scaled(1, 0, "RNE", "saturate"), operand.max_finite]
    negative = [magnitude | sign_bit(operand) for magnitude in magnitudes]
    return list(dict.fromkeys([0, operand.negative_zero, *magnitudes, *negative]))


def infinities(operand: Format) -> list[int]:
    """Codes of +Inf and −Inf; if low bits are ignored, also with those bits set. Empty if the format has none."""
    if operand.infinity is None:
        return []
    payloads = {0, (1 << operand.pad_bits) - 1}
    return [operand.signed_infinity(sign) | payload for sign in (0, 1) for payload in sorted(payloads)]


def nans(operand: Format) -> list[int]:
    """Codes of quiet NaNs, and in IEEE formats of the NaNs with the lowest payload, of both signs."""
    if operand.nan is None:
        return []
    codes = [operand.nan]
    if operand.infinity is not None:
        codes.append(operand.infinity + (1 << operand.pad_bits))
    return list(dict.fromkeys(codes + [code | sign_bit(operand) for code in codes]))


def landmarks(operand: Format) -> list[int]:
    """Every code at which a format changes its behaviour: finite ones, infinities, NaNs."""
    return finite_landmarks(operand) + infinities(operand) + nans(operand)


def pick(draws: Draws, codes: list[int], operand: Format, size: tuple[int, ...]) -> Any:
    """Draw one of the codes for each element."""
    return np.array(codes, bits_dtype(operand))[draws.integers(0, len(codes), size)]
