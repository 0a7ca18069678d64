"""The relation of a netlist's sum of two terms to their exact sum, of which it does not retain all bits.

The netlist aligns to fewer bits than the exact sum has. One term is exact, because both are aligned to its exponent. If the
other term loses bits, its last retained bit becomes a one (rounding to odd); or a product, as the first term, is not shifted
although the other term lies far above it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bitwuzla import Kind, Term

from mmau.prove.datapath.kernel import Fact, supports
from mmau.prove.datapath.ranges import floor, is_one_below, to_odd
from mmau.prove.datapath.step_facts import StepFacts
from mmau.prove.netlist.terms import Bits
from mmau.prove.specification.numbers import Flag, Number
from mmau.prove.specification.rounded_sums import RoundedSum
from mmau.prove.specification.step_results import Aligned
from mmau.prove.specification.steps import accumulate, align


@dataclass(frozen=True)
class Tied:
    """Facts about the netlist's sum and the exact one.

    Attributes:
        kept: the bits of the exact sum that the netlist's sum has. large: the fact that rounding cuts above the bits that
            the
            netlist's sum lacks.
        alike: the fact that both sums have the same sign, and are zero together.
    """

    kept: list[Fact]
    large: list[Fact]
    alike: list[Fact]


class TiedSums:
    """Proves the relation of a netlist's sum to the exact one.

    Args:
        steps: the surrounding proof. name: the name of the sum. summed: the specification in terms of wires.
        finite: that neither term is special; the guard of all facts.
    """

    def __init__(self, steps: StepFacts, name: str, summed: RoundedSum, finite: Term) -> None:
        self._steps, self._name, self._summed, self._finite = steps, name, summed, finite
        self._terms, self._proof = steps.terms, steps.proof
        self._fmt, self._tiny = summed.rounding.rho.rounding_format, summed.rounding.underflow == "tiny"
        #: Bits below the hidden one that rounding keeps, and those that flags need besides.
        self._man = self._fmt.man_bits + summed.rounding.spare
        self._e_max = summed.largest.e_max
        self._exact, self._exact_lsb = summed.exact()
        self._exact_terms = [term.aligned for term in summed.aligned()]
        highest = self._e_max.high
        self._gaps = [(self._e_max - term.exp).within(0, max(0, highest - term.exp.low)) for term in summed.terms]
        # the netlist's alignment
        wires = [steps.proof.netlist.cut(f"{name}_align_{k}.aligned") for k in range(2)]
        last = summed.terms[1]
        self._F = wires[1].width - last.sig.bits.width + last.frac
        self._below = summed.F - self._F  # bits of the exact sum below those of the netlist's
        driver = steps.proof.netlist.definitions[wires[0].term].term
        #: Whether the first term is never shifted.
        sig = summed.terms[0].sig.bits.term
        parts = [row.term for row in steps.proof.netlist.rows.get(sig, ())]
        self._stays = supports([driver]) <= supports([sig, *parts])
        self._lsb = self._e_max - self._F

    def read(self) -> None:
        """Establish the netlist's alignment and addition."""
        specified = [self._aligned(k) for k in range(2)]
        self._read = [self._steps.value(f"{self._name}_align_{k}", each) for k, each in enumerate(specified)]
        self._total = self._steps.total(f"{self._name}_accumulate", self._read, accumulate(self._read))
        self._specified = [each.aligned for each in specified]

    def _aligned(self, k: int) -> Aligned:
        """A term as the netlist aligns it."""
        term = self._summed.terms[k]
        if k == 0 and self._stays:
            moved = term.sig.times_two_to(self._F - term.frac)
            return Aligned(term.sign, moved.loosened(0, (1 << moved.bits.width) - 1))
        return align(term, self._e_max, self._F, "RO")

    # 1. where both terms are aligned

    def rounded_to_odd(self, exact: int, guard: Term) -> Tied:
        """The netlist's sum is the exact one rounded to odd, and large where it lost a bit."""
        # a code that is added may have more bits than the result
        other, F, man = 1 - exact, self._F, max(self._man, self._summed.terms[1].frac)
        gap, theirs, ours = self._gaps[other], self._exact_terms[other], self._specified[other]
        far = gap > F - self._summed.terms[other].frac
        # 1. the other term, gap by gap
        by_gap = self._fact(
            f"gaps {exact}", guard,
            [
                self._same(ours, to_odd(theirs, self._below)),
                self._implies(self._true(is_one_below(theirs, self._below)), self._true(far)),
                self._implies(self._true(far), self._true(ours <= 1 << (man + 1))),
            ],
            self._about_exponents(), [], (gap.bits.term, range(self._reach(other) + 1)),
        )  # fmt: skip
        # 2. the exact term, which is large where the other loses bits
        sig, lift = self._summed.terms[exact].sig, F - self._summed.terms[exact].frac
        least = max(0, man + 3 - lift)
        whole = self._whole(exact, least + lift, guard)
        large = self._fact(
            f"large {exact}", guard, [self._implies(self._true(far), self._true(sig >= 1 << least))],
            [self._least(exact, least), *self._about_exponents()], [],
        )  # fmt: skip
        # 3. the sum
        total, kept = self._exact.total, self._total.total
        is_lost = self._true(is_one_below(total, self._below))
        facts = self._fact(
            f"sum {exact}", guard,
            [
                self._same(kept, to_odd(total, self._below)),
                self._terms.equal(self._total.sign.bits, self._exact.sign.bits),
                self._implies(is_lost, self._true(kept >= 1 << (man + 2))),
                self._terms.equal(kept.is_zero().bits, total.is_zero().bits),
            ],
            [*by_gap, *whole, *large, *self._read_facts()],
            [*(each.bits for each in (*self._exact_terms, *self._specified)), far.bits, sig.bits],
        )  # fmt: skip
        return Tied(facts[:1], facts[2:3], [facts[1], facts[3]])

    # 2. where a product stays at its place, though the other term lies far above it

    @property
    def _product_bits(self) -> int:
        """Places of the netlist's sum below which the product lies."""
        return self._specified[0].bits.width

    def alike_above_product(self, guard: Term) -> Tied:
        """Both sums have equal bits above the product, and below it either both have a one or neither."""
        low, man = self._product_bits, self._fmt.man_bits
        product, addend = self._summed.terms
        theirs, ours = self._exact_terms[0], self._specified[0]
        gap = self._gaps[0]
        by_gap = self._fact(
            "gaps far", guard,
            [
                self._true(floor(theirs, self._below + low).is_zero()),
                self._terms.equal(theirs.is_zero().bits, product.sig.is_zero().bits),
                self._terms.equal(ours.is_zero().bits, product.sig.is_zero().bits),
            ],
            self._about_exponents(), [], (gap.bits.term, range(1, self._reach(0) + 1)),
        )  # fmt: skip
        whole = self._whole(1, self._F, guard)
        least = self._fact(
            "large far",
            guard,
            [
                self._implies(self._true(addend.exp > addend.exp.low), self._true(addend.sig >= 1 << man)),
                self._true(self._e_max.equals(addend.exp)),
            ],
            [self._least(1, man), *self._about_exponents()],
            [],
        )
        total, kept = self._exact.total, self._total.total
        # no carry lifts a number below 2^man, with one more bit below its last one, to 2^man
        most = (1 << self._F) - (1 << (self._F - man)) + (1 << low)
        tiny = [kept < most, total < most << self._below]
        facts = self._fact(
            "sum far", guard,
            [
                self._same(floor(kept, low), floor(total, self._below + low)),
                self._terms.equal(is_one_below(kept, low).bits, is_one_below(total, self._below + low).bits),
                self._terms.equal(self._total.sign.bits, self._exact.sign.bits),
                self._terms.equal(kept.is_zero().bits, total.is_zero().bits),
                self._implies(self._true(addend.sig >= 1 << man), self._true(kept >= 1 << (self._F - 1))),
                *(self._implies(self._not(self._true(addend.sig >= 1 << man)), self._true(short)) for short in tiny),
            ],
            [*by_gap, *whole, *self._read_facts()],
            [*(each.bits for each in (*self._exact_terms, self._specified[0])), product.sig.bits],
        )  # fmt: skip
        return Tied(facts[:2], [*least, *facts[4:]], facts[2:4])

    # 3. facts

    def _whole(self, exact: int, place: int, guard: Term) -> list[Fact]:
        """A term with the largest exponent has all its bits, the last one 0; and it has a one at or above a position if its
        significand has one at or above the corresponding position."""
        ours, theirs, term = self._specified[exact], self._exact_terms[exact], self._summed.terms[exact]
        least = place - (self._F - term.frac)
        formulas = [
            self._same(ours.times_two_to(self._below), theirs), self._not(self._true(ours.bit(0))),
            self._implies(self._true(term.sig >= 1 << least), self._true(ours >= 1 << place)),
            self._terms.equal(term.sig.is_zero().bits, ours.is_zero().bits),
        ]  # fmt: skip
        if self._stays and exact == 1:
            formulas.append(self._not(self._true(is_one_below(ours, self._product_bits + 1))))
        cases = (self._gaps[exact].bits.term, range(1))
        return self._fact(f"whole {exact}", guard, formulas, self._about_exponents(), [], cases)

    def _least(self, k: int, place: int) -> Fact:
        """A term above the least exponent has a one at or above that position."""
        term = self._summed.terms[k]
        formula = self._implies(self._true(term.exp > term.exp.low), self._true(term.sig >= 1 << place))
        return self._steps.of_term(f"{self._name}_encode term {k}", formula, term, self._summed.specials[k])

    def _reach(self, k: int) -> int:
        """The largest gap of a term to the common exponent, which is that of the term itself or of the other term."""
        x, y = self._summed.terms[k], self._summed.terms[1 - k]
        return max(0, y.exp.high - x.exp.low)

    def _about_exponents(self) -> list[Fact]:
        return self._steps.about([self._e_max.bits.term, *(term.exp.bits.term for term in self._summed.terms)])

    def _read_facts(self) -> list[Fact]:
        """Facts that the netlist aligns and adds as specified."""
        parts = [part for each in (*self._read, self._total) for _, part in each.parts()]
        return [self._proof.fact_about(part.bits.term) for part in parts]

    def _fact(
        self, name: str, guard: Term, formulas: Sequence[Term], assume: Sequence[Fact], free: Sequence[Bits],
        cases: tuple[Term, range] | None = None,
    ) -> list[Fact]:  # fmt: skip
        usable = [fact if fact.holds_under(guard) else self._proof.released(fact) for fact in assume]
        generalise = list(dict.fromkeys(bits.term for bits in free if bits.value is None))
        return self._proof.establish(
            f"{self._name}_encode {name}", formulas, assume=usable, guard=guard, generalise=generalise, cases=cases
        )

    # 4. formulas

    def _true(self, flag: Flag) -> Term:
        return self._terms.is_nonzero(flag.bits)

    def _not(self, formula: Term) -> Term:
        return self._terms.manager.mk_term(Kind.NOT, [formula])

    def _all(self, *formulas: Term) -> Term:
        return self._terms.manager.mk_term(Kind.AND, list(formulas))

    def _implies(self, premise: Term, formula: Term) -> Term:
        return self._terms.manager.mk_term(Kind.IMPLIES, [premise, formula])

    def _same(self, x: Number, y: Number) -> Term:
        return self._true(x.equals(y))
