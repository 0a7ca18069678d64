"""Observation of a specification while it is built: as one term of its inputs, or step by step."""

from collections.abc import Sequence
from typing import TypeVar

from mmau.prove.netlist.terms import Bits
from mmau.prove.specification.numbers import Flag, Number
from mmau.prove.specification.rounded_sums import OnceRounded, RoundedSum
from mmau.prove.specification.step_results import Aligned, Operand, Special, Term, Total, Value, Word

V = TypeVar("V", bound=Value)


class Observer:
    """Receives the value of every step, by name; the returned value replaces it. This class changes nothing: the
    specification becomes one term of its inputs, which is compared with rows of golden."""

    def value(self, name: str, value: V) -> V:
        """A value of a step."""
        return value

    def term(self, name: str, term: Term, special: Special, special_name: str = "") -> tuple[Term, Special]:
        """A term with its flags for values that are not finite; they have a separate name if another component computes
        them."""
        return term, special

    def total(self, name: str, aligned: Sequence[Aligned], total: Total) -> Total:
        """The sum of aligned terms."""
        return total

    def total_in_frame(self, name: str, aligned: Sequence[Aligned], missing: Aligned, total: Total) -> Total:
        """The sum of aligned terms and of the increments that they lack in the sign frame of the last one."""
        return total

    def integer(self, name: str, product: Number) -> Number:
        """Receives a product of integers; its return value replaces the product."""
        return product

    def word(self, name: str, summed: Sequence[Number], word: Word) -> Word:
        """Receives the sum of integers; its return value replaces the sum."""
        return word

    def when(self, finite: Flag, scales: Sequence[Operand] = ()) -> None:
        """Restrict the following values to inputs for which the flag is set: no term and no scale is special then."""

    def only(self, special: Special, pairs: Sequence[tuple[Term, Special]]) -> None:
        """Until the next code, restrict values to inputs for which this special is none; then none of the terms, which are
        given with their flags, is special."""

    def code(self, name: str, code: Bits) -> Bits:
        """The code of a rounded sum or product, special codes included."""
        return code

    def rounded(self, name: str, summed: RoundedSum) -> Bits:
        """The code of a finite rounded sum of two terms."""
        return summed.code()

    def summed(self, summed: OnceRounded) -> Bits:
        """The code of a finite exact sum of any number of terms."""
        return summed.code()
