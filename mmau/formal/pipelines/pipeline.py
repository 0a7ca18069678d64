"""The claims about a design with registers: about its handshake and its values, with its netlist."""

from mmau.formal.netlist.flat_netlist import FlatNetlist
from mmau.formal.netlist.terms import Terms
from mmau.formal.netlist.verilog_text import read_netlist
from mmau.formal.obligations.facts import Fact
from mmau.formal.obligations.unit_questions import Question, questions_of
from mmau.formal.pipelines.carried_values import VALUES, Carried
from mmau.formal.pipelines.composition import Composition
from mmau.formal.pipelines.converted_tiles import addition_verilog
from mmau.formal.pipelines.datapaths import elements_of
from mmau.formal.pipelines.handshake_rules import RESULT, STAYS, Handshake
from mmau.formal.pipelines.intended import Intended, Reference
from mmau.formal.pipelines.logic import Logic
from mmau.formal.pipelines.pipeline_targets import shape_of
from mmau.formal.pipelines.register_roles import Registers
from mmau.formal.pipelines.tokens import Tokens
from rtl.designs.design import Design

TOP = "unit"
"""The name of the top module; no question contains it."""

HANDSHAKE = "handshake"
"""The first word of the names of questions, as `VALUES` is: the step of each."""


class Pipeline:
    """A design's netlist and the claims about it; its terms live as long as their manager.

    Args:
        terms: makes terms. design: the intended design. verilog: its Verilog, with a top module called `unit`.

    Attributes:
        handshake: its rules.

    Raises:
        NotProvable: registers of unknown purpose. NoTerm: a statement that has no term.
    """

    def __init__(self, terms: Terms, design: Design, verilog: str) -> None:
        self._terms, self._design, self._logic = terms, design, Logic(terms)
        self._modules = read_netlist(verilog)
        self._netlist = FlatNetlist(terms, self._modules, TOP)
        self._registers = Registers(self._netlist, shape_of(design))
        self._tokens = Tokens(self._registers, self._logic)
        self.handshake = Handshake(self._registers, self._tokens, self._logic)

    def questions(self, reference: str) -> list[Question]:
        """All questions, each once.

        Args:
            reference: the Verilog of the combinational datapath, its top module called `unit`.

        Raises:
            NotProvable: values of unknown origin. IncompleteProof: the proof does not lead to the claim.
        """
        return questions_of(self.proof(reference))

    def proof(self, reference: str) -> Composition:
        """The proof, its obligations open; arguments and errors as for `questions`."""
        terms, elements = self._terms, elements_of(self._design, self._terms, self._netlist)
        added = addition_verilog(self._design)
        intended = Intended(
            terms, self._netlist, self._modules, elements, self._reference(reference), self._registers.shape.steps,
            None if added is None else self._reference(added),
        )  # fmt: skip
        proof = Composition(self.handshake, intended)
        value = Carried(proof, self._tokens).result()
        states = self._reachable_states(proof)
        for rule in self.handshake.rules():
            claim, name = proof.claim(rule), f"{HANDSHAKE} {rule.name}"
            if rule.name == RESULT:
                held = self._logic.implies(self._logic.no(self.handshake.reset), rule.holds)
                about = [proof.establish(name, held, assume=states), value]
                proof.establish_of_any_values(f"{VALUES} that are the result", claim, assume=about)
            elif rule.name == STAYS:
                proof.establish_of_any_values(name, claim, assume=states)
            else:
                proof.establish(name, claim, assume=states)
        proof.concluded()
        return proof

    def _reference(self, verilog: str) -> Reference:
        modules = read_netlist(verilog)
        return Reference(FlatNetlist(self._terms, modules, TOP), modules)

    def _reachable_states(self, proof: Composition) -> list[Fact]:
        """The facts about the states that follow a reset."""
        induction = proof.begin(is_after_reset=True)
        invariants = self.handshake.invariants()
        supposed = [proof.suppose(induction, term) for _, term in invariants]
        supposed.append(proof.running(induction))
        for name, term in invariants:
            first, under = proof.first(induction, term)
            proof.establish(f"{HANDSHAKE} after a reset, {name}", first, guard=under)
            proof.establish(f"{HANDSHAKE} by induction, {name}", proof.next(term), assume=supposed, guard=induction.guard)
        return proof.always(induction)
