"""What counts as agreement where a design may differ on purpose: its NaN, and the sign of a zero. Nothing else may."""

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
    """What may differ from the unit on purpose. All else must agree bit for bit.

    Attributes:
        nan: "unit", the unit's own rule; "any" NaN; "propagate", the NaN of one of the operands made quiet, and where no
            operand is a NaN any quiet NaN; or the code, as hexadecimal text, that the design must give.
        zero_sign: "exact", or "ignore": a zero of either sign is as good.
    """

    nan: str = "unit"
    zero_sign: str = "exact"

    def __post_init__(self) -> None:
        if not (isinstance(self.nan, str) and (self.nan in NAN_RULES or is_hexadecimal(self.nan))):
            raise ValueError(f'[compare] nan must be a code like "0x7fc00000", "any", "propagate", "unit"; got {self.nan!r}')
        check_choice("[compare] zero_sign", self.zero_sign, ("exact", "ignore"))

    def check(self, result: Format) -> None:
        """Raise ValueError where the NaN's code is no NaN of the result's format."""
        if is_hexadecimal(self.nan):
            code = int(self.nan, 16)
            if code >> result.width or not is_nan(code, result):
                raise ValueError(f"[compare] nan must be the code of a NaN of {result}, got {self.nan}")


@dataclass
class Judge:
    """Decides whether results agree, and counts every waiver that was needed.

    Attributes:
        compare: what may differ.
        waived: how many results each waiver let pass that differ from the unit's.
    """

    compare: Compare = field(default_factory=Compare)
    waived: Counter[str] = field(default_factory=Counter)

    @property
    def takes_the_unit(self) -> bool:
        """Whether a code agrees wherever it is the unit's own: no rule asks for another NaN."""
        return self.compare.nan == "unit"

    def agrees(self, got: int, expected: int, d: Format, differs: bool, operands: Callable[[], Sequence[Code]]) -> bool:
        """Whether a code of d is as good as the expected one.

        Args:
            d: format of both.
            differs: whether they differ by the unit's own rule.
            operands: gives the codes of the operands, each with its format, for NaNs that propagate.
        """
        if self.compare.nan != "unit" and is_nan(expected, d):
            if not self._nan_agrees(got, d, operands):
                return False
            self._waive(f"nan = {self.compare.nan}", differs)
            return True
        if not differs:
            return True
        if self.compare.zero_sign == "ignore" and d.decode(got).cls is d.decode(expected).cls is Cls.ZERO:
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
        return got in payloads if payloads else bool(got >> (d.man_bits - 1) & 1)

    def _waive(self, rule: str, needed: bool) -> None:
        if needed:
            self.waived[rule] += 1


def _quiet(code: int, operand: Format, d: Format) -> int:
    """An operand's NaN in the format of d: sign kept, payload at the top of the mantissa, made quiet."""
    sign = code >> (operand.width - 1)
    payload = code >> operand.pad_bits & ((1 << operand.man_bits) - 1)
    shift = d.man_bits - operand.man_bits
    mantissa = payload << shift if shift >= 0 else payload >> -shift
    return d.signed_infinity(sign) | mantissa | 1 << (d.man_bits - 1)


def is_hexadecimal(text: str) -> bool:
    """Whether a text is a number like `0x7fc00000`."""
    return re.fullmatch(r"0x[0-9a-fA-F]+", text) is not None
