"""Elements whose codes have no fields: a table of values, and integers in two's complement (numerics.md, section 2).

Every number of such a format is one of its `carrier`, a format of fields, and it decodes as that code of the carrier does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from golden.arithmetic.format import Cls, Decoded, Format
from golden.arithmetic.format_fields import storage_for
from golden.arithmetic.integer_format import IntegerFormat
from golden.arithmetic.rounding import Mode, Overflow
from golden.checks import check_int

MAX_TABLE_BITS, MAX_ELEMENT_BITS = 8, 16
"""Upper limits of the width of a format by table, and of an integer as an element (bits)."""

MAX_VALUE_BITS, MAX_VALUE_EXP = 24, 1000
"""Upper limits of a table's numbers: significant bits, and |exponent| (exponent value)."""

SPECIAL_VALUES = ("nan", "inf", "-inf")


@dataclass(frozen=True, kw_only=True, repr=False)
class CodedFormat(Format):
    """A format of elements, of a and b alone.

    Attributes:
        carrier: the format of fields that holds all its numbers, infinities and NaN; the fields are the carrier's.
        carried: the carrier's code of each code.
    """

    carrier: Format
    carried: tuple[int, ...]

    def __post_init__(self) -> None:
        """The functions below make such formats, and check what they are given."""

    __hash__ = Format.__hash__

    @cached_property
    def _hash(self) -> int:
        return hash((self.carrier, self.carried))

    @classmethod
    def of(cls, name: str, carrier: Format, carried: Sequence[int], **own: Any) -> Self:
        """The format of that name; its codes are stored in the narrowest word that holds them."""
        fields = {key: getattr(carrier, key) for key in ("exp_bits", "man_bits", "bias", "specials", "signed", "subnormals")}
        storage = storage_for((len(carried) - 1).bit_length())
        return cls(name=name, storage_bits=storage, carrier=carrier, carried=tuple(carried), **fields, **own)

    @cached_property
    def width(self) -> int:
        return (len(self.carried) - 1).bit_length()

    def _decode(self, code: int) -> Decoded:
        x = self.carrier.decode(self.carried[code])
        return x._replace(cls=Cls.NORMAL) if x.cls is Cls.SUBNORMAL else x  # no leading bit is hidden in such a code

    @cached_property
    def _all(self) -> tuple[Decoded, ...]:
        return tuple(map(self._decode, range(self.codes)))

    def _first(self, cls: Cls, sign: int | None = None) -> int | None:
        """The first code of a class, and of a sign; None without one."""
        return next((code for code, x in enumerate(self._all) if x.cls is cls and sign in (None, x.sign)), None)

    @cached_property
    def e_max(self) -> int:
        return max((x.exp for x in self._all if x.cls is Cls.NORMAL), default=self.e_min)

    @cached_property
    def max_finite(self) -> int:
        return self.code_of(self.carrier.max_finite)

    @cached_property
    def infinity(self) -> int | None:
        return self._first(Cls.INFINITY, 0)

    @cached_property
    def nan(self) -> int | None:
        return self._first(Cls.NAN)

    @cached_property
    def negative_zero(self) -> int:
        negative, positive = self._first(Cls.ZERO, 1), self._first(Cls.ZERO)
        return next((code for code in (negative, positive) if code is not None), 0)

    @cached_property
    def sign_bit(self) -> int:
        return 0  # no bit is the sign

    @cached_property
    def magnitude_mask(self) -> int:
        return self.codes - 1

    @cached_property
    def has_zero(self) -> bool:
        return self._first(Cls.ZERO) is not None

    def is_quiet(self, code: int) -> bool:
        return True

    def signed_infinity(self, sign: int) -> int:
        found = self._first(Cls.INFINITY, sign)
        if found is None:
            raise ValueError(f"{self.name} has no {'-' if sign else '+'}infinity")
        return found

    def encode_scaled(self, value: int, exp: int, mode: Mode, overflow: Overflow = "infinity", flush: bool = False) -> int:
        """The code of a number next to `value · 2**exp`, which is the number itself if the format has it."""
        return self.code_of(self.carrier.encode_scaled(value, exp, mode, "saturate"))

    def code_of(self, carrier_code: int) -> int:
        """The code of a number next to that of a carrier's code: of its sign and of no larger magnitude if there is one."""
        return int(self.codes_of(np.array([carrier_code], np.uint64))[0])

    def codes_of(self, carrier_codes: npt.NDArray[Any]) -> npt.NDArray[Any]:
        order, sorted_keys = self._sorted
        places = np.searchsorted(sorted_keys, carrier_codes.astype(np.int64), side="right") - 1
        found: npt.NDArray[Any] = order[np.clip(places, 0, len(order) - 1)]
        return found

    @property
    def carried_by(self) -> Format:
        return self.carrier

    def carried_codes(self, codes: npt.NDArray[Any]) -> npt.NDArray[Any]:
        found: npt.NDArray[Any] = np.array(self.carried, f"uint{self.carrier.storage_bits}")[codes]
        return found

    @cached_property
    def _sorted(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """The codes, and their carrier's, in the carrier's order: by magnitude, negative numbers above all others."""
        keys = np.array(self.carried, np.int64)
        order = np.argsort(keys, kind="stable")
        return order.astype(f"uint{self.storage_bits}"), keys[order]

    def split(self, code: int) -> str:
        """The bits of a code, which has one field."""
        return f"{code:0{self.width}b}"


@dataclass(frozen=True, kw_only=True, repr=False)
class IntegerElement(CodedFormat):
    """An integer as an element of fused operations: exponents of all its numbers are that of its highest bit."""

    integer: IntegerFormat

    __hash__ = Format.__hash__

    @cached_property
    def e_max(self) -> int:
        return self.e_min


def integer_element(integer: IntegerFormat) -> IntegerElement:
    """The integer as an element, its numbers in units of 2**−fraction, with `bits` bits of significand.

    Raises:
        ValueError: more than `MAX_ELEMENT_BITS` bits, or fewer than 2.
    """
    check_int(f"bits of {integer.name} as an element", integer.bits, 2, MAX_ELEMENT_BITS)
    man_bits = integer.bits - 1
    carrier = Format(
        name=f"{integer.name}'s carrier", exp_bits=1, man_bits=man_bits, bias=1 - man_bits + integer.fraction,
        specials="finite", signed=integer.signed, storage_bits=storage_for(integer.signed + integer.bits),
    )  # fmt: skip
    numbers = map(integer.number, range(integer.codes))
    carried = [carrier.sign_bit * (number < 0) | abs(number) for number in numbers]
    return IntegerElement.of(integer.name, carrier, carried, integer=integer)


def table_format(name: str, values: Mapping[int, str]) -> CodedFormat:
    """The format of a table: its numbers are those of a format of fields without subnormals in use.

    Args:
        values: the value of every code, as text: a decimal number, a fraction, a product with 2^n, nan, inf or -inf.

    Raises:
        ValueError: a code that is missing or too wide, or a value that is none.
    """
    if not values:
        raise ValueError(f"{name} must give a value for every code, got none")
    largest = max(values)
    if not 0 < largest < 1 << MAX_TABLE_BITS or min(values) < 0:
        raise ValueError(f"codes of {name} must be 0 to at most {(1 << MAX_TABLE_BITS) - 1:#x}, got {largest:#x}")
    codes = 1 << largest.bit_length()
    missing = [code for code in range(codes) if code not in values]
    if missing:
        raise ValueError(
            f"{name} must give a value for every code to {codes - 1:#x}; {missing[0]:#x} has none, {len(values)} have"
        )
    numbers = {code: _number(name, code, text) for code, text in values.items() if _plain(text) not in SPECIAL_VALUES}
    finite = [value for value in numbers.values() if value]
    if not finite:
        raise ValueError(f"{name} must have a number other than zero")
    leads = [_lead(value) for value in finite]
    e_min, e_max = min(leads), max(leads)
    bits = max((abs(value.numerator) >> _twos(value.numerator)).bit_length() for value in finite)
    if bits > MAX_VALUE_BITS or max(-e_min, e_max) > MAX_VALUE_EXP:
        raise ValueError(
            f"values of {name} must have at most {MAX_VALUE_BITS} significant bits and exponents from {-MAX_VALUE_EXP} to "
            f"{MAX_VALUE_EXP}, got {bits} bits and exponents from {e_min} to {e_max}"
        )
    exp_bits = max(2, (e_max - e_min + 2).bit_length())
    man_bits = max(1, bits - 1)
    carrier = Format(
        name=f"{name}'s carrier", exp_bits=exp_bits, man_bits=man_bits, bias=1 - e_min, specials="ieee",
        storage_bits=storage_for(1 + exp_bits + man_bits),
    )  # fmt: skip
    assert carrier.infinity is not None
    assert carrier.nan is not None
    special = {"nan": carrier.nan, "inf": carrier.infinity, "-inf": carrier.sign_bit | carrier.infinity}
    carried = [
        special[_plain(values[code])] if code not in numbers
        else carrier.sign_bit * _plain(values[code]).startswith("-") if not numbers[code]
        else carrier.encode(numbers[code])
        for code in range(codes)
    ]  # fmt: skip
    return CodedFormat.of(name, carrier, carried)


def _plain(text: str) -> str:
    return text.strip().lower()


def _number(name: str, code: int, text: str) -> Fraction:
    """The value of a text: m, or m*2^n, where m is a decimal number or a fraction."""
    factor, star, power = _plain(text).partition("*2^")
    try:
        exponents = [int(power) if star else 0, int(factor.partition("e")[2] or 0)]
        if max(map(abs, exponents)) > 2 * MAX_VALUE_EXP:  # before a number of so many bits is computed
            raise ValueError
        value = Fraction(factor) * Fraction(2) ** exponents[0]
    except (ValueError, ZeroDivisionError, OverflowError):
        value = Fraction(1, 3)
    if value.denominator & (value.denominator - 1):
        raise ValueError(
            f"the value of code {code:#x} of {name} must be an integer over a power of two, as 0.75, 3/4 or 3*2^-2, or nan, "
            f"inf or -inf; got {text!r}"
        )
    return value


def _twos(number: int) -> int:
    return (number & -number).bit_length() - 1


def _lead(value: Fraction) -> int:
    """The exponent of the leading bit of a binary fraction."""
    return abs(value.numerator).bit_length() - value.denominator.bit_length()


def values_of(form: CodedFormat) -> list[str]:
    """The values of a table's codes in order, as `table_format` takes them."""
    texts = []
    for code, x in enumerate(form.decode(code) for code in range(form.codes)):
        if x.cls is Cls.NAN:
            texts.append("nan")
        elif x.cls is Cls.INFINITY:
            texts.append("-inf" if x.sign else "inf")
        else:
            texts.append(f"{'-' if x.sign else ''}{abs(form.value(code) or Fraction(0))}")
    return texts
