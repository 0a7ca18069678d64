"""Bit vectors for the solver: a thin layer over bitwuzla's terms that folds constants."""

import gc
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from bitwuzla import Kind, Term, TermManager

DEPTH = 1_000_000
"""Python's recursion limit while terms are made: a wire is computed from the wires before it."""


@contextmanager
def deep_stack() -> Iterator[TermManager]:
    """A manager of terms, with a higher recursion limit. Circuits, which refer to themselves, are collected before it
    ends."""
    manager, limit = TermManager(), sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, DEPTH))
    try:
        yield manager
    finally:
        sys.setrecursionlimit(limit)
        gc.collect()


@dataclass(frozen=True)
class Bits:
    """A bit vector; `value` if it is constant."""

    term: Term
    width: int
    value: int | None = None


class Terms:
    """Makes terms.

    Args:
        manager: bitwuzla's, which shares equal terms. It must outlive every term.
    """

    def __init__(self, manager: TermManager) -> None:
        self.manager = manager

    def number(self, value: int, width: int) -> Bits:
        """The constant `value` as a bit vector."""
        return Bits(self.manager.mk_bv_value(self.manager.mk_bv_sort(width), value), width, value)

    def free(self, name: str, width: int) -> Bits:
        """A new variable of `width` bits."""
        return Bits(self.manager.mk_const(self.manager.mk_bv_sort(width), name), width)

    def apply(self, kind: Kind, operands: list[Bits], width: int, *numbers: int) -> Bits:
        """The term for an operation of Bitwuzla on bit vectors."""
        return Bits(self.manager.mk_term(kind, [bits.term for bits in operands], list(numbers)), width)

    def extended(self, bits: Bits, width: int, signed: bool = False) -> Bits:
        """A word extended by copies of its sign or by zeros, or truncated to its lower bits."""
        if width == bits.width:
            return bits
        if width < bits.width:
            return self.part(bits, width - 1, 0)
        if bits.value is not None:
            is_negative = signed and bits.value >> (bits.width - 1)
            return self.number(bits.value | ((1 << width) - (1 << bits.width) if is_negative else 0), width)
        kind = Kind.BV_SIGN_EXTEND if signed else Kind.BV_ZERO_EXTEND
        return self.apply(kind, [bits], width, width - bits.width)

    def part(self, bits: Bits, high: int, low: int) -> Bits:
        """Bits `high` to `low`, counted from 0."""
        width = high - low + 1
        if width == bits.width:
            return bits
        if bits.value is not None:
            return self.number(bits.value >> low & ((1 << width) - 1), width)
        return self.apply(Kind.BV_EXTRACT, [bits], width, high, low)

    def joined(self, parts: list[Bits]) -> Bits:
        """Side by side, the first in the highest bits."""
        if len(parts) == 1:
            return parts[0]
        width, value = sum(part.width for part in parts), 0
        for part in parts:
            if part.value is None:
                return self.apply(Kind.BV_CONCAT, parts, width)
            value = value << part.width | part.value
        return self.number(value, width)

    def truth(self, term: Term) -> Bits:
        """A Boolean term as a bit vector of one bit."""
        return Bits(self.manager.mk_term(Kind.ITE, [term, self.number(1, 1).term, self.number(0, 1).term]), 1)

    def is_nonzero(self, bits: Bits) -> Term:
        """Whether any bit is 1."""
        return self.manager.mk_term(Kind.DISTINCT, [bits.term, self.number(0, bits.width).term])

    def differs(self, a: Bits, b: Bits) -> Term:
        """Whether any bit differs."""
        return self.manager.mk_term(Kind.DISTINCT, [a.term, b.term])

    def equal(self, a: Bits, b: Bits) -> Term:
        """Whether all bits are equal."""
        return self.manager.mk_term(Kind.EQUAL, [a.term, b.term])

    def any_of(self, parts: list[Term]) -> Term:
        """Whether one of several Boolean terms holds."""
        return parts[0] if len(parts) == 1 else self.manager.mk_term(Kind.OR, parts)

    def all_of(self, parts: Sequence[Term]) -> Term:
        """Whether all of some Boolean terms hold."""
        left = [each for each in parts if not each.is_true()]
        if not left:
            return self.manager.mk_true()
        return left[0] if len(left) == 1 else self.manager.mk_term(Kind.AND, left)

    def choice(self, condition: Bits, yes: Callable[[], Bits], no: Callable[[], Bits]) -> Bits:
        """One of two bit vectors, selected by a condition. If the condition is constant, only the selected one is
        computed."""
        if condition.value is not None:
            return yes() if condition.value else no()
        chosen, other = yes(), no()
        if chosen.term == other.term:
            return chosen
        return Bits(self.manager.mk_term(Kind.ITE, [self.is_nonzero(condition), chosen.term, other.term]), chosen.width)
