"""A proof of one netlist: facts, each of which rests on an obligation for a solver and on earlier facts.

This is the part of the argument that everything depends on, and it is small. A *fact* is a formula about the wires of the
netlist that holds for every input. There is one rule: if `facts and guard imply conclusion` is valid, with some wires in the
conclusion replaced by what drives them in the netlist, the conclusion is a fact wherever the guard holds. A proof ends with
`concluded`, which checks that the facts lead from the ports to the result, and to the whole specification, node for node.
The code that builds a proof may omit a necessary step, and the proof is refused; it cannot claim what does not follow.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from bitwuzla import Kind, Term

from mmau.prove.datapath.cut_netlist import CutNetlist
from mmau.prove.evaluation import in_order, variables
from mmau.prove.netlist.terms import Bits, Terms


class IncompleteProof(Exception):
    """The facts do not lead to the statement that is to be proved."""


@dataclass(frozen=True, eq=False)
class Fact:
    """A formula that holds for every input that satisfies its guard, if its obligation and all earlier ones are proved."""

    formula: Term
    guard: Term | None
    proof: "Facts"

    def holds_under(self, guard: Term | None) -> bool:
        """Whether the fact holds for all inputs that satisfy a guard; None for all inputs."""
        return self.guard is None or (guard is not None and bool(self.guard == guard))

    @cached_property
    def wires(self) -> frozenset[Term]:
        """The variables of the formula."""
        return frozenset(supports([self.formula]))


@dataclass(frozen=True)
class Obligation:
    """A formula that must never be true.

    Attributes:
        name: the name of the step. violated: the formula: the assumptions and the negated conclusion.
        assumed, conclusions: its parts, with cut wires of the step replaced by their drivers.
    """

    name: str
    violated: Term
    assumed: tuple[Term, ...]
    conclusions: tuple[Term, ...]


class Facts:
    """The facts of one proof.

    Attributes:
        obligations: the formulas to prove, in order, each once.
    """

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.obligations: list[Obligation] = []
        self._facts: set[Fact] = set()

    def released(self, fact: Fact) -> Fact:
        """A fact whose guard is a premise of its formula.

        Raises:
            IncompleteProof: a fact of another proof.
        """
        if fact not in self._facts:
            raise IncompleteProof("only a fact of this proof can be released")
        if fact.guard is None:
            return fact
        free = Fact(self.terms.manager.mk_term(Kind.IMPLIES, [fact.guard, fact.formula]), None, self)
        self._facts.add(free)
        return free

    def _assumed(self, name: str, assume: Sequence[Fact], guard: Term | None) -> list[Term]:
        """The formulas that a step may assume under a guard, the guard among them.

        Raises:
            IncompleteProof: a fact of another proof or under another guard.
        """
        for fact in assume:
            if fact not in self._facts:
                raise IncompleteProof(f"{name} assumes a fact of another proof")
            if not fact.holds_under(guard):
                raise IncompleteProof(f"{name} assumes a fact that holds under another guard")
        return [fact.formula for fact in assume] + ([guard] if guard is not None else [])

    def _made(self, conclusions: Sequence[Term], guard: Term | None) -> list[Fact]:
        """New facts: their obligations must be there."""
        made = [Fact(conclusion, guard, self) for conclusion in conclusions]
        self._facts |= set(made)
        return made

    def _oblige(self, name: str, assumed: list[Term], conclusions: list[Term]) -> None:
        make = self.terms.manager.mk_term
        left = [conclusion for conclusion in conclusions if not is_trivial(conclusion)]
        if not left:
            return
        both = all_of(self.terms, left)
        negated = make(Kind.NOT, [both])
        violated = make(Kind.AND, [*assumed, negated]) if assumed else negated
        self.obligations.append(Obligation(name, violated, tuple(assumed), tuple(left)))


def is_trivial(formula: Term) -> bool:
    """Whether a formula states that a term equals itself."""
    return bool(formula.is_true() or (formula.kind() == Kind.EQUAL and formula.children()[0] == formula.children()[1]))


def all_of(terms: Terms, formulas: Sequence[Term]) -> Term:
    return formulas[0] if len(formulas) == 1 else terms.manager.mk_term(Kind.AND, formulas)


def supports(terms: Sequence[Term]) -> set[Term]:
    """The variables of terms."""
    return {term for term in in_order(terms) if term.is_const()}


CASES = 32
"""Number of cases in one obligation: solvers take longer for many cases at a time."""


class Proof(Facts):
    """The proof of one netlist."""

    def __init__(self, netlist: CutNetlist) -> None:
        super().__init__(netlist.terms)
        self.netlist = netlist
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
        """Turn conclusions into facts, by an obligation.

        Args:
            unfold: cut wires that the obligation replaces by their drivers.
            assume: facts of this proof. guard: condition of the conclusions; facts with another guard cannot be assumed.
            generalise: terms without used properties; each becomes a variable.
            cases: a term and its possible values, without a gap: the conclusions with each value in its place are
                obligations, and so is the claim that the term has no other value.

        Raises:
            IncompleteProof: a fact of another proof or under another guard, a wire that is not cut, or cases with gaps.
        """
        known = assumed = self._assumed(name, assume, guard)
        driven = {}
        for wire in unfold:
            if wire not in self.netlist.definitions:
                raise IncompleteProof(f"{name} unfolds {wire.symbol()}, which is no cut wire")
            driven[wire] = self.netlist.definitions[wire].term
        unfolded = [self._substituted(conclusion, driven) for conclusion in conclusions]
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
        return self._made(conclusions, guard)

    def _oblige_cases(self, name: str, assumed: list[Term], conclusions: list[Term], variable: Term, numbers: range) -> None:
        """Add the conclusions with each of several numbers in place of a variable as obligations."""
        make, width = self.terms.manager.mk_term, variable.sort().bv_size()
        each = []
        for number in numbers:
            by = {variable: self.terms.number(number, width).term}
            premises = [self._substituted(formula, by) for formula in assumed]
            follows = all_of(self.terms, [self._substituted(formula, by) for formula in conclusions])
            each.append(make(Kind.IMPLIES, [all_of(self.terms, premises), follows]) if premises else follows)
        for start in range(0, len(each), CASES):
            self._oblige(name, [], each[start : start + CASES])

    def _is_one_of(self, term: Term, numbers: range) -> Term:
        """The formula that a term is one of several numbers."""
        make, width = self.terms.manager.mk_term, term.sort().bv_size()
        if numbers.step != 1 or not numbers or numbers[-1] >> width:
            raise IncompleteProof(f"cases are numbers of {width} bits in steps of 1, got {numbers}")
        lowest, highest = (self.terms.number(number, width).term for number in (numbers[0], numbers[-1]))
        return make(Kind.AND, [make(Kind.BV_ULE, [lowest, term]), make(Kind.BV_ULE, [term, highest])])

    def means(self, reading: Term, specified: Term, fact: Fact) -> None:
        """Record the specified value of a reading of cut wires.

        Raises:
            IncompleteProof: the fact does not state it, or the reading is recorded already.
        """
        equal = self.terms.manager.mk_term(Kind.EQUAL, [reading, specified])
        if fact not in self._facts or fact.formula != equal:
            raise IncompleteProof("no fact states the value given for a reading of wires")
        if reading in self._meanings:
            raise IncompleteProof("a reading of wires has two meanings")
        self._meanings[reading] = (specified, fact)

    def fact_about(self, reading: Term) -> Fact:
        """The fact that states the value of a reading of cut wires.

        Raises:
            IncompleteProof: there is none.
        """
        if reading not in self._meanings:
            raise IncompleteProof("no fact states the value of a reading of wires")
        return self._meanings[reading][1]

    def concluded(self, result: Fact, output: str, specified: Bits, whole: Bits) -> None:
        """Check that the chain from the ports to an output is complete.

        Args:
            result: the fact that the output is `specified`, a term of cut wires, everywhere.
            whole: the specification of the output as a term of the input ports: `specified` must become this term when its
                readings of wires are replaced by their values, recursively, until no cut wire remains.

        Raises:
            IncompleteProof: it does not.
        """
        equal = self.terms.manager.mk_term(Kind.EQUAL, [self.netlist.outputs[output].term, specified.term])
        if result not in self._facts or result.guard is not None or result.formula != equal:
            raise IncompleteProof(f"no fact says that {output} is its specification for every input")
        expanded = _Expansion(self.terms, self._meanings).of(specified.term)
        left = [v for v in variables([expanded]) if v in self.netlist.definitions]
        if left:
            raise IncompleteProof(f"no fact states the value of {left[0].symbol()}, on which {output} depends")
        if expanded != whole.term:
            raise IncompleteProof(f"the steps' specifications together are not the specification of {output}")

    def _substituted(self, term: Term, by: Mapping[Term, Term]) -> Term:
        return self.terms.manager.substitute_term(term, dict(by)) if by else term


class _Expansion:
    """Replaces readings of wires by their values, down to the input ports.

    A fact that holds under a guard may be used only in the branch of a choice on that guard.
    """

    def __init__(self, terms: Terms, meanings: Mapping[Term, tuple[Term, Fact]]) -> None:
        self._terms, self._meanings = terms, meanings
        self._guards = {fact.guard for _, fact in meanings.values()}
        self._known: dict[tuple[Term, frozenset[Term]], Term] = {}

    def of(self, term: Term, guards: frozenset[Term] = frozenset()) -> Term:
        """The expanded term, in a context in which the guards hold."""
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
