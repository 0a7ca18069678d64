"""Trees of adders: every part of a tree preserves the sum of its rows."""

import re
from collections.abc import Mapping, Sequence
from functools import reduce

from bitwuzla import Kind, Term

from golden import Implementation
from mmau.prove.datapath.kernel import Fact, Proof, supports
from mmau.prove.netlist.expressions import NoTerm
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.specification.numbers import Flag, Number


class Words:
    """Words of one width.

    Args:
        terms: makes terms. width: bits of every word.
    """

    def __init__(self, terms: Terms, width: int) -> None:
        self.terms, self.width = terms, width

    def number(self, value: int) -> Bits:
        """The constant `value` modulo 2**width."""
        return self.terms.number(value & ((1 << self.width) - 1), self.width)

    def of(self, number: Number) -> Bits:
        """A number modulo 2**width."""
        return number.held_in(self.width)

    def flag(self, flag: Flag) -> Bits:
        """A flag as a word: 0 or 1."""
        return self.terms.extended(flag.bits, self.width)

    def total(self, words: Sequence[Bits]) -> Bits:
        """The sum of words, modulo 2**width."""
        return reduce(lambda x, y: self.terms.apply(Kind.BV_ADD, [x, y], self.width), words)

    def minus(self, x: Bits, y: Bits) -> Bits:
        """x − y, modulo 2**width."""
        return self.terms.apply(Kind.BV_SUB, [x, y], self.width)

    def negative(self, word: Bits) -> Bits:
        """−word, modulo 2**width."""
        return self.terms.apply(Kind.BV_NEG, [word], self.width)

    def inverted(self, word: Bits) -> Bits:
        """The word with every bit inverted."""
        return self.terms.apply(Kind.BV_NOT, [word], self.width)

    def choice(self, flag: Flag, yes: Bits, no: Bits) -> Bits:
        """One of two words, selected by a flag."""
        return self.terms.choice(flag.bits, lambda: yes, lambda: no)

    def equal(self, x: Bits, y: Bits) -> Term:
        """The formula that two words are equal."""
        return self.terms.equal(x, y)

    def at_most(self, x: Bits, y: Bits) -> Term:
        """x ≤ y, both in two's complement."""
        return self.terms.manager.mk_term(Kind.BV_SLE, [x.term, y.term])

    def implies(self, premise: Term, formula: Term) -> Term:
        """The formula that the premise implies the conclusion."""
        return self.terms.manager.mk_term(Kind.IMPLIES, [premise, formula])

    def is_negative(self, word: Bits) -> Flag:
        """The sign of a word in two's complement."""
        return Flag(self.terms, self.terms.part(word, self.width - 1, self.width - 1))


ROWS = re.compile(r"^[^.]*accumulate[^.]*\.(sum|positive|negative|difference|rows)_\d+_\d+$")
PARTIAL_ROWS = re.compile(r"^[^.]*multiply[^.]*\.(partial_\d+_\d+|prod__(sig|carry))$")


def is_row(wire: str) -> bool:
    """Whether a wire, by path and name, is a row of a tree of adders."""
    return ROWS.match(wire) is not None


def is_partial_row(wire: str) -> bool:
    """Whether a wire, by path and name, is a row of a multiplier that is built as rows, or its product."""
    return PARTIAL_ROWS.match(wire) is not None


class TreeProof:
    """The proof of a tree of adders.

    Args:
        proof: collects the facts. name: the name of the component. implementation: its options. width: bits of its rows.
        guard: condition under which facts hold. about: facts about the addends.
    """

    def __init__(
        self, proof: Proof, name: str, implementation: Implementation, width: int, guard: Term | None, about: Sequence[Fact]
    ) -> None:
        self._proof, self._name, self._implementation = proof, name, implementation
        self._guard, self._about, self._words = guard, about, Words(proof.terms, width)

    # 1. trees

    def _first_rows(
        self, name: str, wanted: Sequence[Bits], shapes: Mapping[int, Bits] | None = None
    ) -> tuple[list[Bits], list[Fact]]:
        """The input rows of a tree, and the facts that they have the wanted values.

        Args:
            shapes: rows without a wire of their own in the netlist, as concatenated bits of other wires.
        """
        rows, facts = [], list[Fact]()
        for k, word in enumerate(wanted):
            row = self._wire([f"{name}_0_{k}", *self._also(name, k, len(wanted))]) or (shapes or {}).get(k, word)
            rows.append(row)
            facts += self._unfolded("row", [self._words.equal(row, word)], row, self._about, [])
        return rows, facts

    def _tree(self, name: str, rows: list[Bits], increments: list[Bits]) -> tuple[list[Bits], list[Fact]]:
        """The output rows of a tree, with an obligation for each part of it: the part preserves the sum."""
        words, waiting, current, layer, facts = self._words, list(increments), list(rows), 0, list[Fact]()
        size = 3 if self._implementation.reduction == "carry-save" else 2
        while len(current) > 2:
            layer, reduced = layer + 1, list[Bits]()
            known = self._layer_facts(current, facts)
            whole = len(current) // size * size
            for k in range(0, whole, size):
                given = current[k : k + size] + ([waiting.pop(0)] if waiting else [])
                left = len(current) - whole + whole // size * (size - 1)
                outs = [self._needed(name, layer, len(reduced) + n, left) for n in range(size - 1)]
                reduced += outs
                equal = words.equal(words.total(outs), words.total(given))
                facts += self._unfolded("compressor", [equal], self._proof.terms.joined(outs), known, [])
            current = reduced + current[whole:]
        return current, facts

    def _layer_facts(self, rows: Sequence[Bits], facts: Sequence[Fact]) -> list[Fact]:
        """The assumptions of a layer's compressors: none, for they preserve a sum modulo 2**width.

        Args:
            rows: what the layer reduces. facts: facts of all layers before it.
        """
        return []

    def _also(self, name: str, place: int, left: int) -> list[str]:
        """Other names of an output row of a tree: its name as an input row of the next tree. A row that passes all trees
        unchanged is the second of two."""
        return [f"difference_0_{place if left <= 2 else 1}"] if name == "positive" else []

    def _needed(self, name: str, layer: int, place: int, left: int) -> Bits:
        names = [f"{name}_{layer}_{place}", *self._also(name, place, left)]
        if left <= 2 and self._implementation.encoding == "twos-complement":
            names.append("generated")  # by the last adder, where the other row is the constant −1
        row = self._wire(names)
        if row is None:
            raise NoTerm(f"{self._name} has no wire {' or '.join(names)}")
        return row

    def _wire(self, names: Sequence[str]) -> Bits | None:
        """The wire of the component with one of these names; None if there is none."""
        found = (self._proof.netlist.wire_or_none(self._name, name) for name in names)
        return next((wire for wire in found if wire is not None), None)

    # 2. facts

    def _fact(self, name: str, formulas: Term | list[Term], assume: Sequence[Fact], free: Sequence[Bits]) -> list[Fact]:
        """Facts that follow from established facts."""
        listed = formulas if isinstance(formulas, list) else [formulas]
        return self._proof.establish(
            f"{self._name} {name}", listed, assume=assume, guard=self._guard, generalise=self._variables(free)
        )

    def _unfolded(
        self, name: str, formulas: list[Term], wire: Bits, assume: Sequence[Fact], free: Sequence[Bits]
    ) -> list[Fact]:
        """Facts about wires, from their drivers."""
        unfold = [variable for variable in supports([wire.term]) if self._is_driven(variable)]
        return self._proof.establish(
            f"{self._name} {name}", formulas, unfold=unfold, assume=assume, guard=self._guard,
            generalise=self._variables(free),
        )  # fmt: skip

    def _is_driven(self, variable: Term) -> bool:
        """Whether a wire's variable is replaced by its driver where the wire is unfolded."""
        return variable in self._proof.netlist.definitions

    def _near(self, formula: Term) -> list[Fact]:
        """The facts about the terms of a formula."""
        wires = supports([formula])
        guard = supports([self._guard]) if self._guard is not None else set()
        return [fact for fact in self._about if fact.wires - guard and fact.wires <= wires | guard]

    @staticmethod
    def _variables(free: Sequence[Bits]) -> list[Term]:
        return list(dict.fromkeys(bits.term for bits in free if bits.value is None))
