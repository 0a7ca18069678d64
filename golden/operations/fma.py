"""IEEE 754's multiply-add, FMA (paper 000, algorithm 3, which rounds to nearest even), and its parts: MUL and ADD."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

from golden.arithmetic.conversion import Conversion, check_conversion, conversion, conversions_to
from golden.arithmetic.formats import BF16, FP32, Format
from golden.arithmetic.specials import (
    addend_special,
    combine,
    first_nan,
    invalid_nan,
    product_special,
    quiet_nan,
    sum_special,
)
from golden.checks import check_choice
from golden.operations.base import UNRANKED
from golden.operations.fused import FusedOperation
from golden.operations.ieee import is_zero_negative
from golden.operations.structure import C, Element, Product, Structure, Sum, add, exact, fma

FORMATS = ("fp16", "bf16", "fp32", "fp64")

NaN = Literal["quiet", "first"]

NANS: tuple[NaN, ...] = ("quiet", "first")


@dataclass(frozen=True, kw_only=True)
class FMA(FusedOperation):
    """d = ρ(a·b + c), one product per step; Φ_FMA is its chain over k = 0 … K−1.

    Attributes:
        a, b, c: one format for all three, fp16, bf16, fp32 or fp64; or a and b bf16, c fp32 (Arm's BFMLALB). d as c.
        rho: rounding of the sum to that format; RNE (published) by default.
        nan: the NaN of a result. `quiet`: one NaN, whose encoding is not measured. `first`: the first NaN operand, made
            quiet; for an invalid operation the negative NaN without payload (x86).
        The other keys: `FusedOperation`.
    """

    name: ClassVar[str] = "FMA"
    rank = 7
    own_keys = ("rho", "nan", *FusedOperation.own_keys)

    rho: str | None = None
    nan: NaN = "quiet"

    def _multiplicands(self) -> Collection[str]:
        return FORMATS

    def _accumulators(self) -> Collection[str]:
        return FORMATS

    def _validate(self) -> None:
        super()._validate()
        self._check_formats()
        if self.rho is None:
            object.__setattr__(self, "rho", self._default("rho"))
        check_conversion(self.rho, conversions_to(self.c))
        check_choice("nan", self.nan, NANS)
        if self.nan == "first" and self.a != self.c:
            raise ValueError(f"nan = first needs one format for a, b and c; got a={self.a}, c={self.c}")

    def _check_formats(self) -> None:
        """Raise ValueError for formats that the operation does not take together."""
        widens = (self.a, self.c) == (BF16, FP32)
        if self.a != self.b or not (self.a == self.c or widens):
            raise ValueError(
                f"FMA takes one format for a, b and c, or bf16 for a and b and fp32 for c; "
                f'got a={self.a}, b={self.b}, c={self.c}; E-FDPA with L = 1 and zero = "ieee" takes others'
            )

    def _default(self, key: str) -> Any:
        return f"RNE-{self.c.name.upper()}" if key == "rho" else super()._default(key)

    @property
    def conversion(self) -> Conversion:
        return conversion(str(self.rho))

    @property
    def length(self) -> int:
        return 1

    def with_length(self, length: int) -> Self:
        return self

    def nan_is_fixed(self) -> bool:
        return self.nan == "first"

    @cached_property
    def structure(self) -> Structure:
        return Structure(sums=(self._sum(),), rho=self.conversion, flushed=self.flushed_formats, zero="ieee", nan=self.nan)

    def _sum(self) -> Sum:
        """The one sum of a step."""
        return fma(Product(0), C, self.rounding, alike="products and c")

    def step(
        self, a: Sequence[int], b: Sequence[int], c: int, scale_a: Sequence[int] = (), scale_b: Sequence[int] = ()
    ) -> int:
        x, y, z = self.decoded(a, b, c)
        special = sum_special(x, y, z)
        if special is not None:
            return self.encode_special(special, self.d, self.written_nan((a[0], b[0], c)))
        # 1. exact terms
        product = self.multiply(x[0], y[0], self.product_frac, self.product_exp_min)
        # 2. accumulate
        total, lsb = self.exact_sum([product, self.addend(z, self.c, self.c.e_min)])
        # 3. round; an exact zero gets its sign from IEEE 754
        return self.rounded(total, lsb, (x[0].sign ^ y[0].sign, z.sign))

    def rounded(self, total: int, lsb: int, signs: Sequence[int]) -> int:
        """ρ of `total · 2**lsb`; an exact zero has the sign of its terms, which `signs` are, by IEEE 754, section 6.3."""
        if total == 0:
            return self.d.negative_zero if is_zero_negative(signs, self.conversion.mode) else 0
        return self.converted(total, lsb)

    def written_nan(self, operands: Sequence[int]) -> int:
        """The NaN result for these operands, all of the format of d."""
        if self.nan == "quiet":
            return quiet_nan(self.d)
        first = first_nan(operands, self.d)
        return invalid_nan(self.d) if first is None else first


@dataclass(frozen=True, kw_only=True)
class MUL(FMA):
    """d = ρ(a·b): a zero has the sign of the product in every rounding mode.

    Attributes:
        a, b: one format for both, fp16, bf16, fp32 or fp64. d as a.
        The other keys: `FMA`.
    """

    name: ClassVar[str] = "MUL"
    rank = UNRANKED
    operands = ("a", "b")

    c: Format = field(init=False)

    def _check_formats(self) -> None:
        if self.a != self.b:
            raise ValueError(f"{self.name} takes one format for a and b; got a={self.a}, b={self.b}")
        object.__setattr__(self, "c", self.a)

    def _sum(self) -> Sum:
        return exact("product", (Product(0),), rounding=self.rounding)

    def step(
        self, a: Sequence[int], b: Sequence[int], c: int, scale_a: Sequence[int] = (), scale_b: Sequence[int] = ()
    ) -> int:
        x, y, _ = self.decoded(a, b, c)
        special = product_special(x[0], y[0])
        if special is not None:
            return self.encode_special(special, self.d, self.written_nan((a[0], b[0])))
        total, lsb = self.exact_sum([self.multiply(x[0], y[0], self.product_frac, self.product_exp_min)])
        return self.rounded(total, lsb, (x[0].sign ^ y[0].sign,))


@dataclass(frozen=True, kw_only=True)
class ADD(MUL):
    """d = ρ(a + b). The keys: `MUL`."""

    name: ClassVar[str] = "ADD"

    def _sum(self) -> Sum:
        return add(Element("a"), Element("b"), self.rounding, alike="a and b")

    def step(
        self, a: Sequence[int], b: Sequence[int], c: int, scale_a: Sequence[int] = (), scale_b: Sequence[int] = ()
    ) -> int:
        x, y, _ = self.decoded(a, b, c)
        special = combine(map(addend_special, (*x, *y)))
        if special is not None:
            return self.encode_special(special, self.d, self.written_nan((a[0], b[0])))
        total, lsb = self.exact_sum([self.addend(z, self.d, self.d.e_min) for z in (*x, *y)])
        return self.rounded(total, lsb, (x[0].sign, y[0].sign))
