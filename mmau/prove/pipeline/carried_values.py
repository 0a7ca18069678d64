"""Invariant of each register of a pipeline: while its token bit is set, it holds the value that the token has there."""

from collections.abc import Callable
from dataclasses import dataclass

from bitwuzla import Kind, Term

from mmau.prove.datapath.kernel import Fact, IncompleteProof
from mmau.prove.datapath.unit_questions import NotProvable
from mmau.prove.evaluation import variables
from mmau.prove.netlist.flat_netlist import is_choice
from mmau.prove.pipeline.composition import Composition
from mmau.prove.pipeline.tokens import Tokens

Known = Callable[[str], Fact | None]
"""The fact `premise → register = value` to use for a register; None leaves the register as it is."""

Decided = Callable[[Term], bool | None]
"""Whether a condition of a choice is to be a premise, its negation, or neither."""


@dataclass(frozen=True)
class Replaced:
    """A term that equals another one while all premises hold."""

    term: Term
    premises: tuple[Term, ...] = ()


class Replacement:
    """Replaces wires by values, in one step of the token.

    Args:
        composition: the proof whose facts are used. step: the step of the token. guard: the guard of the facts.
        known, decided: the choices of a proof; a bad one gives a fact that is of no use.
        inside: the replacement at the inputs of an opaque module, by its path.
    """

    def __init__(
        self,
        composition: Composition,
        step: int,
        guard: Term | None,
        known: Known,
        decided: Decided,
        inside: Callable[[str], "Replacement"],
    ) -> None:
        self._composition, self.step, self.guard = composition, step, guard
        self._known, self._decided, self._inside = known, decided, inside
        self._done: dict[Term, Replaced] = {}
        self._logic = composition.handshake.logic

    def fact(self, term: Term) -> tuple[Fact, Replaced]:
        """The fact that a term equals what replaces it, and that."""
        found = self.of(term)
        return self._composition.replaced(found.premises, term, found.term, self.guard), found

    def fact_that(self, name: str, term: Term, value: Term) -> Fact:
        """The fact that a term equals a value; an obligation, if what replaces the term is another term than that."""
        found = self.of(term)
        self._equal(name, found.term, value)
        return self._composition.replaced(found.premises, term, value, self.guard)

    def of(self, term: Term) -> Replaced:
        """The replacement of a term, with its premises."""
        if term not in self._done:
            self._done[term] = self._replaced(term)
        return self._done[term]

    def _replaced(self, term: Term) -> Replaced:
        if term.is_const():
            return self._variable(term)
        if is_choice(term) and (value := self._decided(term.children()[0])) is not None:
            condition, yes, no = term.children()
            chosen = self.of(yes if value else no)
            return Replaced(chosen.term, _joined(chosen.premises, (condition if value else self._logic.no(condition),)))
        parts = [self.of(child) for child in term.children()]
        if not parts:
            return Replaced(term)
        made = self._composition.terms.manager.mk_term(term.kind(), [part.term for part in parts], list(term.indices()))
        return Replaced(made, _joined(*(part.premises for part in parts)))

    def _variable(self, variable: Term) -> Replaced:
        source = self._composition.netlist.source.get(variable)
        if source is None:
            return Replaced(variable)
        if source.kind == "opaque":
            return self._output(variable, source.name)
        if source.kind == "input":
            operands = self._composition.intended.operands[self.step]
            if source.name not in operands:
                return Replaced(variable)
            return Replaced(operands[source.name].term, (self._composition.handshake.arrival(self.step),))
        fact = self._known(source.name)
        return Replaced(variable) if fact is None else self._stated(fact, variable)

    def _stated(self, fact: Fact, variable: Term) -> Replaced:
        """The value of a variable by a fact of the form `premise → variable = value`."""
        if not self._composition.has(fact, self.guard):
            raise IncompleteProof(f"no fact says what {variable.symbol()} holds")
        premise, equality = fact.formula.children() if fact.formula.kind() == Kind.IMPLIES else (None, fact.formula)
        if equality.kind() != Kind.EQUAL or equality.children()[0] != variable:
            raise IncompleteProof(f"the fact does not say what {variable.symbol()} holds")
        return Replaced(equality.children()[1], () if premise is None else (premise,))

    def _output(self, variable: Term, path: str) -> Replaced:
        """An opaque module gives the token's output while its inputs are the token's."""
        call = self._composition.intended.calls.get((path, self.step))
        if call is None or variable not in call.outputs:
            return Replaced(variable)
        premises, inside = tuple[Term, ...](), self._inside(path)
        if inside.step != self.step or inside.guard is not self.guard:
            raise IncompleteProof(f"{path} is read in another step")
        for port, bits in self._composition.netlist.opaque[path].inputs.items():
            found = inside.of(bits.term)
            self._equal(f"{port} of {path}", found.term, call.inputs[port].term)
            premises = _joined(premises, found.premises)
        return Replaced(call.outputs[variable].term, premises)

    def _equal(self, name: str, term: Term, value: Term) -> None:
        """Two terms are equal: the same, or by an obligation."""
        if term != value:
            equal = self._composition.terms.manager.mk_term(Kind.EQUAL, [term, value])
            self._composition.establish(f"registers {name} step {self.step}", equal)


def _joined(*premises: tuple[Term, ...]) -> tuple[Term, ...]:
    """All premises, each once."""
    return tuple(dict.fromkeys(each for some in premises for each in some))


VALUES = "registers"
"""The first word of the questions' names."""


class Carried:
    """Proves what the registers of a pipeline contain.

    Args:
        composition: the proof that collects the facts. tokens: the tokens of the pipeline; their bits are ghosts.
    """

    def __init__(self, composition: Composition, tokens: Tokens) -> None:
        self._composition, self._tokens = composition, tokens
        self._registers = composition.handshake.registers
        self._induction = composition.begin(is_after_reset=False)
        self._guard: Term | None = self._induction.guard
        self._held: dict[tuple[str, int], Fact] = {}
        self._taken: dict[tuple[str, int], Fact] = {}
        self._readers: dict[tuple[int, int], Replacement] = {}
        self._bits = {
            (name, step): bits for group in tokens.groups for name in group.names for step, bits in group.bits.items()
        }

    def result(self) -> Fact:
        """The fact that d is the token's result while the registers that it is read from hold the token's values."""
        composition, shape = self._composition, self._tokens.shape
        at_end = self._reader(shape.steps, shape.stages + 1)
        at_end.of(composition.netlist.outputs["d"].term)  # supposes what it needs, and so on
        for (name, step), supposed in list(self._held.items()):
            self._carry(name, step, supposed)
        always = {fact.formula: fact for fact in composition.always(self._induction)}
        self._held = {key: always[fact.formula] for key, fact in self._held.items()}
        self._readers, self._guard = {}, None
        d, intended = composition.netlist.outputs["d"].term, composition.intended.result.term
        return self._reader(shape.steps, shape.stages + 1).fact_that("that are the result", d, intended)

    def _carry(self, name: str, step: int, supposed: Fact) -> None:
        """Establish that a register holds the value while its bit is set: it takes it, or keeps it."""
        composition, guard = self._composition, self._induction.guard
        first, under = composition.first(self._induction, supposed.formula)
        label = f"{VALUES} {name} step {step}"
        composition.establish_of_any_values(label, first, guard=under)
        after = composition.next(supposed.formula)
        composition.establish_of_any_values(label, after, assume=[supposed, self._taken[name, step]], guard=guard)

    def _reader(self, step: int, depth: int) -> Replacement:
        """The value that a register of a depth reads in a step."""
        if (step, depth) not in self._readers:
            self._readers[step, depth] = Replacement(
                self._composition, step, self._guard,
                known=lambda name: self._known(name, step, depth),
                decided=lambda condition: self._decided(condition, step),
                inside=lambda path: self._reader(step, self._tokens.positions.opaque_depth(path)),
            )  # fmt: skip
        return self._readers[step, depth]

    def _decided(self, condition: Term, step: int) -> bool | None:
        return self._registers.is_chosen(condition, step) if self._registers.is_control(condition) else None

    def _known(self, name: str, step: int, depth: int) -> Fact | None:
        """The contents of a register that a reader at some depth reads: what it took in this step, or in the one before."""
        if name not in self._registers.data:
            return None
        of_step = step - 1 if self._tokens.positions.is_of_step_before(name, depth) else step
        return self._holds(name, of_step) if of_step else None

    def _holds(self, name: str, step: int) -> Fact | None:
        """The value of a step that a register holds; None if it takes a value that is not made of operands alone."""
        if (name, step) not in self._held:
            taken = self._registers.takes(name, step)
            if taken is None:
                raise NotProvable(f"{name} takes nothing with step {step}")
            fact, found = self._reader(step, self._tokens.positions.depth(name)).fact(taken)
            if not self._composition.intended.variables.issuperset(variables([found.term])):
                return None
            register, bit = self._composition.netlist.registers[name].term, self._bits[name, step]
            is_set = self._composition.handshake.logic.bit(bit)
            self._taken[name, step] = fact
            self._held[name, step] = self._composition.suppose(
                self._induction, self._composition.conditional([is_set], register, found.term)
            )
        return self._held[name, step]
