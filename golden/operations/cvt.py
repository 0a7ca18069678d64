"""Conversion from one format to another, CVT: one element, rounded once (IEEE 754, section 5.4.2)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Literal, Self, get_args

from golden.arithmetic.coded_format import CodedFormat
from golden.arithmetic.conversion import Conversion, check_rounding, conversion, spelled
from golden.arithmetic.formats import Cls, Decoded, Format, IntegerFormat, named_integer
from golden.arithmetic.specials import NAN, Special, addend_special, converted_nan
from golden.arithmetic.steps import Term
from golden.checks import check_choice, check_int
from golden.operations.base import check_flag
from golden.operations.exact_sum import ExactSum
from golden.operations.idpa import MAX_FIXED_BITS
from golden.operations.structure import Element, Structure, exact

NaN = Literal["quiet", "first"]

NANS: tuple[NaN, ...] = get_args(NaN)


@dataclass(frozen=True, kw_only=True)
class CVT(ExactSum):
    """d = ρ(a): a zero keeps its sign, an infinity too where d has infinities; else it becomes NaN.

    Attributes:
        a: any floating-point format; or an integer or a fixed-point number with a sign, of 8 to 64 bits.
        rho: rounding to the format of d, in any mode.
        nan: the NaN of a result. `quiet`: one NaN, whose encoding is not measured. `first`: a's, made quiet, with the sign
            and the high bits of its fraction (x86, Arm); for formats of IEEE 754's NaNs.
        nar: whether a fixed-point a of a one with zeros below is NaN, as `IDPA.nar`.
        The other keys: `ExactSum`.
    """

    name: ClassVar[str] = "CVT"
    operands = ("a",)
    is_one_product = True
    own_keys = ("nan", "nar", *ExactSum.own_keys)
    golden_alone = ("nar",)

    b: Format = field(init=False)
    c: Format = field(init=False)
    rho: str | Conversion
    nan: NaN = "quiet"
    nar: bool = False

    def _format(self, key: str, choices: Collection[str] | None) -> Format:
        given = getattr(self, key)
        integer = named_integer(given) if isinstance(given, str) else given
        return integer if isinstance(integer, IntegerFormat) else super()._format(key, choices)

    def _validate(self) -> None:
        super()._validate()
        if isinstance(self.a, CodedFormat):
            raise ValueError(f"a of CVT must be a floating-point format with fields, or an integer; got {self.a}")
        if isinstance(self.a, IntegerFormat):
            check_int("bits of a, an integer,", self.a.bits, 8, MAX_FIXED_BITS)
            if not self.a.signed:
                raise ValueError(f"a of CVT must be an integer with a sign, got {self.a}")
        check_flag("nar", self.nar)
        if self.nar and not isinstance(self.a, IntegerFormat):
            raise ValueError(f"nar = true needs an integer or a fixed-point number as a, got {self.a}")
        check_rounding(self.rho)
        object.__setattr__(self, "rho", spelled(self.conversion))
        object.__setattr__(self, "b", self.a)
        object.__setattr__(self, "c", self.d)
        check_choice("nan", self.nan, NANS)
        if self.nan != "quiet" and {self.a.specials, self.d.specials} != {"ieee"}:
            raise ValueError(f"nan = {self.nan} needs IEEE 754's NaNs in a and d; got a={self.a}, d={self.d}")
        if self.flags:
            self.check_flags()

    def _check_result(self) -> None:
        super()._check_result()
        if self.nar and self.d.nan is None:
            raise ValueError(f"rho must give a format that has a NaN, which nar = true may lead to; got {self.conversion}")

    def check_flags(self) -> None:
        if isinstance(self.a, IntegerFormat):
            raise ValueError(f"flags of CVT need a floating-point a, got {self.a}")
        super().check_flags()

    @property
    def is_native(self) -> bool:
        return not isinstance(self.a, IntegerFormat)

    @property
    def conversion(self) -> Conversion:
        return conversion(self.rho)

    @property
    def flushed_formats(self) -> tuple[Format, ...]:
        return (self.a,) if self.flush_inputs else ()

    @property
    def length(self) -> int:
        return 1

    def with_length(self, length: int) -> Self:
        return self

    def nan_is_fixed(self) -> bool:
        return self.nan != "quiet" or super().nan_is_fixed()

    @cached_property
    def structure(self) -> Structure:
        return Structure(
            sums=(exact("a", (Element("a"),), rounding=self.rounding),), rho=self.conversion, flushed=self.flushed_formats,
            zero="ieee", nan=self.nan,
        )  # fmt: skip

    def _special(self, x: Sequence[Decoded], y: Sequence[Decoded], z: Decoded) -> Special | None:
        return NAN if self.nar and x[0].sig == self.a.codes >> 1 else addend_special(x[0])

    def _terms(self, x: Sequence[Decoded], y: Sequence[Decoded], z: Decoded) -> list[Term]:
        return [self.addend(x[0], self.a, self.a.e_min)]

    def _signs(self, x: Sequence[Decoded], y: Sequence[Decoded], z: Decoded) -> list[int]:
        return [x[0].sign]

    def written_nan(self, a: Sequence[int], b: Sequence[int], c: int) -> int:
        if self.nan == "quiet" or self.a.decode(a[0]).cls is not Cls.NAN:  # else an infinity that d has none for
            return super().written_nan(a, b, c)
        return converted_nan(a[0], self.a, self.conversion.rounding_format)
