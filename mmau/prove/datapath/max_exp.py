"""Proof of step max_exp: the claims about the largest exponent, and the proof of one found by pairwise comparisons.

There a wire for each pair compares the two exponents. Exponent i is selected if it loses no comparison. Separate facts state
that one exponent is selected, that no two are, and that the selected one is the largest; later proofs need only these facts.
"""

import re
from collections.abc import Sequence
from functools import reduce

from bitwuzla import Term

from mmau.prove.datapath.kernel import Fact, Proof, supports
from mmau.prove.datapath.ranges import implied, in_range
from mmau.prove.netlist.terms import Bits
from mmau.prove.specification.numbers import Flag, all_of, any_of
from mmau.prove.specification.step_results import Exponent

PORT = "{}"
"""The component's ports for the parts of its result."""

WINS = re.compile(r"^[^.]*max_exp\.wins_\d+_\d+$")


def claims(largest: Exponent) -> list[Term]:
    """The formulas that alignment relies on: the largest exponent lies within its bounds, and no exponent exceeds it."""
    return [*in_range(largest), *((term.exp <= largest.e_max).holds for term in largest.terms)]


def is_comparison(wire: str) -> bool:
    """Whether a wire, by path and name, is the result of a comparison of two exponents."""
    return WINS.match(wire) is not None


class PairwiseProof:
    """The proof of a maximum that is found by pairwise comparisons.

    Args:
        proof: collects the facts. name: name of the component. largest: its specified result.
        guard: condition under which facts hold. about: facts about the exponents.
    """

    def __init__(self, proof: Proof, name: str, largest: Exponent, guard: Term | None, about: Sequence[Fact]) -> None:
        self._proof, self._name, self._guard, self._about = proof, name, guard, about
        self._exps, self._e_max = [term.exp for term in largest.terms], largest.e_max
        self._wins = {
            (i, j): Flag(proof.terms, proof.netlist.wire(name, f"wins_{i}_{j}"))
            for j in range(len(self._exps))
            for i in range(j)
        }
        self._selected = [self._loses_to_none(i) for i in range(len(self._exps))]

    def selection(self) -> list[Fact]:
        """Facts that one exponent is selected, and that it is the largest, the first of equal ones."""
        exps, e_max = self._exps, self._e_max
        wins = {pair: self._compared(*pair) for pair in self._wins}
        # 1. the specified maximum is one of them, and none is larger
        bounds = [(exp <= e_max).holds for exp in exps]
        is_one = any_of([e_max.equals(exp) for exp in exps]).holds
        *at_most, one = self._fact("largest", [*bounds, is_one], self._about)
        # 2. the first exponent that equals it is selected, and the selected one is the largest
        facts, found = [], list[Fact]()
        for i, exp in enumerate(exps):
            mine = [fact for pair, fact in wins.items() if i in pair]
            is_first = all_of([e_max.equals(exp), *(~e_max.equals(other) for other in exps[:i])])
            given = [*mine, *at_most, one, *self._about]
            found += self._fact("selects", [implied(is_first, self._selected[i].holds)], given)
            facts += self._fact("selected", [implied(self._selected[i], e_max.equals(exp).holds)], given)
        facts += self._fact("one", [any_of(self._selected).holds], [one, *found])
        return facts

    def gaps(self, read: Exponent, known: Sequence[Fact]) -> list[Fact]:
        """Facts about the gap of each exponent to the largest.

        Args:
            read: the result, read from its wires. known: facts about it and about the selected exponent.
        """
        facts = []
        for k, exp in enumerate(self._exps):
            if not self._proof.netlist.has(f"{self._name}.gap_{k}"):  # the term stays where it is
                continue
            wire = self._proof.netlist.cut(f"{self._name}.gap_{k}")
            gap = (read.e_max - exp).within(0, max(0, read.e_max.high - exp.low))
            equal = self._proof.terms.equal(wire, gap.held_in(wire.width))
            facts += self._fact("gap", [equal], known, wire)
        return facts

    def _loses_to_none(self, i: int) -> Flag:
        none = Flag(self._proof.terms, self._proof.terms.number(1, 1))
        results = [win if i == left else ~win for (left, right), win in self._wins.items() if i in (left, right)]
        return reduce(lambda x, y: x & y, results, none)

    def _compared(self, i: int, j: int) -> Fact:
        win = self._wins[i, j]
        equal = self._proof.terms.equal(win.bits, (self._exps[i] >= self._exps[j]).bits)
        wires = supports([self._exps[i].bits.term, self._exps[j].bits.term])
        about = [fact for fact in self._about if fact.wires <= wires]
        (fact,) = self._fact("comparison", [equal], about, win.bits)
        return fact

    def _fact(self, name: str, formulas: list[Term], assume: Sequence[Fact], wire: Bits | None = None) -> list[Fact]:
        driven = [] if wire is None else supports([wire.term]) & self._proof.netlist.definitions.keys()
        return self._proof.establish(f"{self._name} {name}", formulas, unfold=driven, assume=assume, guard=self._guard)
