"""Bounds of numbers, and parts of magnitudes."""

from bitwuzla import Kind, Term

from mmau.prove.specification.numbers import Flag, Number
from mmau.prove.specification.step_results import Value


def implied(premise: Flag, formula: Term) -> Term:
    """The formula that a flag implies another formula."""
    return premise.terms.manager.mk_term(Kind.IMPLIES, [premise.holds, formula])


def in_range(value: Value) -> list[Term]:
    """The formulas that the numbers of a value lie within their bounds."""
    numbers = [part for _, part in value.parts() if isinstance(part, Number)]
    return [flag.holds for number in numbers for flag in bounds(number)]


def bounds(number: Number) -> list[Flag]:
    """The flags that say that a number lies within its bounds; none if its width holds no other number."""
    free, found = number.free, []
    if number.low > free.low:
        found.append(free >= number.low)
    if number.high < free.high:
        found.append(free <= number.high)
    return found


def floor(number: Number, places: int) -> Number:
    """A magnitude without its lowest bits."""
    terms, bits = number.terms, number.bits
    if places >= bits.width:
        return Number.constant(terms, 0)
    return Number(terms, terms.part(bits, bits.width - 1, places), 0, (1 << (bits.width - places)) - 1)


def to_odd(number: Number, places: int) -> Number:
    """A number without its last `places` bits. Its new last bit is set if one of the dropped bits was 1 (rounding to
    odd)."""
    terms, kept = number.terms, floor(number, places)
    last = kept.bit(0) | is_one_below(number, places)
    joined = terms.joined([terms.part(kept.bits, kept.bits.width - 1, 1), last.bits])
    return Number(terms, joined, 0, kept.high)


def is_one_below(number: Number, places: int) -> Flag:
    """Whether any of a magnitude's lowest bits is set."""
    terms = number.terms
    return Flag(terms, terms.truth(terms.is_nonzero(terms.part(number.bits, min(places, number.bits.width) - 1, 0))))
