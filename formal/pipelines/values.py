"""What results are made of: the same as in the combinational datapath, once registers are taken for wires.

Each box of the combinational datapath, which is a module without registers, stands in the pipeline too, is the same module
there, and gets the same at every input; so does d. That is compared box by box, what boxes give being any value: so a whole
datapath is as easily compared as a small one. Where both are not one term, it is a question for a solver.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bitwuzla import Kind, Term

from formal.obligations.units import NotProvable
from formal.pipelines.netlist import FlatNetlist, is_choice
from formal.pipelines.registers import Registers
from formal.pipelines.tokens import Tokens
from rtl.verilog.syntax import Module
from rtl.verilog.terms import Bits, Terms


@dataclass(frozen=True)
class Element:
    """A datapath in a pipeline.

    Attributes:
        path: of its instance, with a dot; "" where it is the whole.
        operands: what its input ports get with the first step. c of a further one is the result of the step before.
        result: the register that holds what it gives.
    """

    path: str
    operands: Mapping[str, Bits]
    result: str


class Transparent:
    """What wires of a pipeline hold of one step of a token, in terms of its operands and of the results of the step before.

    Args:
        terms: where terms are made. registers, tokens: of the pipeline.
    """

    def __init__(self, terms: Terms, registers: Registers, tokens: Tokens) -> None:
        self._terms, self._registers, self._tokens = terms, registers, tokens
        self.netlist = registers.netlist
        self.before = {
            name: terms.free(f"{name} of the step before", bits.width) for name, bits in self.netlist.registers.items()
        }
        self._known: dict[tuple[Term, int, int], Term] = {}

    def of(self, term: Term, step: int, depth: int) -> Term:
        """A term, as a register of that depth reads it."""
        key = (term, step, depth)
        if key not in self._known:
            self._known[key] = self._worked_out(term, step, depth)
        return self._known[key]

    def held(self, name: str, step: int) -> Term:
        """What a register holds.

        Raises:
            NotProvable: it takes nothing with that step.
        """
        taken = self._registers.takes(name, step)
        if taken is None:
            raise NotProvable(f"{name} takes nothing with step {step}")
        return self.of(taken, step, self._tokens.depth(name))

    def box_depth(self, path: str) -> int:
        """At which depth a box reads."""
        return self._tokens.box_depth(path)

    def _worked_out(self, term: Term, step: int, depth: int) -> Term:
        if term.is_const():
            source = self.netlist.source[term]
            if source.kind != "register":
                return term
            if self._tokens.is_of_step_before(source.name, depth):
                return self.before[source.name].term
            return self.held(source.name, step)
        if is_choice(term) and self._registers.is_control(term.children()[0]):
            condition, yes, no = term.children()
            return self.of(yes if self._registers.is_chosen(condition, step) else no, step, depth)
        children = [self.of(child, step, depth) for child in term.children()]
        if children == list(term.children()):
            return term
        return self._terms.manager.mk_term(term.kind(), children, list(term.indices()))


class Comparison:
    """Of a pipeline's element with the combinational datapath.

    Args:
        terms: where terms are made. pipeline: its wires. modules: of its file.
        reference: the combinational datapath. reference_modules: of its file.
    """

    def __init__(
        self,
        terms: Terms,
        pipeline: Transparent,
        modules: Mapping[str, Module],
        reference: FlatNetlist,
        reference_modules: Mapping[str, Module],
    ) -> None:
        self._terms, self._pipeline, self._modules = terms, pipeline, modules
        self._reference, self._reference_modules = reference, reference_modules

    def differs(self, element: Element, step: int) -> Term | None:
        """That something differs; None where both are one term.

        Raises:
            NotProvable: a box that is not there, or another module.
        """
        given = self._given(element, step)
        pairs = list(self._boxes(element, step, given))
        pairs.append(
            (self._pipeline.held(element.result, step), self._substituted(self._reference.outputs["d"].term, given))
        )
        make = self._terms.manager.mk_term
        differing = [make(Kind.DISTINCT, [mine, other]) for mine, other in pairs if mine != other]
        differing = list(dict.fromkeys(differing))
        return self._terms.any_of(differing) if differing else None

    def _given(self, element: Element, step: int) -> dict[Term, Term]:
        """What the variables of the reference are in the pipeline."""
        named = {}
        for variable, source in self._pipeline.netlist.source.items():
            if source.kind == "box":
                named[str(variable.symbol())] = variable
        found: dict[Term, Term] = {}
        for variable, source in self._reference.source.items():
            if source.kind == "input":
                operand = element.operands[source.name].term
                found[variable] = operand if source.name != "c" or step == 1 else self._pipeline.before[element.result].term
            elif (mine := named.get(f"{element.path}{variable.symbol()}")) is not None and mine.sort() == variable.sort():
                found[variable] = mine
        return found

    def _boxes(self, element: Element, step: int, given: Mapping[Term, Term]) -> Iterator[tuple[Term, Term]]:
        for name, box in self._reference.boxes.items():
            path = f"{element.path}{name}"
            mine = self._pipeline.netlist.boxes.get(path)
            if mine is None:
                raise NotProvable(f"the pipeline has no {path}")
            if not alike(self._modules, mine.module, self._reference_modules, box.module):
                raise NotProvable(f"{path} is another module in the pipeline")
            if set(mine.inputs) != set(box.inputs):
                raise NotProvable(f"{path} has other inputs in the pipeline")
            for port, bits in box.inputs.items():
                wire = mine.inputs[port]
                yield self._pipeline.of(wire.term, step, self._pipeline.box_depth(path)), self._substituted(bits.term, given)

    def _substituted(self, term: Term, by: Mapping[Term, Term]) -> Term:
        return self._terms.manager.substitute_term(term, dict(by))


def alike(modules: Mapping[str, Module], name: str, others: Mapping[str, Module], other: str) -> bool:
    """Whether two modules are one text but for names of modules and places in the file, and so are those inside them."""
    mine, its = modules[name], others[other]

    def assigned(module: Module) -> list[tuple[object, object]]:
        return [(each.target, each.expression) for each in module.assignments]

    same = (
        mine.ports == its.ports
        and mine.directions == its.directions
        and mine.ranges == its.ranges
        and mine.signed == its.signed
        and assigned(mine) == assigned(its)
        and not mine.registers and not its.registers
        and len(mine.instances) == len(its.instances)
    )  # fmt: skip
    return same and all(
        one.name == another.name
        and [(each.port, each.operand) for each in one.connections] == [(e.port, e.operand) for e in another.connections]
        and alike(modules, one.module, others, another.module)
        for one, another in zip(mine.instances, its.instances, strict=True)
    )
