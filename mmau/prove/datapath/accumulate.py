"""Proof of step accumulate in the sign frame of one term: terms of the other sign are inverted, without the increment of a
negation."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate
from operator import or_

from bitwuzla import Kind, Term

from golden import Implementation
from mmau.prove.datapath.kernel import Fact, Proof
from mmau.prove.datapath.multiplier import row_excess_of
from mmau.prove.datapath.trees import TreeProof
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.specification.numbers import Flag, Number
from mmau.prove.specification.step_results import Aligned, Total, Word
from mmau.prove.specification.steps import signed_terms
from rtl.arithmetic.leading_zeros import ANTICIPATION_ERROR


def close(terms: Terms, total: Bits, zeros: Bits) -> list[Term]:
    """The formulas that a total other than 0 has at least `zeros` leading zeros, and at most `ANTICIPATION_ERROR` more.

    The largest total with n leading zeros is a word of ones shifted right by n; the least one is the top bit shifted right
    by n.
    """
    width = max(total.width, zeros.width + 2)
    held, places = terms.extended(total, width), terms.extended(zeros, width)
    more = terms.apply(Kind.BV_ADD, [places, terms.number(ANTICIPATION_ERROR, width)], width)
    largest = terms.apply(Kind.BV_SHR, [terms.number((1 << total.width) - 1, width), places], width)
    least = terms.apply(Kind.BV_SHR, [terms.number(1 << (total.width - 1), width), more], width)
    at_least = terms.manager.mk_term(Kind.BV_ULE, [held.term, largest.term])
    at_most = terms.manager.mk_term(Kind.BV_ULE, [least.term, held.term])
    return [at_least, terms.manager.mk_term(Kind.IMPLIES, [terms.is_nonzero(total), at_most])]


def parity(terms: Terms, total: Bits, summed: Sequence[Bits]) -> Term:
    """The formula that a total is odd if an odd number of the terms is; terms that end in a constant 0 do not count."""
    lowest = [_lowest(terms, bits) for bits in summed]
    odd = [bit for bit in lowest if bit.value != 0]
    together = reduce(lambda x, y: terms.apply(Kind.BV_XOR, [x, y], 1), odd, terms.number(0, 1))
    return terms.manager.mk_term(Kind.EQUAL, [terms.part(total, 0, 0).term, together.term])


def _lowest(terms: Terms, bits: Bits) -> Bits:
    """The lowest bit; for a concatenation, that of its last part."""
    term = bits.term
    while term.kind() == Kind.BV_CONCAT:
        term = term.children()[-1]
    if term.is_value():
        return terms.number(int(term.value(2), 2) & 1, 1)
    return terms.part(Bits(term, term.sort().bv_size()), 0, 0)


@dataclass(frozen=True)
class Rows:
    """The outputs of a tree of adders: rows and an increment of the last adder. Their sum equals that of the terms
    `relative`."""

    left: list[Bits]
    increment: Bits
    relative: list[Bits]
    facts: list[Fact]


class SumProof(TreeProof):
    """The proof that a component gives sign and magnitude of the sum of aligned terms.

    Args:
        proof: the proof that collects the facts. name: the name of the component. aligned: the terms.
        implementation: its implementation options.
        guard: condition under which facts hold. about: facts about the terms.
    """

    def __init__(
        self,
        proof: Proof,
        name: str,
        aligned: Sequence[Aligned],
        implementation: Implementation,
        guard: Term | None,
        about: Sequence[Fact],
    ) -> None:
        exact = signed_terms(aligned)
        self._aligned, self._bounds = aligned, [number.high for number in exact]
        super().__init__(proof, name, implementation, sum(self._bounds).bit_length() + 1, guard, about)
        self._signed = [self._words.of(number) for number in exact]
        self._magnitudes = [self._words.of(term.aligned) for term in aligned]

    def prove(self, specified: Total, wires: Total) -> list[Fact]:
        """Facts that the wires of the total have the specified values, first its sign, then its magnitude; and facts about
        the leading zeros that come with them.

        Raises:
            NoTerm: a row of the tree is missing.
        """
        match self._implementation.encoding:
            case "ones-complement":
                return self._inverted(specified, wires)
            case "twos-complement":
                rows = self._negated()
            case _:
                rows = self._apart()
        total = self._words.total([*rows.left, rows.increment])
        magnitude = self._last_adder(total, wires, [])
        exact = self._words.total(self._signed)
        whole = self._fact("sum", self._words.equal(total, exact), rows.facts, [*rows.left, *rows.relative])
        sign = self._unfolded("sign", [self._sign_is(wires, total)], wires.sign.bits, [], [])
        facts = self._specified(specified, wires, [*magnitude, *whole, *sign], [total, exact])
        return [*facts, *self._anticipated(wires, specified, facts, magnitude)]

    # 1. the encodings

    def _negated(self) -> Rows:
        """Every negative term is negated by itself; −1 is added because the last adder adds one."""
        minus_one = self._words.number(-1)
        rows, facts = self._first_rows("sum", [*self._signed, minus_one])
        left, more = self._tree("sum", rows, [])
        return Rows(left, self._words.number(1), [*rows, *self._signed], facts + more)

    def _apart(self) -> Rows:
        """Positive and negative magnitudes are summed separately, then subtracted."""
        words, zero, one = self._words, self._words.number(0), self._words.number(1)
        pairs = list(zip(self._aligned, self._magnitudes, strict=True))
        positive = [words.choice(term.sign, zero, m) for term, m in pairs]
        negative = [words.choice(term.sign, m, zero) for term, m in pairs]
        facts = []
        for p, n, u in zip(positive, negative, self._signed, strict=True):
            equal = words.equal(words.minus(p, n), u)
            facts += self._fact("term", equal, self._near(equal), [])
        p_rows, p_facts = self._first_rows("positive", positive)
        n_rows, n_facts = self._first_rows("negative", negative)
        p_left, p_more = self._tree("positive", p_rows, [])
        n_left, n_more = self._tree("negative", n_rows, [])
        complements = [words.inverted(row) for row in n_left]
        for row, complement in zip(n_left, complements, strict=True):
            facts += self._fact("complement", words.equal(complement, words.minus(words.number(-1), row)), [], [row])
        rows, d_facts = self._first_rows("difference", [*p_left, *complements])
        left, d_more = self._tree("difference", rows, [one] * (len(n_left) - 1))
        free = [*rows, *p_left, *n_left, *complements, *p_rows, *n_rows, *positive, *negative, *self._signed]
        return Rows(left, one, free, [*facts, *p_facts, *n_facts, *p_more, *n_more, *d_facts, *d_more])

    def _inverted(self, specified: Total, wires: Total) -> list[Fact]:
        """Every term is inverted if its sign differs from that of the narrowest term; see rtl/steps/accumulate.py."""
        words, widths = self._words, [term.aligned.bits.width for term in self._aligned]
        order = sorted(range(len(widths)), key=lambda k: widths[k])
        first, signed = self._aligned[order[0]], [self._signed[k] for k in order]
        magnitudes = [self._magnitudes[k] for k in order]
        flags = [self._aligned[k].sign ^ first.sign for k in order[1:]]
        bits = [words.flag(flag) for flag in flags]
        relative = [magnitudes[0]]
        relative += [words.choice(flag, words.negative(m), m) for flag, m in zip(flags, magnitudes[1:], strict=True)]
        # 1. rows: each term less its increment, with a constant above it; the first term may be two rows
        tops = [1 << widths[k] for k in order[1:]]
        pair, halves = self._proof.netlist.rows.get(first.aligned.bits.term), [relative[0]]
        in_rows, lowest = list[Fact](), first.aligned.bits
        if pair is not None:
            tops.append(row_excess_of(*pair))
            lowest, halves = pair[0], [self._proof.terms.extended(row, words.width) for row in pair]
            joined = words.equal(words.total([relative[0], words.number(tops[-1])]), words.total(halves))
            in_rows = self._fact("rows", joined, self._near(joined), [])
        wanted = [words.total([halves[0], words.number(-sum(tops))])]
        wanted += [
            words.total([words.minus(r, bit), words.number(top)])
            for r, bit, top in zip(relative[1:], bits, tops, strict=False)
        ]
        wanted += halves[1:]
        above = self._proof.terms.number(
            (-sum(tops) & ((1 << words.width) - 1)) >> widths[order[0]], words.width - widths[order[0]]
        )
        shape = self._proof.terms.joined([above, lowest])
        rows, facts = self._first_rows("sum", wanted, {0: shape})
        facts += in_rows
        # 2. increments: one for each inverted term but the first, and one in the last adder where there is any
        any_before = list(accumulate(flags, or_))
        increments = [words.flag(flag & before) for flag, before in zip(flags[1:], any_before, strict=False)]
        last = words.flag(any_before[-1]) if flags else words.number(0)
        seen = [words.flag(flag) for flag in any_before]
        for k, increment in enumerate(increments):
            equal = words.equal(words.total([seen[k], bits[k + 1]]), words.total([increment, seen[k + 1]]))
            facts += self._fact("increments", equal, [], [])
        left, more = self._tree("sum", rows, increments)
        total, sum_of_relative = words.total([*left, last]), words.total(relative)
        free = [*left, *rows, *relative, *halves, *bits, *increments, *seen, last]
        whole = self._fact("sum", words.equal(total, sum_of_relative), [*facts, *more], free)
        # 3. with the sign of the first term
        alike = []
        for u, r in zip(signed, relative, strict=True):
            equal = words.equal(u, words.choice(first.sign, words.negative(r), r))
            alike += self._fact("term", equal, self._near(equal), [])
        exact = words.total(self._signed)
        sign_facts = []
        for value, returned in ((0, sum_of_relative), (1, words.negative(sum_of_relative))):
            case = words.equal(first.sign.bits, self._proof.terms.number(value, 1))
            formula = words.implies(case, words.equal(exact, returned))
            sign_facts += self._fact("relative", formula, alike, [*signed, *relative])
        # 4. the last adder
        bounds = self._bounded(relative, [self._bounds[k] for k in order], last)
        known = self._fact(
            "bounds", [*self._within(total, sum(self._bounds)), self._never_negative(last, total)],
            [*whole, *bounds], [total, sum_of_relative, last],
        )  # fmt: skip
        magnitude = self._last_adder(total, wires, known)
        nonzero = Flag(self._proof.terms, self._proof.terms.truth(self._proof.terms.is_nonzero(total)))
        negative = (words.is_negative(total) ^ first.sign) & nonzero
        sign = self._unfolded("sign", [words.equal(wires.sign.bits, negative.bits)], wires.sign.bits, known, [])
        facts = [*magnitude, *whole, *sign, *sign_facts, *known]
        made = self._specified(specified, wires, facts, [total, exact, sum_of_relative])
        return [*made, *self._anticipated(wires, specified, made, [*magnitude, *known])]

    def _bounded(self, relative: list[Bits], bounds: list[int], last: Bits) -> list[Fact]:
        """The sum lies within its bounds, and is not negative if nothing is inverted; shown term by term."""
        words = self._words
        known: list[Fact] = []
        partial, bound = None, 0
        for r, high in zip(relative, bounds, strict=True):
            alone = self._fact("bound", [*self._within(r, high), self._never_negative(last, r)], self._about, [])
            if partial is None:
                partial, bound, known = r, high, alone
                continue
            together, bound = words.total([partial, r]), bound + high
            formulas = [*self._within(together, bound), self._never_negative(last, together)]
            known = self._fact("bound", formulas, [*known, *alone], [partial, r, last])
            partial = together
        return known

    def _within(self, word: Bits, bound: int) -> list[Term]:
        words = self._words
        return [words.at_most(words.number(-bound), word), words.at_most(word, words.number(bound))]

    def _never_negative(self, last: Bits, word: Bits) -> Term:
        """The sum is not negative if no term is inverted."""
        words = self._words
        return words.implies(words.equal(last, words.number(0)), words.at_most(words.number(0), word))

    # 2. the last adder

    def _last_adder(self, total: Bits, wires: Total, known: Sequence[Fact]) -> list[Fact]:
        """The magnitude of the last adder's sum."""
        words = self._words
        negative = words.is_negative(total)
        magnitude = words.choice(negative, words.negative(total), total)
        held = self._proof.terms.part(magnitude, wires.total.bits.width - 1, 0)
        equal = words.equal(wires.total.bits, held)
        return self._unfolded("last adder", [equal], wires.total.bits, known, [])

    def _anticipated(self, wires: Total, specified: Total, total: Sequence[Fact], magnitude: Sequence[Fact]) -> list[Fact]:
        """The assumptions of normalisation if leading zeros are anticipated beside the last adder: their largest error, and
        the condition under which a total is odd, hence not 0.

        Args:
            total: facts that the wires have the specified values. magnitude: facts about the last adder's sum.
        """
        port, terms = f"{self._name}.zeros", self._proof.terms
        if not self._proof.netlist.has(port):
            return []
        zeros = self._proof.netlist.cut(port)
        near = self._unfolded("zeros", close(terms, wires.total.bits, zeros), zeros, magnitude, [])
        odd = parity(terms, wires.total.bits, [term.aligned.bits for term in self._aligned])
        return [*near, *self._fact("parity", odd, total, [])]

    def _sign_is(self, wires: Total, total: Bits) -> Term:
        return self._words.equal(wires.sign.bits, self._words.is_negative(total).bits)

    def _specified(self, specified: Total, wires: Total, facts: list[Fact], free: list[Bits]) -> list[Fact]:
        """The formula that the wires have the specified values."""
        equal = [
            self._words.equal(wires.sign.bits, specified.sign.bits),
            self._words.equal(wires.total.bits, specified.total.bits),
        ]
        return self._fact("total", equal, facts, free)


class WordProof(TreeProof):
    """The proof that a component gives the sum of integers modulo a power of two.

    Args:
        width: bits of the sum. Others: as for `TreeProof`.
    """

    def prove(self, summed: Sequence[Number], specified: Word, wires: Word) -> list[Fact]:
        """The fact that the wire has the specified value.

        Raises:
            NoTerm: a row of the tree is missing.
        """
        words = self._words
        rows, facts = self._first_rows("rows", [words.of(number) for number in summed])
        left, more = self._tree("rows", rows, [])
        added = words.equal(wires.total.bits, words.total(left))
        last = self._unfolded("last adder", [added], wires.total.bits, [], [])
        equal = words.equal(wires.total.bits, specified.total.bits)
        alike = words.equal(specified.total.bits, words.total([words.of(number) for number in summed]))
        modulo = self._fact("modulo", alike, [], [])
        return self._fact("total", equal, [*facts, *more, *last, *modulo], [*rows, *left, *(words.of(n) for n in summed)])


class FrameProof(SumProof):
    """The proof that a component gives sign and magnitude of the sum of aligned terms and of the increments that they lack
    (rtl/steps/accumulate_in_frame.py).

    Args:
        aligned: the terms, the frame last. missing: their increments. The others: as for `SumProof`.
    """

    def __init__(
        self,
        proof: Proof,
        name: str,
        aligned: Sequence[Aligned],
        missing: Aligned,
        implementation: Implementation,
        guard: Term | None,
        about: Sequence[Fact],
    ) -> None:
        super().__init__(proof, name, [*aligned, missing], implementation, guard, about)

    def prove(self, specified: Total, wires: Total) -> list[Fact]:
        """Facts that the wires of the total have the specified values, first its sign, then its magnitude; and facts about
        the leading zeros that come with them.

        Raises:
            NoTerm: a row of the tree is missing.
        """
        words, widths = self._words, [term.aligned.bits.width for term in self._aligned]
        *others, frame, _ = self._aligned
        flags = [term.sign ^ frame.sign for term in others]
        # 1. rows: the frame, each other term or its inverse with a constant above it, and these constants less one
        held = [words.choice(flag, words.inverted(m), m) for flag, m in zip(flags, self._magnitudes, strict=False)]
        tops = [1 << width for width in widths[:-2]]
        constant = words.number(-sum(tops) - 1)
        wanted = [self._magnitudes[-2]]
        wanted += [words.total([h, words.number(top)]) for h, top in zip(held, tops, strict=True)]
        rows, facts = self._first_rows("sum", [*wanted, constant])
        left, more = self._tree("sum", rows, [])
        total, in_frame = words.total([*left, words.number(1)]), words.total([self._magnitudes[-2], *held])
        whole = self._fact("sum", words.equal(total, in_frame), [*facts, *more], [*left, *rows, *held])
        # 2. out of the frame: the exact terms and the missing increments
        sign_facts, exact = self._out_of_frame(frame.sign, flags, held, in_frame)
        # 3. the last adder, whose sum its magnitude can hold
        *bounds, frame_bound, _ = self._bounds
        bounded = self._bounded([self._magnitudes[-2], *held], [frame_bound, *bounds], words.number(1))
        known = self._fact("bounds", self._within(total, sum(self._bounds)), [*whole, *bounded], [total, in_frame])
        magnitude = self._last_adder(total, wires, known)
        nonzero = Flag(self._proof.terms, self._proof.terms.truth(self._proof.terms.is_nonzero(total)))
        negative = (words.is_negative(total) ^ frame.sign) & nonzero
        sign = self._unfolded("sign", [words.equal(wires.sign.bits, negative.bits)], wires.sign.bits, known, [])
        facts = [*magnitude, *whole, *sign, *sign_facts, *known]
        made = self._specified(specified, wires, facts, [total, exact, in_frame])
        return [*made, *self._anticipated(wires, specified, made, [*magnitude, *known])]

    def _out_of_frame(
        self, frame_sign: Flag, flags: Sequence[Flag], held: Sequence[Bits], in_frame: Bits
    ) -> tuple[list[Fact], Bits]:
        """Facts that the sum of all terms and of the missing increments is the sum in the frame, negated where the frame is
        negative; and that sum of all."""
        words = self._words
        bits = [words.flag(flag) for flag in flags]
        # each term is what is held for it and an increment, or the negative
        relative = [words.total([h, bit]) for h, bit in zip(held, bits, strict=True)]
        relative += [self._magnitudes[-2], words.negative(words.total(bits))]
        alike: list[Fact] = []
        for u, r in zip(self._signed, relative, strict=True):
            equal = words.equal(u, words.choice(frame_sign, words.negative(r), r))
            alike += self._fact("term", equal, self._near(equal), [])
        exact = words.total(self._signed)
        facts: list[Fact] = []
        for value, returned in ((0, in_frame), (1, words.negative(in_frame))):
            case = words.equal(frame_sign.bits, self._proof.terms.number(value, 1))
            formula = words.implies(case, words.equal(exact, returned))
            facts += self._fact("relative", formula, alike, [*self._signed, *held, *bits, self._magnitudes[-2]])
        return facts, exact
