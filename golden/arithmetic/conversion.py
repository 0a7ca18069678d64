"""Conversions ρ: the last step of a fused dot product, from an exact fixed-point sum to the result (paper 000, table 2)."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache

from golden.arithmetic.coded_format import CodedFormat
from golden.arithmetic.formats import BF16, E8M13, FORMATS, FP16, FP32, FP64, Format, IntegerFormat
from golden.arithmetic.rounding import MODES, Mode, Overflow
from golden.checks import check_choice, check_int, check_name, check_type, near, unknown


@dataclass(frozen=True)
class Conversion:
    """ρ: round once in `mode` to the precision of `rounding_format`, subnormals included, and store the result as `d`.

    `rounding_format` and `d` differ in two: RZ-E8M13 keeps 13 mantissa bits, in an fp32 word; RNE-FP32-RZ-BF16 rounds to
    fp32 and then drops the low half of that word.

    Attributes:
        dropped_bits: low bits of the rounded code that d does not have (bits).
    """

    name: str
    mode: Mode
    rounding_format: Format
    d: Format
    dropped_bits: int = 0

    def __post_init__(self) -> None:
        check_name("name of a conversion", self.name)
        check_choice(f"mode of {self.name}", self.mode, MODES)
        check_type(f"rounding_format of {self.name}", self.rounding_format, Format)
        check_type(f"d of {self.name}", self.d, Format)
        rounded, d = self.rounding_format, self.d
        check_int(f"dropped_bits of {self.name}", self.dropped_bits, 0, rounded.width)
        for key, made in (("rounding_format", rounded), ("d", d)):
            if isinstance(made, (IntegerFormat, CodedFormat)) or not made.signed:
                raise ValueError(f"{key} of {self.name} must be a floating-point format with fields and a sign, got {made}")
        if d == rounded and not self.dropped_bits:
            fits = True
        elif d.infinity is None or rounded.infinity is None:
            fits = False
        else:
            stored = (rounded.width - self.dropped_bits, rounded.exp_bits, self.stored(rounded.infinity))
            fits = stored == (d.width, d.exp_bits, d.infinity)
        if not fits:
            raise ValueError(
                f"d of {self.name} must be rounding_format, or have infinities and its width, exponent and infinity; "
                f"got d={d}, rounding_format={rounded}"
            )

    def encode(self, value: int, exp: int, overflow: Overflow = "infinity", flush: bool = False) -> int:
        """Code, in `d`, of the exact `value · 2**exp`; `overflow` and `flush` as in `Format.encode_scaled`."""
        return self.stored(self.rounded(value, exp, overflow, flush))

    def rounded(self, value: int, exp: int, overflow: Overflow = "infinity", flush: bool = False) -> int:
        """Code, in `rounding_format`, of the exact `value · 2**exp`; `overflow` and `flush` as in `Format.encode_scaled`."""
        return self.rounding_format.encode_scaled(value, exp, self.mode, overflow, flush)

    def stored(self, rounded: int) -> int:
        """The code in `d` of a code in `rounding_format`."""
        return rounded >> self.dropped_bits

    def __str__(self) -> str:
        return self.name


def rounding_to(mode: Mode, to: Format) -> Conversion:
    """The conversion that rounds once to a format; one that pads a word, as e8m13, is stored in the format of the word."""
    name = f"{mode}-{to.name.upper() if FORMATS.get(to.name) == to or to == E8M13 else to.name}"
    return Conversion(name, mode, to, _word_of(to))


def _word_of(padded: Format) -> Format:
    """The format that has a padded format's exponents and specials, and all bits of its word."""
    words = (form for form in FORMATS.values() if not form.pad_bits and form.width == padded.width)
    alike = (
        form
        for form in words
        if (form.exp_bits, form.bias, form.specials) == (padded.exp_bits, padded.bias, padded.specials)
    )
    return next(alike, padded) if padded.pad_bits else padded


CONVERSIONS: dict[str, Conversion] = {
    rho.name: rho
    for rho in (rounding_to("RZ", E8M13), *(rounding_to(mode, to) for mode in MODES for to in (FP32, FP16, BF16)))
}
"""The ρ that published units have, and those of every mode beside them."""

FP64_CONVERSIONS: dict[str, Conversion] = {rho.name: rho for rho in (rounding_to(mode, FP64) for mode in MODES)}
"""Further conversions of FMA, MUL and ADD."""

TWO_STEP_CONVERSIONS: dict[str, Conversion] = {
    "RNE-FP32-RZ-BF16": Conversion("RNE-FP32-RZ-BF16", "RNE", FP32, BF16, dropped_bits=16),
}
"""Further conversions, for OC- and PS-FDPA only: rounded to one format, then cut to another."""

ROUNDED_FORMATS: dict[str, Format] = {
    name: to for name, to in (FORMATS | {E8M13.name: E8M13}).items() if to.signed and to.exp_bits
}
"""The formats that a ρ may name."""


@cache
def _of_name(name: str) -> Conversion | None:
    """The ρ of a name, a mode and a format of golden."""
    if name in TWO_STEP_CONVERSIONS:
        return TWO_STEP_CONVERSIONS[name]
    mode, _, to = name.partition("-")
    if mode not in MODES or to != to.upper() or to.lower() not in ROUNDED_FORMATS:
        return None
    return rounding_to(mode, ROUNDED_FORMATS[to.lower()])


def conversion(rho: str | Conversion) -> Conversion:
    """The ρ of that name; one that is given stays.

    Raises:
        ValueError: no such ρ.
    """
    found = rho if isinstance(rho, Conversion) else _of_name(rho) if isinstance(rho, str) else None
    if found is None:
        raise ValueError(
            f"rho must be a mode ({', '.join(MODES)}) and a format, as RNE-FP32; got {rho!r}{near(rho, CONVERSIONS)}"
        )
    return found


def spelled(rho: Conversion) -> str | Conversion:
    """The name of a conversion to a format of golden; another conversion stays, because its name says too little."""
    return rho.name if _of_name(rho.name) == rho else rho


def check_rounding(rho: str | Conversion) -> None:
    """Raise ValueError unless `rho` is a conversion that rounds once."""
    if conversion(rho).dropped_bits:
        raise ValueError(f"rho must round once, got {rho!s}, which OC- and PS-FDPA alone have")


def conversions_to(d: Format) -> list[str]:
    """The names of every ρ that rounds to the full precision of d, one for each rounding mode."""
    return [rounding_to(mode, d).name for mode in MODES]


def check_conversion(name: object, choices: Collection[str]) -> None:
    """Raise ValueError unless `name` is one of the `choices` of ρ, which the message lists."""
    if not isinstance(name, str) or name not in choices:
        raise ValueError(unknown("rho", name, choices, shown=len(CONVERSIONS)))
