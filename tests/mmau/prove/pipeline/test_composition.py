"""The rules that make one claim of values and handshake, what modules are given, and the compositions that are refused."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from bitwuzla import Kind, Term

from mmau.prove.datapath.kernel import Fact, IncompleteProof
from mmau.prove.datapath.unit_questions import TOP, NotProvable
from mmau.prove.netlist.flat_netlist import FlatNetlist
from mmau.prove.netlist.terms import Terms, deep_stack
from mmau.prove.netlist.verilog_text import read_netlist
from mmau.prove.pipeline.carried_values import Carried, Replacement
from mmau.prove.pipeline.composition import Composition, Induction
from mmau.prove.pipeline.intended import Intended, Reference, alike
from mmau.prove.pipeline.pipeline import Pipeline, elements_of
from mmau.prove.smtlib import question
from mmau.prove.solvers.installed import solver
from rtl.designs.tile_design import TileDesign
from rtl.designs.unit_design import UnitDesign
from tests.mmau.prove.pipeline.designs import datapath_of, faulty, piped, small_tile, verilog_of
from tests.mmau.prove.pipeline.test_converted_tiles import converting

KIND = "forged compositions, in the checker of proofs"


class Example:
    """The small unit with three stages: its pipeline, and a composition in which nothing is established yet."""

    def __init__(self, terms: Terms, datapath: str) -> None:
        self.design, self.terms = piped(3), terms
        self.pipeline = Pipeline(terms, self.design, verilog_of(self.design))
        self.handshake = self.pipeline.handshake
        netlist, modules = self.handshake.registers.netlist, read_netlist(datapath)
        self.intended = Intended(
            terms, netlist, read_netlist(verilog_of(self.design)), elements_of(self.design, terms, netlist),
            Reference(FlatNetlist(terms, modules, TOP), modules), 1,
        )  # fmt: skip
        self.proof = Composition(self.handshake, self.intended)
        self.netlist, self.logic = netlist, self.handshake.logic

    def register(self, name: str) -> Term:
        return self.netlist.registers[name].term

    def any_value(self, name: str) -> Term:
        """A formula that says something false of a register: it is 0."""
        return self.logic.equal(self.netlist.registers[name], 0)

    def replacement(self, induction: Induction, known: Fact | None) -> Replacement:
        """Replaces every register by what one fact says."""
        return Replacement(
            self.proof, 1, induction.guard, lambda name: known, lambda condition: None,
            lambda path: self.replacement(induction, known),
        )  # fmt: skip


@pytest.fixture
def example() -> Iterator[Example]:
    with deep_stack() as manager:
        yield Example(Terms(manager), datapath_of(piped(3)))


def verdicts(proof: Composition) -> set[str]:
    """The answers on all obligations."""
    return {solver("bitwuzla")(question(each.violated)[0], 10).verdict for each in proof.obligations}


@pytest.mark.slow
@pytest.mark.parametrize("design", [piped(3), small_tile()], ids=["pipeline", "tile"])
def test_a_composition_ends_with_the_claim_about_values(design: UnitDesign | TileDesign) -> None:
    with deep_stack() as manager:
        whole = Pipeline(Terms(manager), design, verilog_of(design))
        proof = whole.proof(datapath_of(design))
        assert verdicts(proof) == {"never"}
        claims = [proof.claim(rule) for rule in whole.handshake.rules()]
        d = whole.handshake.registers.netlist.outputs["d"].term
        equal = proof.terms.manager.mk_term(Kind.EQUAL, [d, proof.intended.result.term])
        assert any(str(equal) in str(claim) for claim in claims)


@pytest.mark.slow
def test_questions_about_values_do_not_depend_on_their_width(example: Example) -> None:
    texts = {each.text for each in example.pipeline.questions(datapath_of(example.design)) if "registers" in each.name}
    assert texts
    assert not [text for text in texts if "BitVec 5" in text or "extract" in text]


@pytest.mark.slow
@pytest.mark.attack(KIND)
def test_rules_that_are_not_established_are_refused(example: Example) -> None:
    with pytest.raises(IncompleteProof, match=r"^no fact says: result is the token's$"):
        example.proof.concluded()
    Carried(example.proof, example.pipeline.handshake.tokens).result()
    with pytest.raises(IncompleteProof, match=r"^no fact says: result is the token's$"):
        example.proof.concluded()


@pytest.mark.slow
@pytest.mark.attack(KIND)
@pytest.mark.parametrize("is_after_reset", [False, True])
def test_a_supposition_that_is_not_established_is_refused(example: Example, is_after_reset: bool) -> None:
    proof, formula = example.proof, example.any_value("d")
    induction = proof.begin(is_after_reset)
    supposed = proof.suppose(induction, formula)
    with pytest.raises(IncompleteProof, match=r"^a supposition is not established of the first state$"):
        proof.always(induction)
    first, under = proof.first(induction, formula)
    proof.establish("first", first, guard=under)
    with pytest.raises(IncompleteProof, match=r"^a supposition is not established of the state after an edge$"):
        proof.always(induction)
    proof.establish("next", proof.next(formula), assume=[supposed], guard=induction.guard)
    proof.always(induction)
    assert "sometimes" in verdicts(proof)


@pytest.mark.slow
@pytest.mark.attack(KIND)
def test_what_is_supposed_cannot_be_used_elsewhere(example: Example) -> None:
    proof, formula = example.proof, example.any_value("d")
    one, other = proof.begin(True), proof.begin(True)
    supposed = proof.suppose(one, formula)
    for guard in (None, other.guard):
        with pytest.raises(IncompleteProof, match=r"^forged assumes a fact that holds under another guard$"):
            proof.establish("forged", formula, assume=[supposed], guard=guard)
    proof.establish("forged", formula, assume=[proof.released(supposed)])  # its premise is no fact
    assert verdicts(proof) == {"sometimes"}


@pytest.mark.slow
@pytest.mark.attack(KIND)
def test_a_supposition_about_ports_is_refused(example: Example) -> None:
    with pytest.raises(IncompleteProof, match=r"^in_valid is no part of a state$"):
        example.proof.suppose(example.proof.begin(True), example.handshake.in_valid)
    with pytest.raises(IncompleteProof, match=r"^rst may be high before an edge$"):
        example.proof.running(example.proof.begin(False))


@pytest.mark.slow
@pytest.mark.attack(KIND)
def test_a_ghost_that_is_a_wire_is_refused(example: Example) -> None:
    state = example.register("d")
    example.handshake.after[state] = state
    with pytest.raises(IncompleteProof, match=r"^d is a wire, so its next state is the netlist's$"):
        Composition(example.handshake, example.intended)


@pytest.mark.attack(KIND)
def test_a_fact_of_another_register_or_proof_replaces_nothing(example: Example) -> None:
    proof, induction = example.proof, example.proof.begin(False)
    d, other = example.register("d"), example.register("accumulate_sum_exp")
    supposed = proof.suppose(induction, proof.conditional([], d, example.intended.result.term))
    with pytest.raises(IncompleteProof, match=r"^the fact does not say what accumulate_sum_exp holds$"):
        example.replacement(induction, supposed).fact(other)
    foreign = replace(supposed)
    with pytest.raises(IncompleteProof, match=r"^no fact says what d holds$"):
        example.replacement(induction, foreign).fact(d)
    with pytest.raises(IncompleteProof, match=r"^no fact says what d holds$"):
        example.replacement(proof.begin(False), supposed).fact(d)


@pytest.mark.slow
@pytest.mark.attack(KIND)
def test_a_register_that_is_said_to_hold_another_value_is_refuted(example: Example) -> None:
    """The token's result at once in the first stage: no such value is carried there."""
    proof, induction = example.proof, example.proof.begin(False)
    register = example.register("accumulate_sum_exp")
    wrong = example.terms.free("wrong", 9)
    example.intended.variables.add(wrong.term)
    group = next(each for each in example.handshake.tokens.groups if "accumulate_sum_exp" in each.names)
    is_set = example.logic.bit(group.bits[1])
    value = example.terms.extended(wrong, register.sort().bv_size())
    formula = proof.conditional([is_set], register, value.term)
    supposed = proof.suppose(induction, formula)
    proof.establish_of_any_values("next", proof.next(formula), assume=[supposed], guard=induction.guard)
    assert verdicts(proof) == {"sometimes"}


@pytest.mark.slow
@pytest.mark.attack(KIND)
def test_an_opaque_module_that_is_another_one_is_refused() -> None:
    design = piped(3)
    other = faulty(verilog_of(design), "propagate[11] & generated[10]", "propagate[11] | generated[10]")
    with deep_stack() as manager:
        pipeline = Pipeline(Terms(manager), design, other)
        with pytest.raises(NotProvable, match=r"^sum_accumulate is another module in the pipeline$"):
            pipeline.proof(datapath_of(design))


def test_modules_are_alike_where_only_their_places_differ() -> None:
    verilog = verilog_of(piped(3))
    modules, moved = read_netlist(verilog), read_netlist("\n\n" + verilog.replace("unit_round", "unit_round_2"))
    assert alike(modules, "unit_round", moved, "unit_round_2")
    other = read_netlist(faulty(verilog, "propagate[11] & generated[10]", "propagate[11] | generated[10]"))
    assert not alike(modules, "unit_accumulate", other, "unit_accumulate")
    assert not alike(modules, "unit_accumulate", modules, "unit_round")


@pytest.mark.slow
@pytest.mark.attack("forged compositions, in the checker of proofs")
def test_a_converter_that_is_to_convert_two_codes_at_once_is_refused() -> None:
    tile = converting()
    datapath = read_netlist(datapath_of(tile))
    with deep_stack() as manager:
        terms = Terms(manager)
        modules = read_netlist(verilog_of(tile))
        netlist = FlatNetlist(terms, modules, TOP)
        first, second = (replace(each, addend=None) for each in elements_of(tile, terms, netlist))
        swapped = dict(zip(first.converters, reversed(list(first.converters.values())), strict=True))
        reference = Reference(FlatNetlist(terms, datapath, TOP), datapath)
        with pytest.raises(NotProvable, match=r"^convert_a_0 is to have two inputs at once in step 1$"):
            Intended(terms, netlist, modules, [replace(first, converters=swapped), second], reference, 2)
        del netlist, reference, first, second, terms
