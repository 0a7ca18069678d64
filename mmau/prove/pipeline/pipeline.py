"""The claims about a design with registers: about its handshake and its values, with its netlist."""

from collections.abc import Mapping

from golden.chains.chain import Chain
from mmau.prove.datapath.kernel import Fact
from mmau.prove.datapath.unit_questions import TOP, NotProvable, Question, questions_of
from mmau.prove.netlist.flat_netlist import FlatNetlist
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.netlist.verilog_text import read_netlist
from mmau.prove.pipeline.carried_values import VALUES, Carried
from mmau.prove.pipeline.composition import Composition
from mmau.prove.pipeline.handshake_rules import RESULT, STAYS, Handshake
from mmau.prove.pipeline.intended import Element, Intended, Reference
from mmau.prove.pipeline.logic import Logic
from mmau.prove.pipeline.pipeline_targets import addition_verilog, shape_of
from mmau.prove.pipeline.register_roles import Registers
from mmau.prove.pipeline.tokens import Tokens
from rtl.datapath.base import DECODERS, Datapath, DecodedDatapath
from rtl.designs.design import Design
from rtl.designs.tile_design import TileDesign
from rtl.steps.component import never_built

WHOLE = ""
"""The path of a datapath that is the whole design."""


def elements_of(design: Design, terms: Terms, netlist: FlatNetlist) -> list[Element]:
    """The datapaths of a design, in the order of their results in d.

    Raises:
        NotProvable: a converter is missing.
    """
    if not isinstance(design, TileDesign):
        return [Element(WHOLE, netlist.inputs)]
    i, found, tile = design.instruction, [], design.component()
    datapath = tile.element()
    never_built(tile)
    never_built(datapath)
    for row in range(i.m):
        for column in range(i.n):
            operands = {
                "a": _part(terms, netlist.inputs["a"], row, i.m), "b": _part(terms, netlist.inputs["b"], column, i.n),
                "c": _part(terms, netlist.inputs["c"], row * i.n + column, i.m * i.n),
            }  # fmt: skip
            if i.scale is not None:
                lines = {"scale_a": (row, i.m), "scale_b": (column, i.n)}
                operands |= {name: _part(terms, netlist.inputs[name], *lines[name]) for name in i.operation.scale_operands}
            path = f"datapath_{row}_{column}."
            if i.fp16_order is not None:
                places = {"a": row, "b": column}
                found.append(_converted(terms, netlist, i.chain, path, operands, places))
            else:
                found.append(Element(path, operands, at_edge=_at_edge(datapath, row, column)))
    return found


def _at_edge(datapath: Datapath | DecodedDatapath, row: int, column: int) -> dict[str, str]:
    """The decoders that the datapath of an element shares with its row or column."""
    if not isinstance(datapath, DecodedDatapath):
        return {}
    place = {"a": row, "b": column, "scale_a": row, "scale_b": column}
    return {
        f"{DECODERS[operand]}{k}": f"{DECODERS[operand]}{place[operand]}_{k}"
        for operand, parts in datapath.decoders.items()
        for k in range(len(parts))
    }


def _converted(
    terms: Terms,
    netlist: FlatNetlist,
    chain: Chain,
    path: str,
    operands: Mapping[str, Bits],
    places: Mapping[str, int],
) -> Element:
    """A datapath whose operands are converted; its sum starts from zero, and c is added to the result."""
    converters, converted = dict[str, Bits](), dict[str, Bits]()
    for name, fmt in (("a", chain.a), ("b", chain.b)):
        outputs = []
        for k in range(chain.operation.length):
            converter = f"convert_{name}_{places[name] * chain.operation.length + k}"
            converters[converter] = terms.part(operands[name], (k + 1) * fmt.width - 1, k * fmt.width)
            outputs.append(_output(netlist, f"{converter}.converted"))
        converted[name] = terms.joined(outputs[::-1])
    zero = terms.number(0, operands["c"].width)
    adder = path.replace("datapath", "add").removesuffix(".")
    return Element(path, {**converted, "c": zero}, converters, adder, operands["c"])


def _output(netlist: FlatNetlist, wire: str) -> Bits:
    """An output of an opaque module."""
    found = next((v for v, source in netlist.source.items() if source.kind == "opaque" and str(v.symbol()) == wire), None)
    if found is None:
        raise NotProvable(f"the pipeline has no {wire}")
    return Bits(found, found.sort().bv_size())


def _part(terms: Terms, bits: Bits, place: int, count: int) -> Bits:
    """One of several equal parts."""
    width = bits.width // count
    return terms.part(bits, (place + 1) * width - 1, place * width)


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
