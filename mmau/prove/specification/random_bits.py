"""Random bits added below the last place of a result, which are then dropped (golden: `RandomStep.results`)."""

from golden.arithmetic.random_bits import RandomStep
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.specification.numbers import Flag, Number


def with_random(terms: Terms, step: RandomStep, code: Bits, random: Bits) -> Bits:
    """The code of d of a wide code and its random bits; infinities and NaN take none."""
    wide, d, places, top = step.wide.d, step.rho.d, step.random.places, code.width - 1
    sign = Flag(terms, terms.part(code, top, top))
    magnitude = Number.read(terms, terms.part(code, top - 1, 0), 0, wide.magnitude_mask, signed=False)
    added = Number.read(terms, random, 0, (1 << step.random.bits) - 1, signed=False)
    added = added.times_two_to(1) + 1 if step.random.half else added
    kept = (magnitude + added).shifted_right(places)
    special = magnitude > wide.max_finite
    if not wide.negative_zero:  # the code of −0 is NaN
        special = special | (sign & magnitude.is_zero())
    of_zero = sign if step.negative_zero else sign & ~kept.is_zero()
    finite = terms.joined([of_zero.bits, kept.held_in(d.width - 1)])
    beyond = terms.choice(
        sign.bits,
        lambda: terms.number(d.overflowed(True, step.saturates), d.width),
        lambda: terms.number(d.overflowed(False, step.saturates), d.width),
    )
    number = terms.choice((kept > d.max_finite).bits, lambda: beyond, lambda: finite)
    return terms.choice(special.bits, lambda: terms.part(code, top, places), lambda: number)
