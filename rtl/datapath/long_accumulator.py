"""Step align of an exact sum into a long accumulator: each term is shifted over the places that it can reach.

U. Kulisch, "Computer Arithmetic and Validity: Theory, Implementation, and Applications" (de Gruyter, 2008), describes a sum
in fixed point that has a place for every bit of every term. Here it lives for one step, and c is one of its terms.
"""

from collections.abc import Sequence

from amaranth import Cat, Const

from rtl.datapath.fused_records import AlignedTerm, AlignedTerms, MaxExponent
from rtl.datapath.step import Build
from rtl.steps.align import Align
from rtl.steps.interfaces import ExpRange, Term


def align_in_own_places(build: Build, largest: MaxExponent, terms: Sequence[Term]) -> AlignedTerms:
    """Every term aligned to its own largest exponent, with zeros below down to the lowest bit of all:

        places    127 … 32   31 … −48   −49 … −149      of FP32, and of products of fp16
        product                x x x    0 0 0 0 0       shifted over 80 places
        c             x x x                             shifted over all of its own

    Args:
        largest: a constant that is at least the largest exponent of every term.
    """
    lowest_bit = min(term.format.exps.low - term.format.frac for term in terms)
    placed = []
    for k, term in enumerate(terms):
        exps, frac = term.format.exps, term.format.frac
        component = Align(term.format, ExpRange(exps.high, exps.high), exps.span + frac, "RZ")
        build.place(f"{largest.name}_align_{k}", component)
        build.drive(component.term, term)
        build.assign(component.e_max.eq(exps.high))
        magnitude = Cat(Const(0, exps.low - frac - lowest_bit), component.aligned)
        placed.append(AlignedTerm(component.sign, magnitude, len(magnitude)))
    total_bits = sum(1 << term.bits for term in placed).bit_length()
    return AlignedTerms(largest.name, tuple(placed), largest.exps.high - lowest_bit, total_bits)
