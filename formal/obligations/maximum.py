"""The largest exponent found from all differences at once: which one is selected, and how far the others lie below it.

A wire for each pair says which of the two is larger. Exponent i is selected where it loses to none; that one is, no two are,
and that the selected one is the largest stands in facts of its own, so that what is selected needs no more than them.
"""

import re
from collections.abc import Sequence
from functools import reduce

from bitwuzla import Kind, Term

from formal.obligations.proof import Fact, Proof, supports
from formal.specification.numbers import Flag, all_of, any_of
from formal.specification.values import Exponent
from rtl.verilog.terms import Bits

WINS = re.compile(r"^[^.]*max_exp\.wins_\d+_\d+$")


def is_comparison(wire: str) -> bool:
    """Whether a wire, by path and name, says which of two exponents is the larger one."""
    return WINS.match(wire) is not None


class PairwiseProof:
    """The proof of a maximum that is found in pairs.

    Args:
        proof: where facts go. name: of the component. largest: what is specified of its result.
        guard: where facts hold. about: facts about the exponents.
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
        bounds = [self._holds(exp <= e_max) for exp in exps]
        is_one = self._holds(any_of([e_max.equals(exp) for exp in exps]))
        *at_most, one = self._fact("largest", [*bounds, is_one], self._about)
        # 2. the first that it is is selected, and what is selected is the largest
        facts, found = [], list[Fact]()
        for i, exp in enumerate(exps):
            mine = [fact for pair, fact in wins.items() if i in pair]
            is_first = all_of([e_max.equals(exp), *(~e_max.equals(other) for other in exps[:i])])
            given = [*mine, *at_most, one, *self._about]
            found += self._fact("selects", [self._implied(is_first, self._selected[i])], given)
            facts += self._fact("selected", [self._implied(self._selected[i], e_max.equals(exp))], given)
        facts += self._fact("one", [self._holds(any_of(self._selected))], [one, *found])
        return facts

    def gaps(self, read: Exponent, known: Sequence[Fact]) -> list[Fact]:
        """Facts how far each exponent lies below the largest.

        Args:
            read: the result as it is on its wires. known: facts about it and about what is selected.
        """
        facts = []
        for k, exp in enumerate(self._exps):
            if not self._proof.netlist.has(f"{self._name}.gap_{k}"):  # the term stays where it is
                continue
            wire = self._proof.netlist.cut(f"{self._name}.gap_{k}")
            gap = (read.e_max - exp).within(0, max(0, read.e_max.high - exp.low))
            equal = self._proof.terms.manager.mk_term(Kind.EQUAL, [wire.term, gap.held_in(wire.width).term])
            facts += self._fact("gap", [equal], known, wire)
        return facts

    def _loses_to_none(self, i: int) -> Flag:
        none = Flag(self._proof.terms, self._proof.terms.number(1, 1))
        results = [win if i == left else ~win for (left, right), win in self._wins.items() if i in (left, right)]
        return reduce(lambda x, y: x & y, results, none)

    def _compared(self, i: int, j: int) -> Fact:
        win = self._wins[i, j]
        equal = self._proof.terms.manager.mk_term(Kind.EQUAL, [win.bits.term, (self._exps[i] >= self._exps[j]).bits.term])
        wires = supports([self._exps[i].bits.term, self._exps[j].bits.term])
        about = [fact for fact in self._about if fact.wires <= wires]
        (fact,) = self._fact("comparison", [equal], about, win.bits)
        return fact

    def _fact(self, name: str, formulas: list[Term], assume: Sequence[Fact], wire: Bits | None = None) -> list[Fact]:
        driven = [] if wire is None else supports([wire.term]) & self._proof.netlist.definitions.keys()
        return self._proof.establish(f"{self._name} {name}", formulas, unfold=driven, assume=assume, guard=self._guard)

    def _holds(self, flag: Flag) -> Term:
        return self._proof.terms.is_nonzero(flag.bits)

    def _implied(self, premise: Flag, flag: Flag) -> Term:
        return self._proof.terms.manager.mk_term(Kind.IMPLIES, [self._holds(premise), self._holds(flag)])
