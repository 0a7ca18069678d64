"""A proof of one netlist: facts, each of which rests on an obligation that a solver has to settle and on earlier facts.

This is the part of the argument that everything depends on, and it is small. A *fact* is a formula about the wires of the
netlist that holds for every input. There is one rule: if `facts and guard imply conclusion` is valid, with some wires in the
conclusion replaced by what drives them in the netlist, the conclusion is a fact wherever the guard holds. A proof ends with
`concluded`, which checks that the facts lead from the ports to the result, and to the whole specification, node for node.
Whoever writes the steps of a proof can leave out what is needed, and it is refused; but cannot claim what does not follow.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from bitwuzla import Kind, Term

from formal.evaluation import in_order, variables
from formal.obligations.netlist import CutNetlist
from rtl.verilog.terms import Bits, Terms

CASES = 32
"""Of a distinction of cases, how many are one obligation: solvers take longer for many at a time."""


class IncompleteProof(Exception):
    """Facts that do not lead from the ports to the result."""


@dataclass(frozen=True, eq=False)
class Fact:
    """A formula that holds for every input where its guard does, if every obligation before it and its own are proved."""

    formula: Term
    guard: Term | None
    proof: "Proof"

    def holds_under(self, guard: Term | None) -> bool:
        """Whether it holds wherever a guard does; None for everywhere."""
        return self.guard is None or (guard is not None and bool(self.guard == guard))

    @cached_property
    def wires(self) -> frozenset[Term]:
        """The variables that it is about."""
        return frozenset(supports([self.formula]))


@dataclass(frozen=True)
class Obligation:
    """A formula that must never be true.

    Attributes:
        name: of the step. violated: the formula: what is assumed, and not the conclusion.
        assumed, conclusions: its parts, cut wires of the step replaced by what drives them.
    """

    name: str
    violated: Term
    assumed: tuple[Term, ...]
    conclusions: tuple[Term, ...]


class Proof:
    """Of one netlist.

    Attributes:
        obligations: what has to be proved, in order. No two are one formula: what is needed twice is proved once.
    """

    def __init__(self, netlist: CutNetlist) -> None:
        self.netlist, self.terms = netlist, netlist.terms
        self.obligations: list[Obligation] = []
        self._facts: set[Fact] = set()
        self._meanings: dict[Term, tuple[Term, Fact]] = {}

    def establish(
        self,
        name: str,
        conclusions: Sequence[Term],
        *,
        unfold: Collection[Term] = (),
        assume: Sequence[Fact] = (),
        guard: Term | None = None,
        generalise: Sequence[Term] = (),
        cases: tuple[Term, range] | None = None,
    ) -> list[Fact]:
        """Make facts of conclusions, by an obligation.

        Args:
            unfold: cut wires, which stand in the obligation for what drives them.
            assume: facts of this proof. guard: where the conclusions hold; facts with another guard cannot be assumed.
            generalise: terms of which nothing is used, so that each becomes a variable.
            cases: a term and the numbers that it can be, without a gap: the conclusions with each of them in its place are
                obligations, and that it can be no other is one too.

        Raises:
            IncompleteProof: a fact of another proof or under another guard, a wire that is not cut, or cases with gaps.
        """
        for fact in assume:
            if fact not in self._facts:
                raise IncompleteProof(f"{name} assumes what is no fact of this proof")
            if not fact.holds_under(guard):
                raise IncompleteProof(f"{name} assumes a fact that holds under another guard")
        driven = {}
        for wire in unfold:
            if wire not in self.netlist.definitions:
                raise IncompleteProof(f"{name} unfolds {wire.symbol()}, which is no cut wire")
            driven[wire] = self.netlist.definitions[wire].term
        unfolded = [self._substituted(conclusion, driven) for conclusion in conclusions]
        known = assumed = [fact.formula for fact in assume] + ([guard] if guard is not None else [])
        split = [cases[0]] if cases is not None else []
        fresh = {
            self._substituted(term, driven): self.terms.free(f"any {k}", term.sort().bv_size()).term
            for k, term in enumerate([*generalise, *split])
        }
        if fresh:
            unfolded = [self._substituted(conclusion, fresh) for conclusion in unfolded]
            assumed = [self._substituted(formula, fresh) for formula in assumed]
        if cases is None:
            self._oblige(name, assumed, unfolded)
        else:
            term = self._substituted(cases[0], driven)
            is_all = self._is_one_of(term, cases[1])
            self._oblige_cases(name, assumed, unfolded, fresh[term], cases[1])
            self._oblige(f"{name} cases", known, [is_all])
        made = [Fact(conclusion, guard, self) for conclusion in conclusions]
        self._facts |= set(made)
        return made

    def _oblige(self, name: str, assumed: list[Term], conclusions: list[Term]) -> None:
        make = self.terms.manager.mk_term
        left = [conclusion for conclusion in conclusions if not is_trivial(conclusion)]
        if not left:
            return
        both = _all(self.terms, left)
        negated = make(Kind.NOT, [both])
        violated = make(Kind.AND, [*assumed, negated]) if assumed else negated
        self.obligations.append(Obligation(name, violated, tuple(assumed), tuple(left)))

    def _oblige_cases(self, name: str, assumed: list[Term], conclusions: list[Term], variable: Term, numbers: range) -> None:
        """The conclusions with each of several numbers in the place of a variable."""
        make, width = self.terms.manager.mk_term, variable.sort().bv_size()
        each = []
        for number in numbers:
            by = {variable: self.terms.number(number, width).term}
            premises = [self._substituted(formula, by) for formula in assumed]
            follows = _all(self.terms, [self._substituted(formula, by) for formula in conclusions])
            each.append(make(Kind.IMPLIES, [_all(self.terms, premises), follows]) if premises else follows)
        for start in range(0, len(each), CASES):
            self._oblige(name, [], each[start : start + CASES])

    def _is_one_of(self, term: Term, numbers: range) -> Term:
        """That a term is one of several numbers."""
        make, width = self.terms.manager.mk_term, term.sort().bv_size()
        if numbers.step != 1 or not numbers or numbers[-1] >> width:
            raise IncompleteProof(f"cases are numbers of {width} bits in steps of 1, got {numbers}")
        lowest, highest = (self.terms.number(number, width).term for number in (numbers[0], numbers[-1]))
        return make(Kind.AND, [make(Kind.BV_ULE, [lowest, term]), make(Kind.BV_ULE, [term, highest])])

    def released(self, fact: Fact) -> Fact:
        """A fact whose guard is a premise of its formula.

        Raises:
            IncompleteProof: a fact of another proof.
        """
        if fact not in self._facts:
            raise IncompleteProof("what is no fact of this proof cannot be released")
        if fact.guard is None:
            return fact
        free = Fact(self.terms.manager.mk_term(Kind.IMPLIES, [fact.guard, fact.formula]), None, self)
        self._facts.add(free)
        return free

    def means(self, reading: Term, specified: Term, fact: Fact) -> None:
        """Note that a reading of cut wires is what a step's specification gives.

        Raises:
            IncompleteProof: the fact does not say so, or the reading has been noted already.
        """
        equal = self.terms.manager.mk_term(Kind.EQUAL, [reading, specified])
        if fact not in self._facts or fact.formula != equal:
            raise IncompleteProof("a reading of wires is said to be what no fact says")
        if reading in self._meanings:
            raise IncompleteProof("a reading of wires has two meanings")
        self._meanings[reading] = (specified, fact)

    def fact_about(self, reading: Term) -> Fact:
        """The fact that says what a reading of cut wires is.

        Raises:
            IncompleteProof: there is none.
        """
        if reading not in self._meanings:
            raise IncompleteProof("nothing says what a reading of wires is")
        return self._meanings[reading][1]

    def concluded(self, result: Fact, output: str, specified: Bits, whole: Bits) -> None:
        """Check that the chain is complete, from the ports to an output.

        Args:
            result: the fact that the output is `specified`, a term of cut wires, everywhere.
            whole: the specification of the output as a term of the input ports: what `specified` must become when the
                readings of wires in it are replaced by what they mean, and those in these, until no cut wire is left.

        Raises:
            IncompleteProof: it does not.
        """
        equal = self.terms.manager.mk_term(Kind.EQUAL, [self.netlist.outputs[output].term, specified.term])
        if result not in self._facts or result.guard is not None or result.formula != equal:
            raise IncompleteProof(f"no fact says that {output} is its specification for every input")
        expanded = _Expansion(self.terms, self._meanings).of(specified.term)
        left = [v for v in variables([expanded]) if v in self.netlist.definitions]
        if left:
            raise IncompleteProof(f"nothing says what {left[0].symbol()} is, on which {output} depends")
        if expanded != whole.term:
            raise IncompleteProof(f"the steps' specifications together are not the specification of {output}")

    def _substituted(self, term: Term, by: Mapping[Term, Term]) -> Term:
        return self.terms.manager.substitute_term(term, dict(by)) if by else term


def is_trivial(formula: Term) -> bool:
    """Whether a formula says that a term is itself."""
    return bool(formula.is_true() or (formula.kind() == Kind.EQUAL and formula.children()[0] == formula.children()[1]))


def _all(terms: Terms, formulas: Sequence[Term]) -> Term:
    return formulas[0] if len(formulas) == 1 else terms.manager.mk_term(Kind.AND, formulas)


class _Expansion:
    """Replaces readings of wires by what they mean, down to the input ports.

    What holds under a guard alone may be used in the branch of a choice on that guard, and nowhere else.
    """

    def __init__(self, terms: Terms, meanings: Mapping[Term, tuple[Term, Fact]]) -> None:
        self._terms, self._meanings = terms, meanings
        self._guards = {fact.guard for _, fact in meanings.values()}
        self._known: dict[tuple[Term, frozenset[Term]], Term] = {}

    def of(self, term: Term, guards: frozenset[Term] = frozenset()) -> Term:
        """The term expanded, in a place where the guards hold."""
        waiting = [(term, guards)]
        while waiting:
            key = waiting[-1]
            if key not in self._known:
                parts = self._parts(*key)
                unknown = [part for part in parts if part not in self._known]
                if unknown:
                    waiting += unknown
                    continue
                self._known[key] = self._made(key[0], [self._known[part] for part in parts])
            waiting.pop()
        return self._known[(term, guards)]

    def _parts(self, term: Term, guards: frozenset[Term]) -> list[tuple[Term, frozenset[Term]]]:
        if term in self._meanings:
            specified, fact = self._meanings[term]
            if fact.guard is not None and fact.guard not in guards:
                raise IncompleteProof("a fact is used where its guard may not hold")
            return [(specified, guards)]
        children = list(term.children())
        if term.kind() == Kind.ITE:
            condition, yes, no = children
            within = guards | {condition} if condition in self._guards else guards
            return [(condition, guards), (yes, within), (no, guards)]
        return [(child, guards) for child in children]

    def _made(self, term: Term, children: list[Term]) -> Term:
        if term in self._meanings:
            return children[0]
        if not children or children == list(term.children()):
            return term
        return self._terms.manager.mk_term(term.kind(), children, list(term.indices()))


def supports(terms: Sequence[Term]) -> set[Term]:
    """The variables of terms."""
    return {term for term in in_order(terms) if term.is_const()}
