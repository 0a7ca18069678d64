"""Conversions ρ: the last step of a fused dot product, from an exact fixed-point sum to the result (paper 000, table 2)."""

from dataclasses import dataclass

from golden.checks import check_choice, check_name, check_type, unknown
from golden.formats import BF16, E8M13, FP16, FP32, Format
from golden.rounding import MODES, Mode


@dataclass(frozen=True)
class Conversion:
    """ρ: round once in `mode` to the precision of `rounding_format`, subnormals included, and store the result as `d`.

    `rounding_format` and `d` differ in RZ-E8M13 alone: 13 mantissa bits are kept, in an fp32 word.
    """

    name: str
    mode: Mode
    rounding_format: Format
    d: Format

    def __post_init__(self) -> None:
        check_name("name of a conversion", self.name)
        check_choice(f"mode of {self.name}", self.mode, MODES)
        check_type(f"rounding_format of {self.name}", self.rounding_format, Format)
        check_type(f"d of {self.name}", self.d, Format)
        rounded, d = self.rounding_format, self.d
        if d.infinity is None or (rounded.width, rounded.exp_bits, rounded.infinity) != (d.width, d.exp_bits, d.infinity):
            raise ValueError(
                f"d of {self.name} must have infinities, and rounding_format its width, exponent and infinity; "
                f"got d={d}, rounding_format={rounded}"
            )

    def encode(self, value: int, exp: int) -> int:
        """Code, in `d`, of the exact `value · 2**exp`. Overflow gives infinity in every mode (numerics.md, section 3)."""
        return self.rounding_format.encode_scaled(value, exp, self.mode)

    def __str__(self) -> str:
        return self.name


def _conversions() -> dict[str, Conversion]:
    table = {"RZ-E8M13": Conversion("RZ-E8M13", "RZ", E8M13, FP32)}
    modes: tuple[Mode, ...] = ("RZ", "RNE", "RD", "RU")
    for mode in modes:
        for output in (FP32, FP16, BF16):
            name = f"{mode}-{output.name.upper()}"
            table[name] = Conversion(name, mode, output, output)
    return table


CONVERSIONS: dict[str, Conversion] = _conversions()


def conversion(name: str) -> Conversion:
    """The ρ of that name.

    Raises:
        ValueError: no such ρ; the message lists them all.
    """
    if not isinstance(name, str) or name not in CONVERSIONS:
        raise ValueError(unknown("rho", name, CONVERSIONS))
    return CONVERSIONS[name]
