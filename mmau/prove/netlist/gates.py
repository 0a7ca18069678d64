"""Terms as gates: the bits of a word as functions of two or three other bits, down to variables.

A bit is a literal: twice the number of a gate, plus 1 if it is inverted; gate 0 is the constant 0. Sums ripple, and a
multiplication is a sum of rows, so that each gate has a short polynomial (`mmau.prove.user_design.polynomials`).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from itertools import pairwise
from typing import NamedTuple

from bitwuzla import Kind, Term

from mmau.prove.evaluation import in_order, number, width

Literal = int
Word = tuple[Literal, ...]
"""Bits from the lowest on; a Boolean term has one."""

NO, YES = 0, 1
"""The literals of constants."""


class Gate(NamedTuple):
    """A gate: `kind` is "and", "xor", "choice" (one of two, by the first) or "majority"; a leaf has the kind "leaf"."""

    kind: str
    inputs: Word = ()
    level: int = 0


class Gates:
    """The gates of terms; equal gates are one.

    Args:
        renamed: takes a term and its word, and returns the word that stands for it.

    Attributes:
        all: every gate, by its number.
    """

    def __init__(self, renamed: Callable[[Term, Word], Word] = lambda term, word: word) -> None:
        self.all = [Gate("leaf")]
        self._renamed, self._numbers, self._words = renamed, dict[tuple[str, Word], int](), dict[Term, Word]()

    def word(self, root: Term) -> Word:
        """The bits of a term.

        Raises:
            ValueError: an operation that has no gates here.
        """
        for term in in_order([root], self._words):
            self._words[term] = self._renamed(term, self._made(term, [self._words[child] for child in term.children()]))
        return self._words[root]

    def _made(self, term: Term, operands: Sequence[Word]) -> Word:
        kind, bits = term.kind(), max(1, width(term))
        if term.is_value():
            return tuple(number(term) >> k & 1 for k in range(bits))
        if term.is_const():
            return tuple(self._new("leaf", (2 * len(self.all),)) for _ in range(bits))
        if kind in _BITWISE:
            made: Word = reduce(lambda x, y: tuple(map(_BITWISE[kind], [self] * bits, x, y)), operands)
            return made
        if kind in _SHAPED:
            return _SHAPED[kind](operands, term.indices(), bits)
        if kind in _WORDS:
            return _WORDS[kind](self, operands)
        if kind in _ORDERS:
            return (self._ordered(kind, *operands),)
        if kind == Kind.ITE:
            (condition,), yes, no = operands
            return tuple(self.choice(condition, x, y) for x, y in zip(yes, no, strict=True))
        raise ValueError(f"{kind} has no gates")

    # gates

    def _new(self, kind: str, inputs: Word) -> Literal:
        key = kind, inputs
        if key not in self._numbers:
            self._numbers[key] = len(self.all)
            level = 0 if kind == "leaf" else 1 + max(self.all[each >> 1].level for each in inputs)
            self.all.append(Gate(kind, () if kind == "leaf" else inputs, level))
        return 2 * self._numbers[key]

    def both(self, x: Literal, y: Literal) -> Literal:
        """x and y."""
        if x > y:
            x, y = y, x
        if x == NO or x ^ y == 1:
            return NO
        if x in (YES, y):
            return y
        return self._new("and", (x, y))

    def either(self, x: Literal, y: Literal) -> Literal:
        """x or y."""
        return self.both(x ^ 1, y ^ 1) ^ 1

    def differ(self, x: Literal, y: Literal) -> Literal:
        """x exclusive or y."""
        inverted, (x, y) = (x ^ y) & 1, sorted((x & ~1, y & ~1))
        if x == y:
            return inverted
        return (y if x == NO else self._new("xor", (x, y))) ^ inverted

    def choice(self, condition: Literal, yes: Literal, no: Literal) -> Literal:
        """`yes` where the condition holds, else `no`."""
        if condition & 1:
            condition, yes, no = condition ^ 1, no, yes
        if condition == NO or yes == no:
            return no
        if yes ^ no == 1:
            return self.differ(condition, no)
        if yes <= YES:
            return self.either(condition, no) if yes else self.both(condition ^ 1, no)
        if no <= YES:
            return self.either(condition ^ 1, yes) if no else self.both(condition, yes)
        return self._new("choice", (condition, yes, no))

    def majority(self, *given: Literal) -> Literal:
        """Whether two of three bits hold."""
        x, y, z = sorted(given)
        if x <= YES:
            return self.either(y, z) if x else self.both(y, z)
        if x ^ y <= 1:
            return z if x ^ y else x
        if y ^ z <= 1:
            return x if y ^ z else y
        return self._new("majority", (x, y, z))

    # words

    def added(self, x: Word, y: Word, carry: Literal = NO) -> Word:
        """The sum of two words and a carry, modulo 2**(bits)."""
        found = []
        for one, other in zip(x, y, strict=True):
            found.append(self.differ(self.differ(one, other), carry))
            carry = self.majority(one, other, carry)
        return tuple(found)

    def _sum(self, operands: Sequence[Word]) -> Word:
        return reduce(self.added, operands)

    def _minus(self, operands: Sequence[Word]) -> Word:
        x, y = operands
        return self.added(x, _inverted(y), YES)

    def _negative(self, operands: Sequence[Word]) -> Word:
        return self.added((NO,) * len(operands[0]), _inverted(operands[0]), YES)

    def _times(self, operands: Sequence[Word]) -> Word:
        return reduce(self._product, operands)

    def _product(self, x: Word, y: Word) -> Word:
        bits = len(x)
        rows = [(NO,) * k + tuple(self.both(bit, each) for each in x[: bits - k]) for k, bit in enumerate(y)]
        return reduce(self.added, [row for row in rows if any(row)], (NO,) * bits)

    def _shifted(self, operands: Sequence[Word], left: bool, fill: Callable[[Word], Literal]) -> Word:
        word, places = operands
        bits, filled = len(word), fill(word)
        for k, bit in enumerate(places):
            far = min(bits, 1 << k)
            moved = (filled,) * far + word[: bits - far] if left else word[far:] + (filled,) * far
            word = tuple(self.choice(bit, x, y) for x, y in zip(moved, word, strict=True))
        return word

    def _ordered(self, kind: Kind, x: Word, y: Word) -> Literal:
        swapped, negated, is_signed = _ORDERS[kind]
        if swapped:
            x, y = y, x
        if is_signed:
            x, y = (*x[:-1], y[-1]), (*y[:-1], x[-1])
        less = NO
        for one, other in zip(x, y, strict=True):
            less = self.choice(self.differ(one, other), other, less)
        return less ^ negated

    def _all(self, word: Sequence[Literal]) -> Literal:
        return reduce(self.both, word, YES)

    def _same(self, operands: Sequence[Word]) -> Word:
        pairs = [pair for one, other in pairwise(operands) for pair in zip(one, other, strict=True)]
        return (self._all([self.differ(*pair) ^ 1 for pair in pairs]),)


def _inverted(word: Word) -> Word:
    return tuple(each ^ 1 for each in word)


_BITWISE: Mapping[Kind, Callable[[Gates, Literal, Literal], Literal]] = {
    Kind.BV_AND: Gates.both, Kind.BV_OR: Gates.either, Kind.BV_XOR: Gates.differ,
    Kind.AND: Gates.both, Kind.OR: Gates.either,
    Kind.BV_XNOR: lambda gates, x, y: gates.differ(x, y) ^ 1,
    Kind.IMPLIES: lambda gates, x, y: gates.either(x ^ 1, y),
}  # fmt: skip

_SHAPED: Mapping[Kind, Callable[[Sequence[Word], Sequence[int], int], Word]] = {
    Kind.BV_NOT: lambda operands, indices, bits: _inverted(operands[0]),
    Kind.NOT: lambda operands, indices, bits: _inverted(operands[0]),
    Kind.BV_CONCAT: lambda operands, indices, bits: sum(reversed(operands), ()),
    Kind.BV_EXTRACT: lambda operands, indices, bits: operands[0][indices[1] : indices[0] + 1],
    Kind.BV_ZERO_EXTEND: lambda operands, indices, bits: operands[0] + (NO,) * (bits - len(operands[0])),
    Kind.BV_SIGN_EXTEND: lambda operands, indices, bits: operands[0] + operands[0][-1:] * (bits - len(operands[0])),
}
"""Operations that make no gates."""

_WORDS: Mapping[Kind, Callable[[Gates, Sequence[Word]], Word]] = {
    Kind.BV_ADD: Gates._sum, Kind.BV_SUB: Gates._minus, Kind.BV_NEG: Gates._negative, Kind.BV_MUL: Gates._times,
    Kind.EQUAL: Gates._same,
    Kind.DISTINCT: lambda gates, operands: _inverted(gates._same(operands)),
    Kind.BV_SHL: lambda gates, operands: gates._shifted(operands, True, lambda word: NO),
    Kind.BV_SHR: lambda gates, operands: gates._shifted(operands, False, lambda word: NO),
    Kind.BV_ASHR: lambda gates, operands: gates._shifted(operands, False, lambda word: word[-1]),
    Kind.BV_REDAND: lambda gates, operands: (gates._all(operands[0]),),
    Kind.BV_REDOR: lambda gates, operands: (gates._all(_inverted(operands[0])) ^ 1,),
    Kind.BV_REDXOR: lambda gates, operands: (reduce(gates.differ, operands[0]),),
}  # fmt: skip

_ORDERS: Mapping[Kind, tuple[bool, bool, bool]] = {
    Kind.BV_ULT: (False, False, False), Kind.BV_UGT: (True, False, False),
    Kind.BV_UGE: (False, True, False), Kind.BV_ULE: (True, True, False),
    Kind.BV_SLT: (False, False, True), Kind.BV_SGT: (True, False, True),
    Kind.BV_SGE: (False, True, True), Kind.BV_SLE: (True, True, True),
}  # fmt: skip
"""What an order is of "less": whether operands are swapped, the answer is negated, and numbers have signs."""
