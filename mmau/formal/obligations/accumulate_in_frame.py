"""Proof of step accumulate in the sign frame of one term: terms of the other sign are inverted, without the increment of a
negation."""

from collections.abc import Sequence

from bitwuzla import Term

from golden import Implementation
from mmau.formal.netlist.terms import Bits
from mmau.formal.obligations.accumulate import SumProof
from mmau.formal.obligations.facts import Fact
from mmau.formal.obligations.netlist_proof import Proof
from mmau.formal.specification.numbers import Flag
from mmau.formal.specification.step_results import Aligned, Total


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
