"""How a specification is looked at while it is put together: as one term of its inputs, or step by step."""

from collections.abc import Sequence
from typing import TypeVar

from formal.specification.numbers import Flag, Number
from formal.specification.rounded_sums import RoundedSum
from formal.specification.values import Aligned, Operand, Special, Term, Total, Value, Word
from rtl.verilog.terms import Bits

V = TypeVar("V", bound=Value)


class Keep:
    """Sees every value that a step gives, by name; what it returns goes on. This one changes nothing: the specification
    becomes one term of its inputs, which rows of golden are compared with."""

    def value(self, name: str, value: V) -> V:
        """A value of a step."""
        return value

    def term(self, name: str, term: Term, special: Special, special_name: str = "") -> tuple[Term, Special]:
        """A term, with what it is where it is not finite; that has a name of its own where another component gives it."""
        return term, special

    def total(self, name: str, aligned: Sequence[Aligned], total: Total) -> Total:
        """The sum of aligned terms."""
        return total

    def integer(self, name: str, product: Number) -> Number:
        """A product of integers."""
        return product

    def word(self, name: str, summed: Sequence[Number], word: Word) -> Word:
        """The sum of integers."""
        return word

    def when(self, finite: Flag, scales: Sequence[Operand] = ()) -> None:
        """From here on values count only where the flag is set: no term is special then, and no scale."""

    def only(self, special: Special, pairs: Sequence[tuple[Term, Special]]) -> None:
        """Until the next code, values count only where this special is none; none of the terms, which are given with what
        they are where they are not finite, is special then."""

    def code(self, name: str, code: Bits) -> Bits:
        """The code that a sum or a product is rounded to, special ones among them."""
        return code

    def rounded(self, name: str, summed: RoundedSum) -> Bits:
        """The code of a rounded sum where it is finite."""
        return summed.code()
