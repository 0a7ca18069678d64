"""Other forms of a specification, which give the same codes wherever some formulas hold and are nearer to a design.

A sum that is rounded once depends on the numbers that are added, not on how they are written. So its specification may be
written anew for a case:

- **on the gap**: between two distances of the exponents, the exact sum needs few more bits than its terms;
- **of normalised operands**: sig · 2^exp is (sig << n) · 2^(exp − n), n the zeros in front of sig. A design that shifts
  subnormal operands until they have none holds such a significand and such an exponent on wires; where that is proved, both
  sides take them from one variable each, and no question counts zeros.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from bitwuzla import Kind, Term

from mmau.prove.evaluation import in_order, width
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.specification.numbers import Number, choose
from mmau.prove.specification.observer import V
from mmau.prove.specification.rounded_sums import OnceRounded
from mmau.prove.specification.step_results import Aligned, Operand
from mmau.prove.specification.steps import accumulate
from mmau.prove.user_design.asking import Limits, ask
from mmau.prove.user_design.operand_cases import CaseParts
from mmau.prove.user_design.row_evaluation import Column, columns, signed

SAME = 1.0
"""Seconds for the question whether a wire holds an operand's significand or exponent."""


@dataclass
class Form(CaseParts):
    """A specification written anew, with its parts as they are then.

    Attributes:
        normalised: the names of the operands to normalise; None: of all.
        gap: the least and the greatest distance between the exponents of the two terms; None if it may be any.
        plain, normal: every operand as it is decoded and normalised, by name.
        read: the distance, as it is read in the bits that the gap needs.
    """

    normalised: frozenset[str] | None = frozenset()
    gap: tuple[int, int] | None = None
    plain: dict[str, Operand] = field(default_factory=dict)
    normal: dict[str, Operand] = field(default_factory=dict)
    read: Number | None = None

    def value(self, name: str, value: V) -> V:
        if not isinstance(value, Operand) or (self.normalised is not None and name not in self.normalised):
            return super().value(name, value)
        self.plain[name], self.normal[name] = value, normalised(value)
        return super().value(name, self.normal[name])  # type: ignore[return-value]

    def once_rounded(self, summed: OnceRounded) -> Bits:
        """The code of a sum that has no more bits than the gap between its two terms needs."""
        if self.gap is None or len(self.summands) != 2:
            return super().once_rounded(summed)
        low, high = self.gap
        x, y = self.summands
        self.read = gap = (x.exp - y.exp).within(low, high)
        F = max(x.frac + max(0, -low), y.frac + max(0, high))
        zero = Number.constant(gap.terms, 0)
        x_drop = choose(gap < 0, -gap, zero).within(0, max(0, -low))
        y_drop = choose(gap < 0, zero, gap).within(0, max(0, high))
        aligned = []
        for term, dropped in ((x, x_drop), (y, y_drop)):
            placed = term.sig.times_two_to(F - term.frac)
            kept = placed.shifted_right(dropped).loosened(0, (1 << placed.bits.width) - 1)
            aligned.append(Aligned(term.sign, kept))
        largest = choose(gap < 0, y.exp, x.exp)
        return summed.rounding.code(summed.signed(accumulate(aligned)), largest - F)


def normalised(operand: Operand) -> Operand:
    """The same number without zeros in front of its significand; a zero as it is."""
    terms, sig = operand.sig.terms, operand.sig
    bits = sig.bits.width
    zeros = Number.constant(terms, 0).loosened(0, bits - 1)
    for place in range(bits):  # the highest one counts
        here = Number.constant(terms, bits - 1 - place).loosened(0, bits - 1)
        chosen = terms.manager.mk_term(Kind.ITE, [sig.bit(place).holds, here.bits.term, zeros.bits.term])
        zeros = Number(terms, Bits(chosen, zeros.bits.width), 0, bits - 1)
    shifted = terms.apply(Kind.BV_SHL, [sig.bits, zeros.held_in(bits)], bits)
    return replace(operand, exp=operand.exp - zeros, sig=Number(terms, shifted, 0, (1 << bits) - 1))


def rows_where(formulas: Sequence[Term], rows: Mapping[Term, Column]) -> dict[Term, Column]:
    """The rows for which all formulas hold."""
    found, counts = columns(formulas, rows), np.ones(len(next(iter(rows.values()))), dtype=bool)
    for formula in formulas:
        counts &= found[formula].astype(bool)
    return {term: column[counts] for term, column in rows.items()}


class NormalWires:
    """The wires of a design that hold parts of normalised operands wherever some formulas hold.

    Args:
        form: a specification of normalised operands. rows: values of the variables, one per row of operands for which the
            formulas hold: wires that they show to hold another value are not asked about.

    Attributes:
        by: variables in place of parts of operands, and what is made of them in place of wires. facts: what holds of these
            variables. names: the operands whose significand is on a wire, normalised, and not where it is decoded.
    """

    def __init__(
        self, terms: Terms, got: Term, form: Form, assumed: Sequence[Term], rows: Mapping[Term, Column], limits: Limits
    ) -> None:
        self._terms, self._assumed = terms, list(assumed)
        self._limits = Limits(limits.end, SAME, limits.clock)
        self.by: dict[Term, Term] = {}
        self.facts = list[Term]()
        self.names = frozenset[str]()
        parts = [part.bits.term for operand in form.normal.values() for part in (operand.sig, operand.exp)]
        self._columns = columns([got, *parts, *(operand.sig.bits.term for operand in form.plain.values())], rows)
        self._wires = [term for term in in_order([got]) if not term.is_value() and width(term) > 1]
        for name, operand in form.normal.items():
            if (self._columns[form.plain[name].sig.bits.term] != self._columns[operand.sig.bits.term]).any():
                self._find(name, operand)

    def _find(self, name: str, operand: Operand) -> None:
        """Put variables in place of an operand's parts, if wires hold them."""
        terms, sig, exp = self._terms, operand.sig, operand.exp
        top = terms.is_nonzero(terms.part(sig.bits, sig.bits.width - 1, sig.bits.width - 1))
        facts = [top, ((exp >= exp.low) & (exp <= exp.high)).holds, (~operand.zero).holds]
        held = self._proved(self._holding(sig))
        if not held or not all(self._always(each) for each in facts):
            return
        self.names |= {name}
        self.facts += facts
        for part, wires in ((sig, held), (exp, self._proved(self._at_a_bias(exp)))):
            if wires:
                cut = {part.bits.term: terms.free(f"{name} {len(self.by)}", part.bits.width).term}
                self.by |= {wire: terms.manager.substitute_term(each, cut) for wire, each in wires.items()} | cut

    def _proved(self, candidates: Iterator[tuple[Term, Bits]]) -> dict[Term, Term]:
        return {
            wire: held.term for wire, held in candidates if self._always(self._terms.equal(Bits(wire, held.width), held))
        }

    def _holding(self, sig: Number) -> Iterator[tuple[Term, Bits]]:
        """The wires that may hold a significand, its highest bit left out or not, with what they then hold."""
        column, bits = self._columns[sig.bits.term], sig.bits.width
        for wire in self._wires:
            if width(wire) >= bits - 1 and (self._columns[wire] == column & ((1 << width(wire)) - 1)).all():
                yield wire, sig.held_in(width(wire))

    def _at_a_bias(self, exp: Number) -> Iterator[tuple[Term, Bits]]:
        """The wires that may hold an exponent with a bias, with what they then hold."""
        column = signed(self._columns[exp.bits.term], exp.bits.width)
        for wire in self._wires:
            bits = width(wire)
            bias = (self._columns[wire] - column) & ((1 << bits) - 1)
            if bits >= exp.bits.width - 1 and (bias == bias[0]).all():
                held = [exp.held_in(bits), self._terms.number(int(bias[0]), bits)]
                yield wire, self._terms.apply(Kind.BV_ADD, held, bits)

    def _always(self, formula: Term) -> bool:
        wrong = self._terms.manager.mk_term(Kind.NOT, [formula])
        return ask(self._terms.manager, [wrong, *self._assumed], self._limits).verdict == "never"
