"""All that is said of a design with registers: its netlist, its handshake, and what its values are made of."""

from bitwuzla import Term

from formal.obligations.units import Question
from formal.pipelines.elements import elements_of
from formal.pipelines.handshake import Handshake
from formal.pipelines.logic import Logic
from formal.pipelines.netlist import FlatNetlist
from formal.pipelines.registers import Registers
from formal.pipelines.subjects import shape_of
from formal.pipelines.tokens import Tokens
from formal.pipelines.values import Comparison, Transparent
from formal.smtlib import question
from rtl.designs.design import Design
from rtl.verilog.netlist import read_netlist
from rtl.verilog.terms import Terms

TOP = "unit"
"""What the top module is called: part of no question."""

HANDSHAKE, VALUES = "handshake", "registers"
"""First words of the names of questions: which step they belong to."""


class Pipeline:
    """A design's netlist and all that is said of it; its terms go with their manager.

    Args:
        terms: where terms are made. design: what it should be. verilog: of it, its top module called `unit`.

    Attributes:
        handshake: its rules.

    Raises:
        NotProvable: registers of which it is not known what they are for. NoTerm: a statement that has no term.
    """

    def __init__(self, terms: Terms, design: Design, verilog: str) -> None:
        self._terms, self._design, self._logic = terms, design, Logic(terms)
        self._modules = read_netlist(verilog)
        self._netlist = FlatNetlist(terms, self._modules, TOP)
        self._registers = Registers(self._netlist, shape_of(design))
        self._tokens = Tokens(self._registers, self._logic)
        self.handshake = Handshake(self._registers, self._tokens, self._logic)

    def questions(self, reference: str) -> list[Question]:
        """All of them, each once."""
        found: dict[str, Question] = {}
        for name, violated in [*self._of_handshake(), *self._of_values(reference)]:
            if violated == self._logic.false:
                continue
            text, variables = question(violated)
            found.setdefault(text, Question(name, text, tuple(str(variable.symbol()) for variable in variables)))
        return list(found.values())

    def _of_handshake(self) -> list[tuple[str, Term]]:
        logic, handshake = self._logic, self.handshake
        invariants = handshake.invariants()
        running = logic.no(handshake.reset)
        known = [running, *(term for _, term in invariants)]
        found = []
        for name, term in invariants:
            violated = logic.no(handshake.next(term))
            found.append((f"{HANDSHAKE} after a reset, {name}", logic.all([handshake.reset, violated])))
            found.append((f"{HANDSHAKE} by induction, {name}", logic.all([*known, violated])))
        for rule in handshake.rules():
            found.append((f"{HANDSHAKE} {rule.name}", logic.all([*known, logic.no(rule.holds)])))
        return found

    def _of_values(self, reference: str) -> list[tuple[str, Term]]:
        terms, modules = self._terms, read_netlist(reference)
        transparent = Transparent(self._terms, self._registers, self._tokens)
        comparison = Comparison(terms, transparent, self._modules, FlatNetlist(terms, modules, TOP), modules)
        found = []
        elements = elements_of(self._design, terms, self._netlist, self._tokens)
        for element in elements:
            for step in range(1, self._registers.shape.steps + 1):
                differs = comparison.differs(element, step)
                if differs is not None:
                    found.append((f"{VALUES} of {element.path or 'the datapath'} step {step}", differs))
        given = terms.joined([self._netlist.registers[element.result] for element in reversed(elements)])
        if self._netlist.outputs["d"].term != given.term:
            found.append((f"{VALUES} that are the result", terms.differs(self._netlist.outputs["d"], given)))
        return found
