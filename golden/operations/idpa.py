"""IDPA: the exact dot product and add of integers, which wraps around or saturates (x86's TDPB*D, VPDPBUSD and VPDPBUSDS,
and the integers of GPUs; numerics.md, section 5), and that of any elements in Kulisch's fixed-point accumulator."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

from golden.arithmetic.coded_format import MAX_ELEMENT_BITS
from golden.arithmetic.formats import B1, Cls, Decoded, Format, IntegerFormat, named_integer
from golden.arithmetic.steps import Term
from golden.checks import check_choice, check_int
from golden.operations.base import Operation, check_length, format_of
from golden.operations.structure import C, Structure, exact, products

BeyondRange = Literal["wrap", "saturate"]

BEYOND_RANGE: tuple[BeyondRange, ...] = ("wrap", "saturate")
"""Results of a sum beyond the range of c: its low bits (wrap), or the nearest end of the range (saturate)."""

MAX_ACCUMULATOR_BITS, MAX_FIXED_BITS = 48, 64
"""Upper limits of the width of c, an integer or a fixed-point number (bits)."""

MAX_PRODUCT_BITS = 128
"""Upper limit of the bits of a product in units of the last place of c, without its sign."""

Combination = Literal["multiply", "xor"]

COMBINATIONS: tuple[Combination, ...] = ("multiply", "xor")
"""The treatment of a pair of elements: its product, or of single bits the bit that says whether they differ."""


@dataclass(frozen=True, kw_only=True)
class IDPA(Operation):
    """d = c + Σ a_k·b_k in exact integers; the sum is wrapped or saturated to c's format once, at the end of a step.

    With elements of another kind, or a c with a fraction, c and d are fixed-point numbers, and the sum is one of integers in
    units of their last place, 2^−fraction.

    Attributes:
        a, b: integers of at most 16 bits (published: int8, uint8, int4, uint4, or both b1); or any elements of fused
            operations.
        c: an integer with a sign, of 8 to 48 bits (published: int32); or a fixed-point number of 8 to 64 bits, no product of
            which has a bit below its last place. d has it too.
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
        if key != "c" and self.is_fixed:
            return format_of(key, given, None)
        if not isinstance(form, IntegerFormat):
            raise ValueError(f"{key} must be an integer, as int8{'; c may have a fraction' * (key == 'c')}; got {given!r}")
        widest = MAX_FIXED_BITS if self.is_fixed else MAX_ACCUMULATOR_BITS
        check_int(f"bits of {key}", form.bits, *((8, widest) if key == "c" else (1, MAX_ELEMENT_BITS)))
        if key == "c" and not form.signed:
            raise ValueError(f"c must be an integer with a sign, got {form}")
        return form

    def _validate(self) -> None:
        check_length(self.L)
        check_choice("overflow", self.overflow, BEYOND_RANGE)
        check_choice("combination", self.combination, COMBINATIONS)
        if self.combination == "xor" and (self.a, self.b) != (B1, B1):
            raise ValueError(f"combination may be xor only where a and b are b1; got a={self.a}, b={self.b}")
        places = self.product_frac - self.product_exp_min
        if -self.c.e_min < places:
            raise ValueError(
                f"c must have a fraction of at least {places} bits, which products of {self.a} and {self.b} reach; "
                f"got {-self.c.e_min}"
            )
        if self.product_bits > MAX_PRODUCT_BITS:
            raise ValueError(
                f"products of {self.a} and {self.b} must have at most {MAX_PRODUCT_BITS} bits in units of the last place of "
                f"c, got {self.product_bits}"
            )

    @property
    def is_fixed(self) -> bool:
        """Whether c is a fixed-point number, to which products are moved; else all are integers."""
        return not all(map(_is_integer, (self.a, self.b, self.c)))

    @property
    def is_native(self) -> bool:
        return not self.is_fixed

    @property
    def product_bits(self) -> int:
        """Bits that hold the magnitude of any product in units of the last place of c."""
        if not self.is_fixed:
            return self.a.width + self.b.width
        return self.a.e_max + self.b.e_max + 2 - self.c.e_min

    @property
    def nar(self) -> int | None:
        """The code of c and d that is no number, a one with zeros below; None where every element is a number."""
        specials = (operand.nan is None and operand.infinity is None for operand in (self.a, self.b))
        return None if all(specials) else self.c.codes >> 1

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
        if self.nar is not None and (c == self.nar or any(each.cls in (Cls.INFINITY, Cls.NAN) for each in (*x, *y))):
            return self.nar
        # 1. exact terms, of which c has the last place
        products = [self.combined(p, q) for p, q in zip(x, y, strict=True)]
        # 2. accumulate
        total, _ = self.exact_sum([*products, self.addend(z, self.c, self.c.e_min)])
        # 3. into the range of c
        return self.narrowed(total)

    def combined(self, x: Decoded, y: Decoded) -> Term:
        """The term of a pair of elements: its product, or the xor of two bits, x + y − 2·x·y."""
        product = self.multiply(x, y, self.product_frac, self.product_exp_min)
        return product if self.combination == "multiply" else product._replace(sig=x.sig + y.sig - 2 * product.sig)

    def narrowed(self, total: int) -> int:
        """The code of a sum, wrapped or saturated if it is beyond the range of c. A saturated sum is a number."""
        if self.overflow == "wrap":
            return total % self.c.codes
        code = self.c.encode_scaled(total, self.c.e_min, "RZ")
        return code + 1 if code == self.nar else code


def _is_integer(given: object) -> bool:
    """Whether a format, given by itself or by its name, is an integer without fraction."""
    form = named_integer(given) if isinstance(given, str) else given
    return isinstance(form, IntegerFormat) and not form.fraction
