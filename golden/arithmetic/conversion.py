"""Conversions ρ: the last step of a fused dot product, from an exact fixed-point sum to the result (paper 000, table 2)."""

from collections.abc import Collection
from dataclasses import dataclass

from golden.arithmetic.formats import BF16, E8M13, FP16, FP32, FP64, Format
from golden.arithmetic.rounding import MODES, Mode, Overflow
from golden.checks import check_choice, check_int, check_name, check_type, unknown


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
        if d.infinity is None or rounded.infinity is None:
            fits = False
        else:
            stored = (rounded.width - self.dropped_bits, rounded.exp_bits, self.stored(rounded.infinity))
            fits = stored == (d.width, d.exp_bits, d.infinity)
        if not fits:
            raise ValueError(
                f"d of {self.name} must have infinities, and rounding_format its width, exponent and infinity; "
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


def _conversions(*outputs: Format) -> dict[str, Conversion]:
    """The conversions of every mode and format, by mode first, which is the order of enum mmau_rho."""
    pairs = [(f"{mode}-{output.name.upper()}", mode, output) for mode in MODES for output in outputs]
    return {name: Conversion(name, mode, output, output) for name, mode, output in pairs}


CONVERSIONS: dict[str, Conversion] = {
    "RZ-E8M13": Conversion("RZ-E8M13", "RZ", E8M13, FP32),
    **_conversions(FP32, FP16, BF16),
}
"""Every ρ of the fused dot products."""

FP64_CONVERSIONS: dict[str, Conversion] = _conversions(FP64)
"""Further conversions, for FMA only."""

TWO_STEP_CONVERSIONS: dict[str, Conversion] = {
    "RNE-FP32-RZ-BF16": Conversion("RNE-FP32-RZ-BF16", "RNE", FP32, BF16, dropped_bits=16),
}
"""Further conversions, for OC- and PS-FDPA only: rounded to one format, then cut to another."""


def conversion(name: str) -> Conversion:
    """The ρ of that name.

    Raises:
        ValueError: no such ρ; the message lists those of the fused dot products.
    """
    for further in (FP64_CONVERSIONS, TWO_STEP_CONVERSIONS):
        if isinstance(name, str) and name in further:
            return further[name]
    check_conversion(name, CONVERSIONS)
    return CONVERSIONS[name]


def conversions_to(d: Format) -> list[str]:
    """The names of every ρ that rounds to the full precision of d, one for each rounding mode."""
    table = CONVERSIONS | FP64_CONVERSIONS
    return [name for name, rho in table.items() if rho.d is rho.rounding_format is d]


def check_conversion(name: object, choices: Collection[str]) -> None:
    """Raise ValueError unless `name` is one of the `choices` of ρ, which the message lists."""
    if not isinstance(name, str) or name not in choices:
        raise ValueError(unknown("rho", name, choices, shown=len(CONVERSIONS)))
