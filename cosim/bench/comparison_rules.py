"""Rules of comparison: a design may differ from its unit on purpose in its NaN and in the sign of a zero, nothing else."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from golden import Cls, Format
from golden.checks import check_choice
from golden.comparison import is_nan

Code = tuple[int, Format]
"""A bit pattern and its format."""

NAN_RULES = ("unit", "any", "propagate")


@dataclass(frozen=True)
class Compare:
    """The permitted differences from the unit. All other bits must agree.

    Attributes:
        nan: "unit", the unit's NaN rule; "any", any NaN; "propagate", the NaN of one of the operands made quiet, or any
            quiet NaN where no operand is a NaN; or the required code, as hexadecimal text.
        zero_sign: "exact", or "ignore": a zero of either sign agrees.
    """

    nan: str = "unit"
    zero_sign: str = "exact"

    def __post_init__(self) -> None:
        if not (isinstance(self.nan, str) and (self.nan in NAN_RULES or is_hexadecimal(self.nan))):
            raise ValueError(f'[compare] nan must be a code like "0x7fc00000", "any", "propagate", "unit"; got {self.nan!r}')
        check_choice("[compare] zero_sign", self.zero_sign, ("exact", "ignore"))

    def check(self, result: Format) -> None:
        """Raise ValueError where the required code is not a NaN of the result's format."""
        if is_hexadecimal(self.nan):
            code = int(self.nan, 16)
            if code >> result.width or not is_nan(code, result):
                raise ValueError(f"[compare] nan must be the code of a NaN of {result}, got {self.nan}")


@dataclass
class Judge:
    """The decision whether results agree, with a count of the waivers that were needed.

    Attributes:
        compare: the permitted differences.
        waived: results that differ from the unit's and passed, by waiver.
    """

    compare: Compare = field(default_factory=Compare)
    waived: Counter[str] = field(default_factory=Counter)

    @property
    def takes_the_unit(self) -> bool:
        """Whether every code of the unit agrees: no rule requires another NaN."""
        return self.compare.nan == "unit"

    def agrees(self, got: int, expected: int, d: Format, differs: bool, operands: Callable[[], Sequence[Code]]) -> bool:
        """Whether a code of d agrees with the expected one.

        Args:
            d: format of both.
            differs: whether they differ by the unit's rule.
            operands: returns the codes of the operands, each with its format, for NaNs that propagate.
        """
        if self.compare.nan != "unit" and is_nan(expected, d):
            if not self._nan_agrees(got, d, operands):
                return False
            self._waive(f"nan = {self.compare.nan}", differs)
            return True
        if not differs:
            return True
        is_sign_alone = got ^ expected == d.codes >> 1  # no bit that the format does not use
        if self.compare.zero_sign == "ignore" and is_sign_alone and d.decode(got).cls is d.decode(expected).cls is Cls.ZERO:
            self._waive("zero_sign = ignore", True)
            return True
        return False

    def _nan_agrees(self, got: int, d: Format, operands: Callable[[], Sequence[Code]]) -> bool:
        rule = self.compare.nan
        if is_hexadecimal(rule):
            return got == int(rule, 16)
        if not is_nan(got, d):
            return False
        if rule == "any":
            return True
        payloads = {_quiet(code, operand, d) for code, operand in operands() if operand.decode(code).cls is Cls.NAN}
        return got in payloads if payloads else bool(got & _quiet_bit(d))

    def _waive(self, rule: str, needed: bool) -> None:
        if needed:
            self.waived[rule] += 1


def _quiet(code: int, operand: Format, d: Format) -> int:
    """An operand's NaN in the format of d, made quiet: the same sign, the payload at the top of the mantissa."""
    sign = code >> (operand.width - 1)
    payload = code >> operand.pad_bits & ((1 << operand.man_bits) - 1)
    shift = d.man_bits - operand.man_bits
    mantissa = payload << shift if shift >= 0 else payload >> -shift
    return d.signed_infinity(sign) | mantissa << d.pad_bits | _quiet_bit(d)


def _quiet_bit(d: Format) -> int:
    return 1 << (d.pad_bits + d.man_bits - 1)


def is_hexadecimal(text: str) -> bool:
    """Whether a text is a number like `0x7fc00000`."""
    return re.fullmatch(r"0x[0-9a-fA-F]+", text) is not None
