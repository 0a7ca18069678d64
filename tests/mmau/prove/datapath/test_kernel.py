"""The rule that makes facts, and the proofs that it refuses."""

import re
from collections.abc import Callable

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


@pytest.fixture
def example() -> Example:
    return Example()


@pytest.fixture
def fact(example: Example) -> Fact:
    """What the sum is."""
    return example.establish(example.sum, example.added())


def verdicts(example: Example) -> list[str]:
    return [solve(question(each.violated)[0], 10).verdict for each in example.proof.obligations]


def holds(example: Example) -> bool:
    """Whether every obligation is proved."""
    return all(verdict == "never" for verdict in verdicts(example))


@pytest.mark.parametrize("verilog", [VERILOG, VERILOG.replace("a + b", "a - b")], ids=["sound", "wrong"])
def test_a_complete_proof_holds_if_the_netlist_is_right(verilog: str) -> None:
    example = Example(verilog)
    example.establish(example.sum, example.added())
    example.establish(example.large, example.is_large(example.sum))
    example.conclude()
    assert holds(example) is (verilog == VERILOG)
    assert verilog == VERILOG or [each.name for each in example.proof.obligations] == ["step"]


def claimed(example: Example) -> Fact:
    """A fact that no proof has established."""
    return Fact(example.equal(example.large, example.is_large(example.sum)), None, example.proof)


def by_cases(example: Example, cases: range) -> object:
    a = example.netlist.inputs["a"].term
    return example.proof.establish("step", [below(example, example.sum, 15)], cases=(a, cases))


NO_VALUE = "no fact states the value given for a reading of wires"
NO_CASES = "cases are numbers of 4 bits in steps of 1, got "
REFUSED: dict[str, tuple[Callable[[Example, Fact], object], str]] = {
    "a step that is left out": (
        lambda e, fact: e.conclude(), "no fact states the value of large[0:0], on which d depends",
    ),
    "a fact of nobody": (
        lambda e, fact: e.proof.establish("d", [fact.formula], assume=[claimed(e)]), "d assumes a fact of another proof",
    ),
    "a value by nobody": (lambda e, fact: e.proof.means(e.large.term, e.is_large(e.sum).term, claimed(e)), NO_VALUE),
    "release of nobody's": (lambda e, fact: e.proof.released(claimed(e)), "only a fact of this proof can be released"),
    "a fact with another conclusion": (
        lambda e, fact: e.proof.means(e.large.term, e.is_large(e.sum).term, fact), NO_VALUE,
    ),
    "a result by another fact": (
        lambda e, fact: e.proof.concluded(fact, "d", e.added(), e.added()),
        "no fact says that d is its specification for every input",
    ),
    "a second meaning": (
        lambda e, fact: e.proof.means(e.sum.term, e.added().term, fact), "a reading of wires has two meanings",
    ),
    "a wire that is not cut": (
        lambda e, fact: e.proof.establish("step", [fact.formula], unfold=[e.netlist.inputs["a"].term]),
        "step unfolds a, which is no cut wire",
    ),
    "a reading of which nothing is known": (
        lambda e, fact: e.proof.fact_about(e.large.term), "no fact states the value of a reading of wires",
    ),
    "a case too many": (lambda e, fact: by_cases(e, range(17)), f"{NO_CASES}range(0, 17)"),
    "every second case": (lambda e, fact: by_cases(e, range(0, 16, 2)), f"{NO_CASES}range(0, 16, 2)"),
    "no case": (lambda e, fact: by_cases(e, range(0)), f"{NO_CASES}range(0, 0)"),
}  # fmt: skip


@pytest.mark.parametrize(("forge", "message"), REFUSED.values(), ids=REFUSED)
def test_what_no_proof_may_do(forge: Callable[[Example, Fact], object], message: str, example: Example, fact: Fact) -> None:
    assert example.proof.fact_about(example.sum.term) is fact
    with pytest.raises(IncompleteProof, match=f"^{re.escape(message)}"):
        forge(example, fact)


def test_steps_that_are_not_the_whole(example: Example) -> None:
    wrong = example.terms.apply(Kind.BV_SUB, list(example.netlist.inputs.values()), 4)
    example.establish(example.sum, wrong)
    example.establish(example.large, example.is_large(example.sum))
    with pytest.raises(IncompleteProof, match=r"^the steps' specifications together are not the specification of d$"):
        example.conclude()


def test_what_holds_under_a_guard_counts_there_alone(example: Example) -> None:
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


def below(example: Example, word: Bits, bound: int) -> Term:
    return example.terms.manager.mk_term(Kind.BV_ULE, [word.term, example.terms.number(bound, 4).term])


def test_what_is_assumed_is_in_the_question(example: Example, fact: Fact) -> None:
    example.proof.establish("bound", [below(example, example.sum, 7)], assume=[fact])
    assert not holds(example)  # the fact does not bound it
    assert example.proof.obligations[-1].assumed == (fact.formula,)


def test_a_generalised_term_loses_what_it_is(example: Example) -> None:
    doubled = example.terms.apply(Kind.BV_ADD, [example.sum, example.sum], 4)
    even = example.equal(example.terms.part(doubled, 0, 0), example.terms.number(0, 1))
    example.proof.establish("even", [even])
    assert holds(example)
    example.proof.establish("even", [even], generalise=[doubled.term])
    assert not holds(example)


@pytest.mark.parametrize(
    ("or_zero", "cases", "expected"),
    [
        (True, range(16), ["never", "never"]),
        (False, range(16), ["sometimes", "never"]),  # b >> 0 may be more than 7
        (True, range(15), ["never", "sometimes"]),  # cases have to be all, whether or not it would hold in the others
        (True, range(1, 16), ["never", "sometimes"]),
    ],
)
def test_cases_one_by_one(or_zero: bool, cases: range, expected: list[str], example: Example) -> None:
    a, b = example.netlist.inputs["a"], example.netlist.inputs["b"]
    claim = below(example, example.terms.apply(Kind.BV_SHR, [b, a], 4), 7)
    if or_zero:
        claim = example.terms.manager.mk_term(Kind.OR, [claim, below(example, a, 0)])
    example.proof.establish("step", [claim], cases=(a.term, cases))
    assert [each.name for each in example.proof.obligations] == ["step", "step cases"]
    assert verdicts(example) == expected


def test_what_is_assumed_settles_which_cases_there_are(example: Example) -> None:
    (fact,) = example.proof.establish("small", [below(example, example.sum, 3)])  # wrong, which its own obligation shows
    example.proof.establish("step", [below(example, example.sum, 9)], assume=[fact], cases=(example.sum.term, range(4)))
    assert verdicts(example) == ["sometimes", "never", "never"]


def test_a_case_stands_for_its_term_everywhere(example: Example) -> None:
    """Two terms that are one number but not one term: the other one stays what it is."""
    a, b = example.netlist.inputs["a"], example.netlist.inputs["b"]
    doubled = example.terms.apply(Kind.BV_ADD, [a, b], 4)
    example.proof.establish("step", [example.equal(doubled, example.terms.number(3, 4))], cases=(doubled.term, range(16)))
    assert not holds(example)


def test_registers_are_refused() -> None:
    clocked = VERILOG.replace("  assign sum = a + b;", "  always @(posedge clk)\n    sum <= a;")
    clocked = clocked.replace("(a, b, d)", "(a, b, clk, d)").replace("wire [3:0] sum", "reg [3:0] sum")
    clocked = clocked.replace("  input [3:0] b;", "  input clk;\n  wire clk;\n  input [3:0] b;")
    with pytest.raises(NoTerm, match=r"^unit has registers, where a combinational circuit must be$"):
        Example(clocked)
