"""Asks a device under test the papers' sums by value, and records them for the report."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from golden.device import Device
from golden.stimulus.integer_classes import is_integer
from mmau.probe.device_under_test import Questioner
from mmau.probe.journal import Journal
from mmau.probe.papers.operand_values import NotHeldError, Sum, at, codes_of, power, power_text, shifts, value_text

EVERY = 40
"""Number of extra bits at which counting ends."""

COUNTED = (EVERY, 20, 12, 8, 6, 4, 3, 2, 1)
"""Numbers of extra bits to look for, largest first; the first that the formats' range admits is used."""


@dataclass(frozen=True)
class Row:
    """The questions and answers so far."""

    asked: Sum
    d: Fraction | None

    def __str__(self) -> str:
        return f"{self.asked}: d = {value_text(self.d)}"


class Asker:
    """A device under test, asked by value.

    Attributes:
        shape: the device's formats and lengths.
        rows: everything that was asked since `begin`.
    """

    def __init__(self, dut: Device) -> None:
        self.shape = dut.shape
        self._questioner = Questioner(dut, Journal(dut.name, dut.shape))
        self.rows: list[Row] = []

    def begin(self) -> None:
        """Forget which rows were asked."""
        self.rows = []

    @property
    def vectors(self) -> int:
        """Number of rows that the device under test was asked; a repeated row is answered from the record."""
        return self._questioner.vectors

    def ask(self, *asked: Sum, normal: bool = False) -> list[Fraction | None]:
        """Ask for sums. Returns d of each as a value, None where it is not finite.

        Args:
            normal: whether the factors of products must be normal numbers.

        Raises:
            NotHeldError: the formats do not hold all values. DeviceUnderTestError: the device misbehaves.
        """
        if is_integer(self.shape):
            raise NotHeldError("operands are integers")
        codes = self._questioner.ask(codes_of(asked, self.shape, normal))
        values = [self.shape.d.value(int(code)) for code in codes]
        self.rows += [Row(one, d) for one, d in zip(asked, values, strict=True)]
        return values

    def ask_scaled(self, *asked: Sum) -> list[Fraction | None]:
        """Ask for sums whose meaning stays the same when all of them are multiplied by a power of two.

        The power is the smallest with which the formats hold the sums, with products of normal numbers if possible.

        Returns:
            d of each sum, divided by that power; None where it is not finite.

        Raises:
            NotHeldError: no power of two does. DeviceUnderTestError: as `ask`.
        """
        if not asked:
            raise NotHeldError(f"takes more than one product, K={self.shape.K}")
        reason: NotHeldError | None = None
        for normal in (True, False):
            for shift in shifts(asked, self.shape, normal):
                try:
                    values = self.ask(*(one.shifted(shift) for one in asked), normal=normal)
                except NotHeldError as error:
                    reason = reason or error
                    continue
                return [None if d is None else d / power(shift) for d in values]
        raise reason or NotHeldError(f"{asked[-1]} takes more range than there is")

    def first_held(self, *forms: Sequence[Sum]) -> list[Fraction | None]:
        """Ask, as `ask_scaled` does, for the first of several forms that the formats can represent.

        Raises:
            NotHeldError: the first form's, where none can be represented. DeviceUnderTestError: as `ask`.
        """
        reason: NotHeldError | None = None
        for form in forms:
            try:
                return self.ask_scaled(*form)
            except NotHeldError as error:
                reason = reason or error
        raise reason or NotHeldError("nothing was asked")

    @cached_property
    def precision(self) -> int:
        """p: bits of a result's significand: one more than the q for which 2^q + 1 is left whole. It is less than d's
        format has where a unit cuts results short (RZ-E8M13)."""
        places = range(1, self.shape.d.man_bits + 1)
        values = self.first_held([Sum(power(q), (1,)) for q in places], [Sum(1, (power(-q),)) for q in places])
        whole = [d in (power(q) + 1, 1 + power(-q)) for d, q in zip(values, places, strict=True)]
        return 1 + (whole.index(False) if False in whole else len(whole))

    @cached_property
    def width(self) -> "Count":
        """N_FMA of Khattak and Mikaitis, section III-D: the number of products that are added before anything is rounded.

        With u the last bit of 1, c = 1 + u, r1 = 1 and rk = u come to 2 + 2u only if k of them are, of both signs, and with
        r1 and rk exchanged, because a unit may begin at the other end. Where no products are so far apart, c is 2 - 2u
        and r1
        is 3u.

        Raises:
            NotHeldError: the formats admit neither, or K is 1.
        """
        u = power(1 - self.precision)
        lengths = range(2, self.shape.K + 1)
        values = self.first_held(
            *(
                [row for k in lengths for row in _ends(c, first, u, k)]
                for c, first in ((1 + u, Fraction(1)), (2 - 2 * u, 3 * u))
            )
        )
        whole = [all(abs(d or 0) == 2 + 2 * u for d in values[i : i + 3]) for i in range(0, len(values), 3)]
        return Count(1 + (whole.index(False) if False in whole else len(whole)), False not in whole)

    @cached_property
    def extra(self) -> "Count":
        """n: retained bits of a term below the last bit of a result of the largest term's exponent: 1 + 2^-q - 1 for q from
        p on; where no products can be so far apart, `aligned`.

        Raises:
            NotHeldError: as `aligned`.
        """
        for counted in COUNTED:
            try:
                values = self.ask_scaled(*(Sum(1, (power(-self.precision - n), -1)) for n in range(counted)))
            except NotHeldError:
                continue
            kept = [d != 0 for d in values]
            return Count(kept.index(False) if False in kept else counted, False not in kept)
        return self.aligned

    @cached_property
    def aligned(self) -> "Count":
        """n_eab of Khattak and Mikaitis, section III-C1: 1 and n + 1 products of one block that add up to one unit in the
        last place, of which the smallest lies n bits below it.

        Raises:
            NotHeldError: not even two products can be so small, or there are no two in a block.
        """
        if self.width.count == 1:
            raise NotHeldError("a block of one product")
        for most in range(min(self.width.count - 1, EVERY), 0, -1):
            asked = [Sum(1, aligned_products(self.precision, n)) for n in range(1, most + 1)]
            try:
                values = self.ask_scaled(*asked)
            except NotHeldError:
                continue
            kept = [d == one.exact for d, one in zip(values, asked, strict=True)]
            return Count(kept.index(False) if False in kept else most, False not in kept)
        raise NotHeldError(f"two products of {power_text(-self.precision)} beside 1 take more range than there is")


@dataclass(frozen=True)
class Count:
    """How many were seen, and whether there may be more.

    >>> str(Count(2, False)), str(Count(3, True))
    ('2', '≥ 3')
    """

    count: int
    open: bool

    def __str__(self) -> str:
        return f"{'≥ ' if self.open else ''}{self.count}"


def aligned_products(p: int, n: int) -> tuple[Fraction, ...]:
    """The products 2^-p, 2^-p-1 … down to 2^-p-n+1; the last occurs twice, so that their sum is 2^-p+1."""
    return (*(power(-p - i) for i in range(n)), power(-p - n + 1))


def _ends(c: Fraction, first: Fraction, last: Fraction, k: int) -> tuple[Sum, Sum, Sum]:
    """Two products in the places 1 and k, of both signs, and exchanged."""
    return Sum(c, (first, *at(k - 2, last))), Sum(-c, (-first, *at(k - 2, -last))), Sum(c, (last, *at(k - 2, first)))
