"""Rounded sums of two terms of which a netlist drops bits: the proof that the dropped bits do not change the result.

Established here, for every input: the code of the netlist's sum equals the code of the exact sum. The netlist's sum has all
bits of the exact sum down to some position, and shows whether there is a one below it (tied_sums.py). If there is, rounding
cuts above that position, and sees the same bits of both.
"""

from dataclasses import dataclass

from bitwuzla import Term

from mmau.formal.netlist.terms import Bits
from mmau.formal.obligations.facts import Fact
from mmau.formal.obligations.ranges import bounds, floor, is_one_below
from mmau.formal.obligations.tied_sums import Tied, TiedSums
from mmau.formal.specification.conversion import Normalised, leading_one, normalised, placed
from mmau.formal.specification.numbers import Flag, Number


@dataclass(frozen=True)
class Retained:
    """The retained part of a magnitude: its bits from a position upward, and whether a one lies below. None if such a one
    sets the last retained bit."""

    places: int
    bits: Number
    lost: Flag | None = None


class RoundedSumProof(TiedSums):
    """The proof that the code of a netlist's sum is that of the exact sum."""

    def prove(self) -> tuple[Bits, Bits, Fact]:
        """The codes of the netlist's sum and of the exact sum, and the fact that they are equal if no term is special."""
        self.read()
        rounding = self._summed.rounding
        self._code = rounding.code(self._summed.signed(self._total), self._lsb)
        self._exact_code = self._summed.code()
        alike = self._terms.equal(self._code, self._exact_code)
        known = [*self._cases(0, alike), *self._cases(1, alike)]
        free = [self._code, self._exact_code, self._exact.total.bits, self._gaps[0].bits, self._summed.terms[1].sig.bits]
        (fact,) = self._fact("cases", self._finite, [alike], known, free)
        return self._code, self._exact_code, fact

    def _cases(self, exact: int, alike: Term) -> list[Fact]:
        """Facts that the codes are equal if the first or the second term is exact: for a sum of zero, and for others."""
        is_first = self._true(self._gaps[0].is_zero())
        guard = self._all(self._finite, is_first if exact == 0 else self._not(is_first))
        is_zero = self._true(self._exact.total.is_zero())
        nothing, something = self._all(guard, is_zero), self._all(guard, self._not(is_zero))
        found: list[Fact] = []
        if exact == 1 and self._stays:
            tied = self.alike_above_product(guard)
            if self._tiny:
                normal = self._true(self._summed.terms[1].sig >= 1 << self._fmt.man_bits)
                found = self._both_tiny(self._all(something, self._not(normal)), alike, tied)
                something = self._all(something, normal)
            rounded = self._rounded_far(something, alike, tied)
        else:
            tied = self.rounded_to_odd(exact, guard)
            rounded = self._rounded_near(something, alike, tied)
        free = [self._exact.total.bits, self._exact.sign.bits]
        return [*found, *rounded, *self._fact(f"zero {exact}", nothing, [alike], tied.alike, free)]

    # 1. the codes

    def _rounded_near(self, guard: Term, alike: Term, tied: Tied) -> list[Fact]:
        """Rounding cannot tell: the codes are alike."""
        retained = Retained(self._below, self._total.total)
        facts, exact, ours = self._cut(self._exact.total, self._exact_lsb, retained, self._lsb, "near", guard, tied)
        return self._codes(guard, alike, exact, ours, [*tied.alike, *facts])

    def _rounded_far(self, guard: Term, alike: Term, tied: Tied) -> list[Fact]:
        """Rounding cannot tell: the codes are alike."""
        low = self._product_bits
        retained = Retained(low, floor(self._total.total, low), is_one_below(self._total.total, low))
        lsb = self._lsb + low
        ours, our_normal, _ = self._cut(
            self._total.total, self._lsb, retained, lsb, "ours", guard, Tied(tied.alike[1:], tied.large, [])
        )
        retained = Retained(self._below + low, retained.bits, retained.lost)
        exact, exact_normal, _ = self._cut(self._exact.total, self._exact_lsb, retained, lsb, "far", guard, tied)
        return self._codes(guard, alike, exact_normal, our_normal, [*tied.alike, *ours, *exact])

    def _both_tiny(self, guard: Term, alike: Term, tied: Tied) -> list[Fact]:
        """A product far below the normal numbers: both sums are tiny, at whatever exponent the product is aligned."""
        known = [*tied.kept, *tied.large, *tied.alike, *self._about_exponents()]
        return self._fact("tiny", guard, [alike], known, [self._exact.total.bits])

    def _codes(self, guard: Term, alike: Term, exact: Normalised, ours: Normalised, known: list[Fact]) -> list[Fact]:
        free = [part.bits for each in (exact, ours) for part in (each.twice, each.below, each.exp)]
        free += [number.is_zero().bits for number in (self._exact.total, self._total.total)]
        return self._fact("codes", guard, [alike], known, free)

    # 2. what rounding sees

    def _cut(
        self, whole: Number, whole_lsb: Number, retained: Retained, lsb: Number, name: str, guard: Term, tied: Tied
    ) -> tuple[list[Fact], Normalised, Normalised]:
        """A magnitude and its retained part round to the same result."""
        terms, man, fmt, below = self._terms, self._fmt.man_bits, self._fmt, retained.places
        normal = normalised(whole, whole_lsb, fmt, self._tiny)
        short = normalised(retained.bits, lsb, fmt, self._tiny, retained.lost)
        slack = man + (2 if retained.lost is None else 1)
        is_lost = self._true(is_one_below(whole, below))
        # 1. leading ones
        lead, short_lead = leading_one(whole), leading_one(retained.bits)
        has_none = self._true(floor(whole, below).is_zero())
        leads = self._fact(
            f"leading ones {name}", guard,
            [
                self._implies(self._not(has_none), self._true(lead.equals(short_lead + below))),
                self._implies(has_none, self._true(short_lead.is_zero() & (lead < below))),
                self._implies(has_none, is_lost),
                self._implies(self._true(retained.bits >= 1 << slack), self._true(short_lead >= slack)),
                *(self._true(flag) for number in (lead, short_lead) for flag in bounds(number)),
            ],
            tied.kept, [whole.bits, self._exact.total.bits],
        )  # fmt: skip
        # 2. where rounding cuts
        up = (short.up + below).within(0, normal.up.high).loosened(0, normal.up.high)
        place = self._fact(
            f"place {name}", guard,
            [
                self._terms.equal(normal.up.bits, up.bits), self._true(short.up <= short.up.high),
                self._implies(is_lost, self._true(short.up >= slack)),
            ],
            [*leads, *tied.large, *self._about_exponents()], [whole.bits, lead.bits, short_lead.bits],
        )  # fmt: skip
        # 3. what it sees, place by place
        high, low = terms.part(whole.bits, whole.bits.width - 1, below), terms.part(whole.bits, below - 1, 0)
        twice, is_below = placed(Number(terms, terms.joined([high, low]), 0, whole.high), up, man)
        seen = self._fact(
            f"places {name}", guard,
            [self._same(twice, short.twice), self._terms.equal(is_below.bits, short.below.bits)],
            [*tied.kept, *place[1:]], [high, low, self._exact.total.bits], (short.up.bits.term, range(short.up.high + 1)),
        )  # fmt: skip
        alike = self._fact(
            f"seen {name}", guard,
            [
                self._same(normal.twice, short.twice), self._terms.equal(normal.below.bits, short.below.bits),
                self._true(normal.exp.equals(short.exp)),
                *(self._true(flag) for exp in (normal.exp, short.exp) for flag in bounds(exp)),
            ],
            [*place, *seen, *self._about_exponents()], [whole.bits, normal.up.bits, short.up.bits],
        )  # fmt: skip
        return alike, normal, short
