"""IEEE 754's multiply-add, FMA (paper 000, algorithm 3, which rounds to nearest even), and its parts: MUL and ADD."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal, Self, TypeVar, get_args

from golden.arithmetic.conversion import Conversion, check_conversion, conversion, conversions_to, rounding_to, spelled
from golden.arithmetic.formats import BF16, FP32, Cls, Decoded, Format
from golden.arithmetic.rounding import MODES
from golden.arithmetic.specials import (
    Special,
    addend_special,
    combine,
    first_nan,
    invalid_nan,
    product_special,
    quiet_nan,
)
from golden.arithmetic.steps import Term
from golden.checks import check_choice
from golden.operations.base import UNRANKED, check_addend
from golden.operations.exact_sum import ExactSum
from golden.operations.structure import C, Element, Product, Structure, Sum, add, exact, fma

_T = TypeVar("_T")

NaN = Literal["quiet", "first", "b-c-a"]

NANS: tuple[NaN, ...] = get_args(NaN)

ONE, ZERO = "one", "zero"
"""Constants in the place of an operand: 1, and the zero with the sign of a·b, which changes no product."""


def one(fmt: Format) -> int:
    """The code of 1.

    Raises:
        ValueError: the format has none.
    """
    code = fmt.bias << fmt.man_bits + fmt.pad_bits
    if not 0 <= code < fmt.codes or fmt.decode(code) != Decoded(0, 0, 1 << fmt.man_bits, Cls.NORMAL):
        raise ValueError(f"{fmt} has no code of 1, by which a multiply-add adds")
    return code


@dataclass(frozen=True, kw_only=True)
class FMA(ExactSum):
    """d = ρ(a·b + c), one product per step; Φ_FMA is its chain over k = 0 … K−1.

    Attributes:
        a, b, c: one format with a sign and subnormals for all three; or a and b bf16, c fp32 (Arm's BFMLALB). d as c.
        rho: rounding of the sum to that format; RNE (published) by default.
        nan: the NaN of a result. `quiet`: one NaN, whose encoding is not measured. `first`: the first NaN operand, made
            quiet; for an invalid operation the negative NaN without payload (x86). `b-c-a`: so too, but b comes first,
            then c, then a (an H100's fp64).
        The other keys: `ExactSum`.
    """

    name: ClassVar[str] = "FMA"
    rank = 7
    is_one_product = True
    own_keys = ("rho", "nan", *ExactSum.own_keys)
    in_fma: ClassVar[tuple[str, str, str]] = ("a", "b", "c")
    """What FMA takes in the place of its a, b and c to give the same results and flags: an operand, or a constant."""

    rho: str | Conversion | None = None
    nan: NaN = "quiet"

    def _validate(self) -> None:
        super()._validate()
        self._check_formats()
        if self.rho is None:
            object.__setattr__(self, "rho", self._default("rho"))
        own = dict(zip(conversions_to(self.c), MODES, strict=True))
        name = str(self.rho) if isinstance(self.rho, Conversion) else self.rho
        check_conversion(name, own)
        object.__setattr__(self, "rho", spelled(rounding_to(own[str(name)], self.c)))
        check_choice("nan", self.nan, NANS)
        if self.flags and any(form.specials != "ieee" for form in (self.a, self.b, self.c)):
            raise ValueError(f"flags = true needs IEEE 754's NaNs in a, b and c; got a={self.a}, b={self.b}, c={self.c}")
        if self.nan != "quiet" and (self.a != self.c or self.b != self.c or self.c.specials != "ieee"):
            raise ValueError(
                f"nan = {self.nan} needs one format of IEEE 754's NaNs for a, b and c; "
                f"got a={self.a}, b={self.b}, c={self.c}"
            )

    def _check_formats(self) -> None:
        """Raise ValueError for formats that the operation does not take together."""
        widens = (self.a, self.c) == (BF16, FP32)
        if self.a != self.b or not (self.a == self.c or widens) or not self.c.subnormals:
            raise ValueError(
                f"FMA takes one format with subnormals for a, b and c, or bf16 for a and b and fp32 for c; "
                f'got a={self.a}, b={self.b}, c={self.c}; E-FDPA with L = 1 and zero = "ieee" takes others'
            )

    def _default(self, key: str) -> Any:
        return spelled(rounding_to("RNE", self.c)) if key == "rho" else super()._default(key)

    @property
    def conversion(self) -> Conversion:
        assert self.rho is not None
        return conversion(self.rho)

    @property
    def length(self) -> int:
        return 1

    def with_length(self, length: int) -> Self:
        return self

    def nan_is_fixed(self) -> bool:
        return self.nan != "quiet" or super().nan_is_fixed()

    @cached_property
    def structure(self) -> Structure:
        return Structure(sums=(self._sum(),), rho=self.conversion, flushed=self.flushed_formats, zero="ieee", nan=self.nan)

    def _sum(self) -> Sum:
        """The one sum of a step."""
        return fma(Product(0), C, self.rounding, alike="products and c")

    def without_c(self) -> "FMA":
        """The operation that gives the same results where c is `no_c`, and has none; this one, if a and c differ."""
        keys: dict[str, Any] = {key: getattr(self, key) for key in FMA.own_keys}
        return MUL(a=self.a, b=self.b, **keys) if self.a == self.b == self.c else self

    def as_fma(self) -> "FMA":
        """The multiply-add that gives the same results and flags for the operands of `in_fma`.

        Raises:
            ValueError: ADD in a format that has no 1.
        """
        if ONE in self.in_fma:
            _ = one(self.a)
        keys: dict[str, Any] = {key: getattr(self, key) for key in FMA.own_keys}
        return FMA(a=self.a, b=self.b, c=self.c, **keys)

    def written_nan(self, a: Sequence[int], b: Sequence[int], c: int) -> int:
        """The NaN result for these operands, all of the format of d."""
        if self.nan == "quiet":
            return quiet_nan(self.d)
        first = first_nan(self.in_order_of_nans((*a, *b, c)[: len(self.operands)]), self.d)
        return invalid_nan(self.d) if first is None else first

    def in_order_of_nans(self, operands: Sequence[_T]) -> Sequence[_T]:
        """What belongs to each operand, in the order in which a step looks for a NaN."""
        return (*operands[1:], operands[0]) if self.nan == "b-c-a" else operands


@dataclass(frozen=True, kw_only=True)
class MUL(FMA):
    """d = ρ(a·b): a zero has the sign of the product in every rounding mode.

    Attributes:
        a, b: one format with a sign and subnormals for both. d as a.
        The other keys: `FMA`.
    """

    name: ClassVar[str] = "MUL"
    rank = UNRANKED
    operands = ("a", "b")
    in_fma = ("a", "b", ZERO)

    c: Format = field(init=False)

    def _check_formats(self) -> None:
        if self.a != self.b or not self.a.subnormals:
            raise ValueError(f"{self.name} takes one format with subnormals for a and b; got a={self.a}, b={self.b}")
        check_addend(f"a of {self.name}", self.a)
        object.__setattr__(self, "c", self.a)

    def _sum(self) -> Sum:
        return exact("product", (Product(0),), rounding=self.rounding)

    def _special(self, x: Sequence[Decoded], y: Sequence[Decoded], z: Decoded) -> Special | None:
        return product_special(x[0], y[0])

    def _terms(self, x: Sequence[Decoded], y: Sequence[Decoded], z: Decoded) -> list[Term]:
        return self._products(x, y)

    def _signs(self, x: Sequence[Decoded], y: Sequence[Decoded], z: Decoded) -> list[int]:
        return [x[0].sign ^ y[0].sign]


@dataclass(frozen=True, kw_only=True)
class ADD(MUL):
    """d = ρ(a + b). The keys: `MUL`."""

    name: ClassVar[str] = "ADD"
    in_fma = ("a", ONE, "b")

    def _sum(self) -> Sum:
        return add(Element("a"), Element("b"), self.rounding, alike="a and b")

    def _special(self, x: Sequence[Decoded], y: Sequence[Decoded], z: Decoded) -> Special | None:
        return combine(map(addend_special, (*x, *y)))

    def _terms(self, x: Sequence[Decoded], y: Sequence[Decoded], z: Decoded) -> list[Term]:
        return [self.addend(term, self.d, self.d.e_min) for term in (*x, *y)]

    def _signs(self, x: Sequence[Decoded], y: Sequence[Decoded], z: Decoded) -> list[int]:
        return [x[0].sign, y[0].sign]
