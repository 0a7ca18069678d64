"""The step-by-step proof that a netlist meets a specification: each value of the specification is found among the wires."""

from collections.abc import Callable
from dataclasses import dataclass

from bitwuzla import Term

from golden import Implementation
from mmau.prove.datapath.cut_netlist import CutNetlist
from mmau.prove.datapath.kernel import Fact, Proof
from mmau.prove.datapath.ranges import bounds, floor, is_one_below
from mmau.prove.datapath.step_facts import StepFacts
from mmau.prove.datapath.tied_sums import Tied, TiedSums
from mmau.prove.netlist.terms import Bits
from mmau.prove.specification.conversion import Normalised, leading_one, normalised, placed
from mmau.prove.specification.numbers import Flag, Number
from mmau.prove.specification.observer import Observer
from mmau.prove.specification.rounded_sums import RoundedSum


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
        terms, man, fmt, below = self._terms, self._man, self._fmt, retained.places
        spare = self._summed.rounding.spare
        normal = normalised(whole, whole_lsb, fmt, self._tiny, spare=spare)
        short = normalised(retained.bits, lsb, fmt, self._tiny, retained.lost, spare)
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


class ProvedSteps(StepFacts):
    """The facts of every step, those of rounded sums and of results among them.

    Args:
        proof: collects the facts. implementation: options of the datapath.
    """

    def __init__(self, proof: Proof, implementation: Implementation) -> None:
        super().__init__(proof, implementation)
        #: For the next encoded rounded sum: the netlist's code, the exact sum's code, and the fact of their equality.
        self._rounded: tuple[Bits, Bits, Fact] | None = None

    def rounded(self, name: str, summed: RoundedSum) -> Bits:
        assert self._guard is not None
        self._rounded = RoundedSumProof(self, name, summed, self._guard).prove()
        return summed.code()

    def code(self, name: str, code: Bits) -> Bits:
        # first the code of the netlist's sum, then that of the exact sum
        rounded, self._rounded, self._guard = self._rounded, None, None
        wire = self._netlist.cut(f"{name}.d")
        exact = self.terms.equal(wire, code)
        ours = exact if rounded is None else self.terms.manager.substitute_term(exact, {rounded[1].term: rounded[0].term})
        about = self._released_about([ours, self._netlist.definitions[wire.term].term])
        facts = self.proof.establish(name, [ours], unfold=[wire.term], assume=about)
        if rounded is not None:
            codes = [wire.term, rounded[0].term, rounded[1].term]
            assume = [*facts, self.proof.released(rounded[2])]
            facts = self.proof.establish(f"{name} exact", [exact], assume=assume, generalise=codes)
        self.proof.means(wire.term, code.term, facts[0])
        return wire

    def conclude(self, output: str, specified: Bits, whole: Bits) -> None:
        """Establish the result, and check that the chain is complete."""
        self._guard = None
        equal = self.terms.equal(self._netlist.outputs[output], specified)
        about = self._released_about([equal])
        (result,) = self.proof.establish(output, [equal], assume=about)
        self.proof.concluded(result, output, specified, whole)


def proved_steps(specify: Callable[[Observer], Bits], netlist: CutNetlist, implementation: Implementation) -> Proof:
    """The proof that the output d of a netlist equals its specification.

    Args:
        specify: builds the specification.

    Raises:
        IncompleteProof: the steps do not lead from the ports to d. NoTerm: a wire of a step is missing.
    """
    proof = Proof(netlist)
    whole = specify(Observer())
    steps = ProvedSteps(proof, implementation)
    steps.conclude("d", specify(steps), whole)
    return proof
