"""The operations that round one exact sum, and the exception flags of their steps: FMA, MUL, ADD and E-FDPA."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import ClassVar

from golden.arithmetic.flags import BESIDE_NANS, NV, TININESSES, BesideNaN, Tininess, overflows, rounding_flags
from golden.arithmetic.format import power_of_two
from golden.arithmetic.formats import Cls, Decoded, Format
from golden.arithmetic.specials import NAN, Special, quiet_nan, sum_special
from golden.arithmetic.steps import Term
from golden.checks import check_choice
from golden.operations.base import check_flag
from golden.operations.fused import FusedOperation
from golden.operations.ieee import is_zero_negative

FLAG_KEYS = ("flags", "tininess", "beside_nan")
"""The keys of exception flags (numerics.md, section 14), which change no result."""


@dataclass(frozen=True, kw_only=True)
class ExactSum(FusedOperation):
    """d = ρ(Σ terms), the sum exact. The terms are the products and c, unless an operation says otherwise.

    Attributes:
        flags: whether the unit's circuit has a port for exception flags.
        tininess: whether a result is tiny `after` it is rounded, or `before`.
        beside_nan: what a product of zero and infinity beside a quiet NaN raises: NV (`invalid`), or nothing (`quiet`).
        The other keys: `FusedOperation`.
    """

    own_keys: ClassVar[tuple[str, ...]] = (*FusedOperation.own_keys, *FLAG_KEYS)

    flags: bool = False
    tininess: Tininess = "after"
    beside_nan: BesideNaN = "invalid"

    def _validate(self) -> None:
        super()._validate()
        check_flag("flags", self.flags)
        check_choice("tininess", self.tininess, TININESSES)
        check_choice("beside_nan", self.beside_nan, BESIDE_NANS)

    def nan_is_fixed(self) -> bool:
        return self.d.specials != "ieee"

    @property
    def _kinds(self) -> list[list[Format]]:
        """The terms of a sum, each by the formats of its factors."""
        adds, formats = self.structure.adds_elements, {name: getattr(self, name) for name in self.operands}
        return [
            *([of] for name, of in formats.items() if adds or name == "c"),
            *[[self.a, self.b]] * (not adds and self.length),
        ]

    @property
    def _largest(self) -> Fraction:
        """The largest sum."""
        return Fraction(sum(prod(of.value(of.max_finite) or 0 for of in term) for term in self._kinds))

    @property
    def _last(self) -> int:
        """The exponent of the lowest bit of all terms."""
        return min(sum(of.e_min - of.man_bits for of in term) for term in self._kinds)

    @property
    def sum_bits(self) -> int:
        """Bits of the largest sum, down to the lowest bit of all terms."""
        return int(self._largest / power_of_two(self._last)).bit_length()

    @property
    def raised_together(self) -> tuple[str, ...]:
        """The exception flags that some operands of a step raise together, such as "NX UF". Nothing divides by zero."""
        d, last, terms = self.conversion.rounding_format, self._last, self._kinds
        bits = sum(of.man_bits + 1 for of in terms[0]) if len(terms) == 1 else self.sum_bits
        found = {
            "NX": bits > d.man_bits + 1,
            "NX UF": last < (d.e_min if self.flushes_results else d.e_min - d.man_bits),
            "NX OF": any(overflows(sign * self._largest, self.conversion) for sign in (1, -1)),
            "NV": any(getattr(self, name).infinity is not None for name in self.operands),
        }
        return tuple(names for names, is_raised in found.items() if is_raised)

    def check_flags(self) -> None:
        """Raise ValueError unless exception flags are defined for the format of d."""
        if self.d.specials != "ieee" or not self.d.subnormals:
            raise ValueError(f"flags need a d with IEEE 754's infinities, NaNs and subnormals, got {self.d}")

    def step(
        self, a: Sequence[int], b: Sequence[int], c: int, scale_a: Sequence[int] = (), scale_b: Sequence[int] = ()
    ) -> int:
        x, y, z = self.decoded(a, b, c)
        special = self._special(x, y, z)
        if special is not None:
            return self.encode_special(special, self.d, self.written_nan(a, b, c))
        # 1. exact terms, aligned to the lowest bit of all, which drops nothing, and added
        total, lsb = self.exact_sum(self._terms(x, y, z))
        # 2. round; an exact zero may have its sign from its terms
        if total == 0 and self.structure.zero == "ieee":
            return self.d.negative_zero if is_zero_negative(self._signs(x, y, z), self.conversion.mode) else 0
        return self.converted(total, lsb)

    def flags_of(self, a: Sequence[int], b: Sequence[int], c: int) -> int:
        """The exception flags that one step raises, as bits of `golden.arithmetic.flags`; the arguments: `step`."""
        x, y, z = self.decoded(a, b, c)
        special = self._special(x, y, z)
        if special is not None:
            return NV if self._is_invalid(x, y, special, self._quiet_nans(a, b, c)) else 0
        total, lsb = self.exact_sum(self._terms(x, y, z))
        return rounding_flags(total, lsb, self.conversion, self.overflow, self.flushes_results, self.tininess)

    def _is_invalid(self, x: Sequence[Decoded], y: Sequence[Decoded], special: Special, quiet: Collection[bool]) -> bool:
        """Whether a step with a special result is an invalid operation; `quiet` says of each NaN operand whether it is."""
        if not quiet:
            return special == NAN
        if not all(quiet):
            return True
        pairs = [] if self.structure.adds_elements else zip(x, y, strict=True)
        invalid = any({p.cls, q.cls} == {Cls.ZERO, Cls.INFINITY} for p, q in pairs)
        return invalid and self.beside_nan == "invalid"

    def _quiet_nans(self, a: Sequence[int], b: Sequence[int], c: int) -> list[bool]:
        """Whether each operand that is a NaN is quiet."""
        codes = {"a": [(self.a, code) for code in a], "b": [(self.b, code) for code in b], "c": [(self.c, c)]}
        read = [each for name in self.operands for each in codes[name]]
        return [form.is_quiet(code) for form, code in read if form.decode(code).cls is Cls.NAN]

    def _special(self, x: Sequence[Decoded], y: Sequence[Decoded], z: Decoded) -> Special | None:
        """The special result, None if every term is finite."""
        return sum_special(x, y, z)

    def _terms(self, x: Sequence[Decoded], y: Sequence[Decoded], z: Decoded) -> list[Term]:
        """The exact terms of a finite sum."""
        return [*self._products(x, y), self.addend(z, self.c, self.c.e_min)]

    def _products(self, x: Sequence[Decoded], y: Sequence[Decoded]) -> list[Term]:
        return [self.multiply(p, q, self.product_frac, self.product_exp_min) for p, q in zip(x, y, strict=True)]

    def _signs(self, x: Sequence[Decoded], y: Sequence[Decoded], z: Decoded) -> list[int]:
        """The signs of the terms, zeros included."""
        return [*(p.sign ^ q.sign for p, q in zip(x, y, strict=True)), z.sign]

    def written_nan(self, a: Sequence[int], b: Sequence[int], c: int) -> int:
        """The NaN result for these operands."""
        return quiet_nan(self.d)
