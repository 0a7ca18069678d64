"""The rules by which the values of a pipeline and its handshake become one claim, checked like the facts of a step.

A pipeline's netlist is a transition system: each register has a next state. Beside the registers there are *ghosts*,
variables that no wire reads: the book of `handshake_rules`, whose meaning is part of the claim, and any others that a proof
wants. The rules, beside that of an obligation:

- **Induction.** What is supposed of every state becomes a fact if it is established of the first state, and of the state
  after an edge while only suppositions are assumed of the state before it.
- **Operands.** In the cycle in which a step of the token enters, the ports hold that step's operands, by definition.
- **Replacement** (`replacement.py`). Equal things may replace each other, also at the inputs of an opaque module.

`concluded` checks that every rule of the handshake is a fact, and that the token's result is what the datapath gives for its
operands.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bitwuzla import Kind, Term

from mmau.prove.datapath.kernel import Fact, Facts, IncompleteProof
from mmau.prove.evaluation import variables
from mmau.prove.netlist.flat_netlist import is_choice
from mmau.prove.pipeline.handshake_rules import RESULT, STAYS, Handshake, Rule
from mmau.prove.pipeline.intended import Intended


@dataclass(eq=False)
class Induction:
    """An induction over the cycles.

    Attributes:
        guard: "before an edge, all that is supposed holds"; if `is_after_reset`, also "rst is low".
        is_after_reset: whether it begins with a reset from any state; else with the first cycle, in which ghosts are 0.
        supposed: formulas about a state.
    """

    guard: Term
    is_after_reset: bool
    supposed: list[Term] = field(default_factory=list)


class Composition(Facts):
    """The proof of one pipeline.

    Args:
        handshake: the netlist, the book, and the next states of all ghosts. intended: the values of the token.

    Raises:
        IncompleteProof: a ghost that is a wire.
    """

    def __init__(self, handshake: Handshake, intended: Intended) -> None:
        super().__init__(handshake.logic.terms)
        self.handshake, self.intended, self._logic = handshake, intended, handshake.logic
        netlist = self.netlist = handshake.registers.netlist
        self._after = {bits.term: netlist.after[name].term for name, bits in netlist.registers.items()}
        self._ghosts: dict[Term, Term] = {}
        for variable, after in handshake.after.items():
            if variable in netlist.source:
                if self._after.get(variable) != after:
                    raise IncompleteProof(f"{variable.symbol()} is a wire, so its next state is the netlist's")
            else:
                self._ghosts[variable] = self.terms.number(0, variable.sort().bv_size()).term
                self._after[variable] = after

    # 1. induction

    def begin(self, is_after_reset: bool) -> Induction:
        """An induction in which nothing is supposed yet."""
        return Induction(self._logic.bit(self.terms.free("what is supposed holds", 1)), is_after_reset)

    def suppose(self, induction: Induction, formula: Term) -> Fact:
        """Suppose a formula of every state; the fact is that it holds before an edge.

        Raises:
            IncompleteProof: it is not about states alone.
        """
        beyond = [v for v in variables([formula]) if v not in self._after and v not in self.intended.variables]
        if beyond:
            raise IncompleteProof(f"{beyond[0].symbol()} is no part of a state")
        induction.supposed.append(formula)
        return self._made([formula], induction.guard)[0]

    def running(self, induction: Induction) -> Fact:
        """The fact that rst is low.

        Raises:
            IncompleteProof: the induction does not begin with a reset.
        """
        if not induction.is_after_reset:
            raise IncompleteProof("rst may be high before an edge")
        return self._made([self._logic.no(self.handshake.reset)], induction.guard)[0]

    def first(self, induction: Induction, formula: Term) -> tuple[Term, Term | None]:
        """The facts to establish of the first state, each with its guard."""
        if induction.is_after_reset:
            return self.next(formula), self.handshake.reset
        return self._substituted(formula, self._ghosts), None

    def next(self, formula: Term) -> Term:
        """A formula of the state after the next edge."""
        return self._substituted(formula, self._after)

    def always(self, induction: Induction) -> list[Fact]:
        """The suppositions as facts.

        Raises:
            IncompleteProof: one is not established of the first state, or after an edge.
        """
        known = {(fact.formula, fact.guard) for fact in self._facts}
        for formula in induction.supposed:
            if not {self.first(induction, formula), (self.first(induction, formula)[0], None)} & known:
                raise IncompleteProof("a supposition is not established of the first state")
            if not {(self.next(formula), induction.guard), (self.next(formula), None)} & known:
                raise IncompleteProof("a supposition is not established of the state after an edge")
        return self._made(induction.supposed, None)

    # 2. obligations

    def establish(self, name: str, conclusion: Term, *, assume: Sequence[Fact] = (), guard: Term | None = None) -> Fact:
        """Turn a conclusion into a fact, by an obligation.

        Raises:
            IncompleteProof: a fact of another proof or under another guard.
        """
        self._oblige(name, self._assumed(name, assume, guard), [conclusion])
        return self._made([conclusion], guard)[0]

    def establish_of_any_values(
        self, name: str, conclusion: Term, *, assume: Sequence[Fact] = (), guard: Term | None = None
    ) -> Fact:
        """The same, if it follows whatever the values are: an equality of a choice that the handshake makes is a choice of
        equalities, and each of these may be true or false. So the obligation does not depend on any width.

        Raises:
            IncompleteProof: likewise.
        """
        equalities = _Equalities(self)
        assumed = [equalities.freed(formula) for formula in self._assumed(name, assume, guard)]
        self._oblige(name, assumed, [equalities.freed(conclusion)])
        return self._made([conclusion], guard)[0]

    def conditional(self, premises: Sequence[Term], left: Term, right: Term) -> Term:
        """The formula that two terms are equal while some premises hold."""
        equal = self.terms.manager.mk_term(Kind.EQUAL, [left, right])
        return self.terms.manager.mk_term(Kind.IMPLIES, [self._logic.all(premises), equal]) if premises else equal

    def replaced(self, premises: Sequence[Term], left: Term, right: Term, guard: Term | None) -> Fact:
        """The fact that `conditional` states; for `replacement.py` alone, whose rule it is."""
        return self._made([self.conditional(premises, left, right)], guard)[0]

    def has(self, fact: Fact, guard: Term | None) -> bool:
        """Whether a fact is one of this proof that holds under a guard."""
        return fact in self._facts and fact.holds_under(guard)

    # 3. the claim

    def claim(self, rule: Rule) -> Term:
        """The statement of a rule of the handshake about the values themselves, in a cycle in which rst is low."""
        logic, handshake, netlist = self._logic, self.handshake, self.netlist
        formula = rule.holds
        if rule.name == RESULT:
            equal = self.terms.manager.mk_term(Kind.EQUAL, [netlist.outputs["d"].term, self.intended.result.term])
            is_whole = logic.equal(handshake.book.taken, handshake.steps)
            formula = logic.implies(logic.all([handshake.leaves, handshake.is_next]), logic.all([is_whole, equal]))
        elif rule.name == STAYS:
            formula = logic.implies(handshake.waits, logic.all(self.stays(name) for name in self.behind_result()))
            if not self.rests_on_registers():
                formula = logic.no(handshake.waits)
        return logic.implies(logic.no(handshake.reset), formula)

    def stays(self, name: str) -> Term:
        """The formula that a register keeps its value at the next edge."""
        state = self.netlist.registers[name].term
        return self.terms.manager.mk_term(Kind.EQUAL, [self._after[state], state])

    def behind_result(self) -> list[str]:
        """The registers of which d is a function."""
        reached = self.netlist.reached(self.netlist.outputs["d"].term)
        return sorted(self.netlist.source[term].name for term in reached if self.netlist.source[term].kind == "register")

    def rests_on_registers(self) -> bool:
        """Whether d is a function of registers alone."""
        reached = self.netlist.reached(self.netlist.outputs["d"].term)
        return all(self.netlist.source[term].kind == "register" for term in reached)

    def concluded(self) -> None:
        """Check that all rules are facts.

        Raises:
            IncompleteProof: one is not.
        """
        known = {fact.formula for fact in self._facts if fact.guard is None}
        for rule in self.handshake.rules():
            if self.claim(rule) not in known:
                raise IncompleteProof(f"no fact says: {rule.name}")

    def _substituted(self, term: Term, by: Mapping[Term, Term]) -> Term:
        return self.terms.manager.substitute_term(term, dict(by))


class _Equalities:
    """Equalities of values, each of which becomes a variable."""

    def __init__(self, composition: Composition) -> None:
        self._terms, self._logic = composition.terms, composition.handshake.logic
        self._registers = composition.handshake.registers
        self._ghosts = {*composition.handshake.after, composition.handshake.choose.term}
        self._any: dict[Term, Term] = {}

    def freed(self, formula: Term) -> Term:
        """A formula without the equalities of values."""
        if formula.kind() == Kind.EQUAL and not self._is_of_handshake(formula):
            return self._equal(*formula.children())
        if not formula.sort().is_bool() or formula.is_const() or not formula.children() or formula.kind() == Kind.EQUAL:
            return formula
        parts = [self.freed(part) if part.sort().is_bool() else part for part in formula.children()]
        return self._terms.manager.mk_term(formula.kind(), parts, list(formula.indices()))

    def _equal(self, left: Term, right: Term) -> Term:
        if left == right:
            return self._logic.true
        if is_choice(left) and self._is_of_handshake(left.children()[0]):
            condition, yes, no = left.children()
            return self._logic.choice(condition, self._equal(yes, right), self._equal(no, right))
        equality = self._terms.manager.mk_term(Kind.EQUAL, [left, right])
        if equality not in self._any:
            self._any[equality] = self._logic.bit(self._terms.free("equal", 1))
        return self._any[equality]

    def _is_of_handshake(self, term: Term) -> bool:
        return all(v in self._ghosts or self._registers.is_control(v) for v in variables([term]))
