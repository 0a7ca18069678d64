"""Invariant of each register of a pipeline: while its token bit is set, it holds the value that the token has there."""

from bitwuzla import Term

from mmau.formal.evaluation import variables
from mmau.formal.obligations.facts import Fact
from mmau.formal.obligations.unit_questions import NotProvable
from mmau.formal.pipelines.composition import Composition
from mmau.formal.pipelines.replacement import Replacement
from mmau.formal.pipelines.tokens import Tokens

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
