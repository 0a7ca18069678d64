"""The rule that makes facts, and the proofs that it refuses."""

import pytest
from bitwuzla import Kind, Term, TermManager

from mmau.prove.datapath.cut_netlist import CutNetlist
from mmau.prove.datapath.kernel import Fact, IncompleteProof, Proof
from mmau.prove.netlist.expressions import NoTerm
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.netlist.verilog_text import read_netlist
from mmau.prove.smtlib import question
from mmau.prove.solvers.with_bitwuzla import solve

VERILOG = """module unit(a, b, d);
  input [3:0] a;
  wire [3:0] a;
  input [3:0] b;
  wire [3:0] b;
  output [3:0] d;
  wire [3:0] d;
  wire [3:0] sum;
  wire large;
  assign sum = a + b;
  assign large = sum > 4'h7;
  assign d = large ? 4'h0 : sum;
endmodule
"""


class Example:
    """The netlist above with `sum` and `large` cut; d is a + b, or 0 where that is 8 or more."""

    def __init__(self, verilog: str = VERILOG) -> None:
        self.terms = Terms(TermManager())
        self.netlist = CutNetlist(self.terms, read_netlist(verilog), "unit", (), lambda wire: wire in ("sum", "large"))
        self.proof = Proof(self.netlist)
        self.sum, self.large = self.netlist.cut("sum[3:0]"), self.netlist.cut("large[0:0]")

    def added(self) -> Bits:
        """The specification of `sum`."""
        inputs = self.netlist.inputs
        return self.terms.apply(Kind.BV_ADD, [inputs["a"], inputs["b"]], 4)

    def is_large(self, word: Bits) -> Bits:
        """The specification of `large`."""
        return self.terms.truth(self.terms.manager.mk_term(Kind.BV_UGT, [word.term, self.terms.number(7, 4).term]))

    def chosen(self, large: Bits, word: Bits) -> Bits:
        """The specification of `d`."""
        return self.terms.choice(large, lambda: self.terms.number(0, 4), lambda: word)

    def equal(self, x: Bits, y: Bits) -> Term:
        return self.terms.manager.mk_term(Kind.EQUAL, [x.term, y.term])

    def establish(self, wire: Bits, specified: Bits) -> Fact:
        (fact,) = self.proof.establish("step", [self.equal(wire, specified)], unfold=[wire.term])
        self.proof.means(wire.term, specified.term, fact)
        return fact

    def whole(self) -> Bits:
        return self.chosen(self.is_large(self.added()), self.added())

    def conclude(self) -> None:
        specified = self.chosen(self.large, self.sum)
        (result,) = self.proof.establish("d", [self.equal(self.netlist.outputs["d"], specified)])
        self.proof.concluded(result, "d", specified, self.whole())


def holds(proof: Proof) -> bool:
    """Whether every obligation is proved."""
    return all(solve(question(each.violated)[0], 10).verdict == "never" for each in proof.obligations)


def test_a_complete_proof() -> None:
    example = Example()
    example.establish(example.sum, example.added())
    example.establish(example.large, example.is_large(example.sum))
    example.conclude()
    assert holds(example.proof)


def test_a_wrong_netlist_is_refuted() -> None:
    example = Example(VERILOG.replace("a + b", "a - b"))
    example.establish(example.sum, example.added())
    example.establish(example.large, example.is_large(example.sum))
    example.conclude()
    assert [each.name for each in example.proof.obligations] == ["step"]
    assert not holds(example.proof)


def test_a_step_that_is_left_out() -> None:
    example = Example()
    example.establish(example.sum, example.added())
    with pytest.raises(IncompleteProof, match=r"^no fact states the value of large\[0:0\], on which d depends$"):
        example.conclude()


def test_steps_that_are_not_the_whole() -> None:
    example = Example()
    wrong = example.terms.apply(Kind.BV_SUB, list(example.netlist.inputs.values()), 4)
    example.establish(example.sum, wrong)
    example.establish(example.large, example.is_large(example.sum))
    with pytest.raises(IncompleteProof, match=r"^the steps' specifications together are not the specification of d$"):
        example.conclude()


def test_a_fact_of_nobody() -> None:
    example = Example()
    claimed = Fact(example.equal(example.sum, example.added()), None, example.proof)
    with pytest.raises(IncompleteProof, match=r"^d assumes a fact of another proof$"):
        example.proof.establish("d", [claimed.formula], assume=[claimed])
    with pytest.raises(IncompleteProof, match=r"^no fact states the value given for a reading of wires$"):
        example.proof.means(example.sum.term, example.added().term, claimed)
    with pytest.raises(IncompleteProof, match=r"^only a fact of this proof can be released$"):
        example.proof.released(claimed)


def test_a_fact_with_another_conclusion() -> None:
    example = Example()
    fact = example.establish(example.sum, example.added())
    with pytest.raises(IncompleteProof, match=r"^no fact states the value given for a reading of wires$"):
        example.proof.means(example.large.term, example.is_large(example.sum).term, fact)
    with pytest.raises(IncompleteProof, match=r"^no fact says that d is its specification for every input$"):
        example.proof.concluded(fact, "d", example.added(), example.added())


def test_a_second_meaning() -> None:
    example = Example()
    fact = example.establish(example.sum, example.added())
    with pytest.raises(IncompleteProof, match=r"^a reading of wires has two meanings$"):
        example.proof.means(example.sum.term, example.added().term, fact)


def test_a_wire_that_is_not_cut() -> None:
    example = Example()
    port = example.netlist.inputs["a"].term
    with pytest.raises(IncompleteProof, match=r"^step unfolds a, which is no cut wire$"):
        example.proof.establish("step", [example.equal(example.sum, example.added())], unfold=[port])


def test_what_holds_under_a_guard_counts_there_alone() -> None:
    example = Example()
    guard = example.terms.is_nonzero(example.large)
    (fact,) = example.proof.establish(
        "step", [example.equal(example.sum, example.added())], unfold=[example.sum.term], guard=guard
    )
    example.proof.means(example.sum.term, example.added().term, fact)
    with pytest.raises(IncompleteProof, match=r"^d assumes a fact that holds under another guard$"):
        example.proof.establish("d", [fact.formula], assume=[fact])
    example.establish(example.large, example.is_large(example.sum))
    with pytest.raises(IncompleteProof, match=r"^a fact is used where its guard may not hold$"):
        example.conclude()


def test_what_is_assumed_is_in_the_question() -> None:
    example = Example()
    fact = example.establish(example.sum, example.added())
    below = example.terms.manager.mk_term(Kind.BV_ULE, [example.sum.term, example.terms.number(7, 4).term])
    example.proof.establish("bound", [below], assume=[fact])
    assert not holds(example.proof)  # the fact does not bound it
    assert example.proof.obligations[-1].assumed == (fact.formula,)


def test_a_generalised_term_loses_what_it_is() -> None:
    example = Example()
    doubled = example.terms.apply(Kind.BV_ADD, [example.sum, example.sum], 4)
    even = example.equal(example.terms.part(doubled, 0, 0), example.terms.number(0, 1))
    example.proof.establish("even", [even])
    assert holds(example.proof)
    example.proof.establish("even", [even], generalise=[doubled.term])
    assert not holds(example.proof)


def below(example: Example, word: Bits, bound: int) -> Term:
    return example.terms.manager.mk_term(Kind.BV_ULE, [word.term, example.terms.number(bound, 4).term])


def test_cases_one_by_one() -> None:
    example = Example()
    a, b = example.netlist.inputs["a"], example.netlist.inputs["b"]
    shifted = example.terms.apply(Kind.BV_SHR, [b, a], 4)
    either = example.terms.manager.mk_term(Kind.OR, [below(example, shifted, 7), below(example, a, 0)])
    example.proof.establish("step", [either], cases=(a.term, range(16)))
    assert [each.name for each in example.proof.obligations] == ["step", "step cases"]
    assert holds(example.proof)


def test_a_case_in_which_it_does_not_hold() -> None:
    example = Example()
    a, b = example.netlist.inputs["a"], example.netlist.inputs["b"]
    shifted = example.terms.apply(Kind.BV_SHR, [b, a], 4)
    example.proof.establish("step", [below(example, shifted, 7)], cases=(a.term, range(16)))
    assert not holds(example.proof)


def test_a_case_that_is_left_out() -> None:
    """Whether it is at an end or the conclusion would hold there makes no difference: cases have to be all."""
    for cases in (range(15), range(1, 16)):
        example = Example()
        a = example.netlist.inputs["a"]
        example.proof.establish("step", [below(example, a, 15)], cases=(a.term, cases))
        verdicts = [solve(question(each.violated)[0], 10).verdict for each in example.proof.obligations]
        assert verdicts == ["never", "sometimes"]


def test_what_is_assumed_settles_which_cases_there_are() -> None:
    example = Example()
    (fact,) = example.proof.establish("small", [below(example, example.sum, 3)])  # wrong, which its own obligation shows
    example.proof.establish("step", [below(example, example.sum, 9)], assume=[fact], cases=(example.sum.term, range(4)))
    verdicts = [solve(question(each.violated)[0], 10).verdict for each in example.proof.obligations]
    assert verdicts == ["sometimes", "never", "never"]


def test_a_case_stands_for_its_term_everywhere() -> None:
    """Two terms that are one number but not one term: the other one stays what it is."""
    example = Example()
    a, b = example.netlist.inputs["a"], example.netlist.inputs["b"]
    doubled = example.terms.apply(Kind.BV_ADD, [a, b], 4)
    example.proof.establish("step", [example.equal(doubled, example.terms.number(3, 4))], cases=(doubled.term, range(16)))
    assert not holds(example.proof)


def test_cases_that_are_no_numbers_of_a_term() -> None:
    example = Example()
    a = example.netlist.inputs["a"].term
    for cases in (range(17), range(0, 16, 2), range(0)):
        with pytest.raises(IncompleteProof, match=r"^cases are numbers of 4 bits in steps of 1, got range\("):
            example.proof.establish("step", [below(example, example.sum, 15)], cases=(a, cases))


def test_a_reading_of_which_nothing_is_known() -> None:
    example = Example()
    fact = example.establish(example.sum, example.added())
    assert example.proof.fact_about(example.sum.term) is fact
    with pytest.raises(IncompleteProof, match=r"^no fact states the value of a reading of wires$"):
        example.proof.fact_about(example.large.term)


def test_registers_are_refused() -> None:
    clocked = VERILOG.replace("  assign sum = a + b;", "  always @(posedge clk)\n    sum <= a;")
    clocked = clocked.replace("(a, b, d)", "(a, b, clk, d)").replace("wire [3:0] sum", "reg [3:0] sum")
    clocked = clocked.replace("  input [3:0] b;", "  input clk;\n  wire clk;\n  input [3:0] b;")
    with pytest.raises(NoTerm, match=r"^unit has registers, where a combinational circuit must be$"):
        Example(clocked)
