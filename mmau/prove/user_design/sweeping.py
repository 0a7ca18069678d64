"""Proof of a design's result along its wires: wires that hold a value of the specification are found, proved to hold it, and
replaced by it.

So the design may have any structure: a solver must only show the equality of two computations between one value that the
design shares with the specification and the next.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_

import numpy as np
from bitwuzla import Kind, Term, TermManager

from mmau.prove.evaluation import in_order, number, variables, width
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.solvers.answer import Verdict
from mmau.prove.user_design.adders import with_sums
from mmau.prove.user_design.asking import Found, Limits, ask
from mmau.prove.user_design.folding import Folding
from mmau.prove.user_design.polynomials import is_one_sum
from mmau.prove.user_design.row_evaluation import Column, columns, signed

LEAST = 3
"""Least width of a wire that is compared in other units or with another bias: narrow wires agree too often by chance."""


@dataclass(frozen=True)
class Guess:
    """A candidate value of a wire.

    Attributes:
        base: a value of the specification; None for a constant. expression: the expression of the base.
    """

    base: Term | None
    expression: Term


@dataclass(frozen=True)
class _Reading:
    """A value with or without a sign, negated or not; `place`: trailing zeros of all rows, or the first row's value."""

    term: Term
    is_signed: bool
    negated: bool
    place: int


class Matching:
    """Values of a specification, indexed by their values for rows of operands.

    Args:
        terms: makes terms. specified: the specification. columns: the values of its terms, for the relevant rows.
    """

    def __init__(self, terms: Terms, specified: Term, columns: Mapping[Term, Column]) -> None:
        self._terms = terms
        self._exact: dict[tuple[int, tuple[int, ...]], Term] = {}
        self._shifted: dict[tuple[int, ...], _Reading] = {}
        self._biased: dict[tuple[int, ...], _Reading] = {}
        for term in in_order([specified]):
            if not term.is_value() and not term.sort().is_bool() and not is_constant(columns[term]):
                self._note(term, columns[term])

    def _note(self, term: Term, column: Column) -> None:
        self._exact.setdefault((width(term), tuple(column)), term)
        for is_signed, values in readings(column, width(term)):
            zeros = zeros_below(values)
            for negated, each in ((False, values), (True, -values)):
                self._shifted.setdefault(tuple(each >> zeros), _Reading(term, is_signed, negated, zeros))
                self._biased.setdefault(tuple(each - each[0]), _Reading(term, is_signed, negated, each[0]))

    def guesses(self, wire: Term, column: Column) -> Iterator[Guess]:
        """The candidate values of a wire, the likeliest first."""
        bits = width(wire)
        if is_constant(column):
            yield Guess(None, self._terms.number(int(column[0]), bits).term)
            return
        exact = self._exact.get((bits, tuple(column)))
        if exact is not None:
            yield Guess(exact, exact)
        elif bits == 1:
            other = self._exact.get((1, tuple(1 - column)))
            if other is not None:
                yield Guess(other, self._terms.apply(Kind.BV_NOT, [Bits(other, 1)], 1).term)
        elif bits >= LEAST:
            yield from self._relative(bits, column)

    def _relative(self, bits: int, column: Column) -> Iterator[Guess]:
        for _, values in readings(column, bits):
            zeros = zeros_below(values)
            found = self._shifted.get(tuple(values >> zeros))
            if found is not None and (zeros >= found.place or not found.negated):
                yield Guess(found.term, self._in_units(found, bits, zeros - found.place))
            found = self._biased.get(tuple(values - values[0]))
            if found is not None:
                bias = self._terms.number(int(values[0] - found.place) % (1 << bits), bits)
                held = self._held(found, Bits(found.term, width(found.term)), bits)
                yield Guess(found.term, self._terms.apply(Kind.BV_ADD, [held, bias], bits).term)

    def _in_units(self, reading: _Reading, bits: int, places: int) -> Term:
        """The reading times 2**places; for places < 0 no one is lost."""
        terms, value = self._terms, Bits(reading.term, width(reading.term))
        if places <= 0:
            return self._held(reading, terms.part(value, value.width - 1, -places), bits).term
        if places >= bits:
            return terms.number(0, bits).term
        high = self._held(reading, value, bits - places)
        return terms.joined([high, terms.number(0, places)]).term

    def _held(self, reading: _Reading, value: Bits, bits: int) -> Bits:
        held = self._terms.extended(value, bits, reading.is_signed)
        return self._terms.apply(Kind.BV_NEG, [held], bits) if reading.negated else held


def readings(column: Column, bits: int) -> Iterator[tuple[bool, Column]]:
    """The numbers in bits, read without a sign and, if that differs, with one."""
    yield False, column
    if any(column >> (bits - 1)):
        yield True, signed(column, bits)


def is_constant(column: Column) -> bool:
    """Whether all rows have the same number."""
    return bool((column == column[0]).all())


def zeros_below(column: Column) -> int:
    """The number of trailing zeros that all rows have."""
    ones = reduce(or_, map(int, column), 0)
    return max(0, (ones & -ones).bit_length() - 1)


ONE = 0.2
"""Seconds for the question whether a sum may be extended term by term."""

_SUMS = {Kind.BV_ADD, Kind.BV_SUB, Kind.BV_NEG, Kind.ITE}


class Sums:
    """Extends sums term by term.

    Args:
        assumed: formulas that hold. limits: the limits of all questions.
    """

    def __init__(self, manager: TermManager, assumed: Sequence[Term], limits: Limits) -> None:
        self._manager, self._assumed = manager, assumed
        self._limits = replace(limits, question=min(ONE, limits.question))
        self._known: dict[Term, Term] = {}

    def of(self, root: Term) -> Term:
        """A term that equals `root` if the assumed formulas are true, with extended sums as sums of extended terms."""
        again = Folding(self._manager, {})
        for term in in_order([root]):
            again.replace(term, self._spread(again.of(term)))
        return again.of(root)

    def _spread(self, term: Term) -> Term:
        """An extended sum as a sum of extended terms, if both are equal."""
        if term not in self._known:
            self._known[term] = self._made(term)
        return self._known[term]

    def _made(self, term: Term) -> Term:
        inside = _extended(term)
        if inside is None or inside.kind() not in _SUMS or self._limits.over:
            return term
        operands = list(inside.children())
        kept = operands[:1] if inside.kind() == Kind.ITE else []
        wide = [self._again(term, operand) for operand in operands[len(kept) :]]
        other = self._manager.mk_term(inside.kind(), [*kept, *wide])
        differs = self._manager.mk_term(Kind.DISTINCT, [term, other])
        if ask(self._manager, [differs, *self._assumed], self._limits).verdict != "never":
            return term
        return self._manager.mk_term(inside.kind(), [*kept, *map(self._spread, wide)])

    def _again(self, term: Term, operand: Term) -> Term:
        """An operand extended as the term is."""
        if term.kind() == Kind.BV_CONCAT:
            return self._manager.mk_term(Kind.BV_CONCAT, [*term.children()[:-1], operand])
        return self._manager.mk_term(term.kind(), [operand], list(term.indices()))


def _extended(term: Term) -> Term | None:
    """The term that a zero or sign extension extends; None if the term is no extension."""
    children = term.children()
    if term.kind() in (Kind.BV_ZERO_EXTEND, Kind.BV_SIGN_EXTEND):
        return children[0]
    if term.kind() == Kind.BV_CONCAT and all(part.is_value() and not number(part) for part in children[:-1]):
        return children[-1]
    return None


MOST = 10
"""Most conditions of a split: at most 2**MOST cases."""

WHOLE, PART = 1.0, 0.05
"""Seconds for the whole question, and for one case before it is split further."""


def ask_split(manager: TermManager, formula: Term, assumed: Sequence[Term], limits: Limits) -> Verdict:
    """Whether a formula is never true under assumptions; conditions nearest to the inputs are split first."""
    whole = ask(manager, [formula, *assumed], replace(limits, question=min(WHOLE, limits.question))).verdict
    if whole != "unknown":
        return whole
    if _are_one_sum(manager, formula, limits):
        return "never"
    formula = Sums(manager, assumed, limits).of(formula)
    conditions = list(dict.fromkeys(term.children()[0] for term in in_order([formula]) if term.kind() == Kind.ITE))
    return _asked(manager, [formula, *assumed], conditions[:MOST], limits)


def _are_one_sum(manager: TermManager, formula: Term, limits: Limits) -> bool:
    """Whether a formula says that two words differ that are one sum, in rows of full adders or with carries that skip."""
    inside = formula.children()[0] if formula.kind() == Kind.NOT else formula
    if inside.kind() != (Kind.DISTINCT if inside is formula else Kind.EQUAL) or inside.children()[0].sort().is_bool():
        return False
    x, y = inside.children()
    return is_one_sum(with_sums(Terms(manager), x, limits), y, limits)


def _asked(manager: TermManager, formulas: Sequence[Term], conditions: Sequence[Term], limits: Limits) -> Verdict:
    last = not conditions
    found = ask(manager, formulas, limits if last else replace(limits, question=min(PART, limits.question))).verdict
    if found != "unknown" or last or limits.over:
        return found
    first, *rest = conditions
    for truth in (manager.mk_true(), manager.mk_false()):
        folding = Folding(manager, {first: truth})
        chosen = first if truth.is_true() else manager.mk_term(Kind.NOT, [first])
        remaining = [condition for condition in (folding.of(each) for each in rest) if not condition.is_value()]
        found = _asked(manager, [*(folding.of(formula) for formula in formulas), chosen], remaining, limits)
        if found != "never":
            return found
    return "never"


WIRING = {Kind.BV_CONCAT, Kind.BV_EXTRACT, Kind.BV_ZERO_EXTEND, Kind.BV_SIGN_EXTEND}


@dataclass
class Progress:
    """The progress of a sweep: the wires that hold a value of the specification in all tried rows, and those that are proved
    to; `open`: guesses that were not answered in their time."""

    guessed: int = 0
    proved: int = 0
    open: int = 0


class Sweep:
    """Decides one case of a comparison.

    Args:
        terms: makes terms. got, specified: the results of the design and of the specification. assumed: formulas that
            hold in the case.
        values: the values of all variables, one per row of operands.
    """

    def __init__(
        self, terms: Terms, got: Term, specified: Term, assumed: Sequence[Term], values: Mapping[Term, Column]
    ) -> None:
        self._terms, self._assumed, self.progress = terms, list(assumed), Progress()
        self._got, self._specified = got, set(in_order([specified]))
        found = columns([got, specified, *assumed], values)
        counts = np.ones(len(next(iter(values.values()))), dtype=bool)
        for formula in assumed:
            counts &= found[formula].astype(bool)
        self._columns = {term: column[counts] for term, column in found.items()} if counts.any() else {}
        self._matching = Matching(terms, specified, self._columns) if self._columns else None
        self._cuts: dict[Term, Term] = {}
        self._facts: dict[Term, Term] = {}

    def swept(self, limits: Limits, guess_seconds: float | None = None) -> Term:
        """The design's result with wires replaced by values of the specification that they are proved to hold.

        Args:
            guess_seconds: for one guess, by the clock of the limits, all cases counted into which it is split. The first one
                that is not answered then ends the sweep: what comes after is built on that wire. None for no such end.
        """
        if self._matching is None:
            return self._got
        known: dict[Term, Term] = {}
        again = Folding(self._terms.manager, known)
        for wire in in_order([self._got]):
            made = again.of(wire)
            if (
                limits.over
                or (guess_seconds is not None and self.progress.open)
                or made in self._specified
                or wire.sort().is_bool()
                or wire.kind() in WIRING
                or not made.children()
            ):
                continue
            end = limits.end if guess_seconds is None else min(limits.end, limits.clock() + guess_seconds)
            guess = self._proved_guess(wire, made, replace(limits, end=end))
            if guess is not None:
                again.replace(wire, guess.expression)
        return again.of(self._got)

    def _proved_guess(self, wire: Term, made: Term, limits: Limits) -> Guess | None:
        assert self._matching is not None
        for place, guess in enumerate(self._matching.guesses(wire, self._columns[wire])):
            self.progress.guessed += place == 0
            differs = self._terms.manager.mk_term(Kind.DISTINCT, [made, guess.expression])
            verdict = "never" if made == guess.expression else self.asked(differs, limits, guess.base).verdict
            self.progress.open += verdict == "unknown"
            if verdict == "never":
                self.progress.proved += 1
                if guess.base is not None and guess.base not in self._cuts:
                    self._cut(guess.base, limits)
                if guess.base is not None and made != guess.expression:
                    self._facts[guess.base] = self._terms.manager.mk_term(Kind.EQUAL, [made, guess.expression])
                return guess
        return None

    def _cut(self, value: Term, limits: Limits) -> None:
        """Allow a variable in place of a value; the fact that its upper bits are zero, if they are, is retained."""
        bits, used = width(value), max(map(int, self._columns[value])).bit_length()
        if used < bits:
            upper = self._terms.part(Bits(value, bits), bits - 1, used)
            if self.asked(self._terms.is_nonzero(upper), limits).verdict == "never":
                self._assumed.append(self._terms.manager.mk_term(Kind.NOT, [self._terms.is_nonzero(upper)]))
        self._cuts[value] = self._terms.manager.mk_const(value.sort(), f"value {len(self._cuts)}")

    def asked(self, formula: Term, limits: Limits, base: Term | None = None, values_of: Sequence[Term] = ()) -> Found:
        """Whether a formula is ever true in this case.

        The solver is asked up to three times: first with values of the specification that wires hold, except `base`,
            replaced by unconstrained variables; then
        with the terms of these wires, too; then in full.
        """
        manager, formulas = self._terms.manager, [formula, *self._assumed]
        cuts = {value: free for value, free in self._cuts.items() if base is None or value != base}
        if cuts:
            loosened = [manager.substitute_term(each, cuts) for each in formulas]
            if ask_split(manager, loosened[0], loosened[1:], limits) == "never":
                return Found("never")
            facts = [manager.substitute_term(fact, cuts) for fact in self._facts_about(loosened[0], cuts)]
            if facts and ask_split(manager, loosened[0], [*loosened[1:], *facts], limits) == "never":
                return Found("never")
        return ask(manager, formulas, limits, values_of)

    def _facts_about(self, loosened: Term, cuts: Mapping[Term, Term]) -> list[Term]:
        """The proved facts about the values in a formula."""
        visible = set(variables([loosened]))
        return [fact for value, fact in self._facts.items() if value in cuts and cuts[value] in visible]
