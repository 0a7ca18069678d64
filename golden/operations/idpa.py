"""IDPA: the exact dot product and add of integers, which wraps around or saturates (x86's TDPB*D, VPDPBUSD and VPDPBUSDS,
and the integers of GPUs; numerics.md, section 5)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

from golden.arithmetic.coded_format import MAX_ELEMENT_BITS
from golden.arithmetic.formats import B1, Decoded, Format, IntegerFormat, named_integer
from golden.arithmetic.steps import Term
from golden.checks import check_choice, check_int
from golden.operations.base import Operation, check_length
from golden.operations.structure import C, Structure, exact, products

BeyondRange = Literal["wrap", "saturate"]

BEYOND_RANGE: tuple[BeyondRange, ...] = ("wrap", "saturate")
"""Results of a sum beyond the range of c: its low bits (wrap), or the nearest end of the range (saturate)."""

MAX_ACCUMULATOR_BITS = 48
"""Upper limit of the width of c (bits)."""


Combination = Literal["multiply", "xor"]

COMBINATIONS: tuple[Combination, ...] = ("multiply", "xor")
"""The treatment of a pair of elements: its product, or of single bits the bit that says whether they differ."""


@dataclass(frozen=True, kw_only=True)
class IDPA(Operation):
    """d = c + Σ a_k·b_k in exact integers; the sum is wrapped or saturated to c's format once, at the end of a step.

    Attributes:
        a, b: integers of at most 16 bits (published: int8, uint8, int4, uint4, or both b1).
        c: an integer with a sign, of 8 to 48 bits (published: int32); d has it too.
        L: products per step.
        overflow: the result of a sum beyond the range of c, `wrap` or `saturate`.
        combination: what is added of a pair of elements: `multiply`, of b1 the and of both; `xor` of b1 alone.
    """

    name: ClassVar[str] = "IDPA"
    rank = 10
    own_keys: ClassVar[tuple[str, ...]] = ("combination",)

    L: int
    overflow: BeyondRange = "wrap"
    combination: Combination = "multiply"

    def _format(self, key: str, choices: Collection[str] | None) -> Format:
        given = getattr(self, key)
        form = named_integer(given) if isinstance(given, str) else given
        widths = (8, MAX_ACCUMULATOR_BITS) if key == "c" else (1, MAX_ELEMENT_BITS)
        if not isinstance(form, IntegerFormat) or form.fraction:
            raise ValueError(f"{key} must be an integer without fraction, as int8; got {given!r}")
        check_int(f"bits of {key}", form.bits, *widths)
        if key == "c" and not form.signed:
            raise ValueError(f"c must be an integer with a sign, got {form}")
        return form

    def _validate(self) -> None:
        check_length(self.L)
        check_choice("overflow", self.overflow, BEYOND_RANGE)
        check_choice("combination", self.combination, COMBINATIONS)
        if self.combination == "xor" and (self.a, self.b) != (B1, B1):
            raise ValueError(f"combination may be xor only where a and b are b1; got a={self.a}, b={self.b}")

    @property
    def d(self) -> Format:
        return self.c

    @property
    def length(self) -> int:
        return self.L

    def nan_is_fixed(self) -> bool:
        return True  # integers have no NaN

    @cached_property
    def structure(self) -> Structure:
        return Structure(sums=(exact("products and c", (*products(range(self.L)), C)),), zero="positive", nan="none")

    def step(
        self, a: Sequence[int], b: Sequence[int], c: int, scale_a: Sequence[int] = (), scale_b: Sequence[int] = ()
    ) -> int:
        x, y, z = self.decode(self.a, a), self.decode(self.b, b), self.c.decode(c)
        # 1. exact terms
        products = [self.combined(p, q) for p, q in zip(x, y, strict=True)]
        # 2. accumulate
        total, _ = self.exact_sum([*products, self.addend(z, self.c, 0)])
        # 3. into the range of c
        return self.narrowed(total)

    def combined(self, x: Decoded, y: Decoded) -> Term:
        """The term of a pair of elements: its product, or the xor of two bits, x + y − 2·x·y."""
        product = self.multiply(x, y, 0, 0)
        return product if self.combination == "multiply" else product._replace(sig=x.sig + y.sig - 2 * product.sig)

    def narrowed(self, total: int) -> int:
        """The code of a sum, wrapped or saturated if it is beyond the range of c."""
        return total % self.c.codes if self.overflow == "wrap" else self.c.encode_scaled(total, 0, "RZ")
