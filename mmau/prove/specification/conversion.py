"""Steps normalise, round and encode: ρ of a sum (golden: `Format.encode_scaled`, `Conversion.encode`)."""

from dataclasses import dataclass

from golden.arithmetic.conversion import Conversion
from golden.arithmetic.flags import Tininess
from golden.arithmetic.formats import Format
from golden.arithmetic.rounding import Mode, Overflow, overflows_to_largest
from mmau.prove.netlist.terms import Bits
from mmau.prove.specification.numbers import Flag, Number, choose
from mmau.prove.specification.step_results import Special, Total
from mmau.prove.specification.steps import is_shifted_back, no


def leading_one(number: Number) -> Number:
    """The position of the highest one of a magnitude, from 0; 0 for the magnitude 0."""
    found = Number.constant(number.terms, 0)
    for place in range(1, number.high.bit_length()):
        found = choose(number.bit(place), Number.constant(number.terms, place), found)
    return found


def rounded(twice: Number, below: Flag, sign: Flag, mode: Mode) -> Number:
    """A magnitude with one extra low bit, and a flag for ones below that, rounded to an integer (golden:
    `shift_and_round`)."""
    kept, guard = twice.shifted_right(1), twice.bit(0)
    zero, one = Number.constant(kept.terms, 0), Number.constant(kept.terms, 1)
    inexact = guard | below
    match mode:
        case "RNE":
            up = guard & (below | kept.bit(0))
        case "RNA":
            up = guard
        case "RD":
            up = sign & inexact
        case "RU":
            up = ~sign & inexact
        case "RO":
            up = inexact & ~kept.bit(0)
        case "RZ":
            return kept
    return kept + choose(up, one, zero)


@dataclass(frozen=True)
class Normalised:
    """A magnitude before it is rounded.

    Attributes:
        twice: the bits of the significand and one extra low bit. below: whether a one lies below that.
        up: the position of the hidden bit in the magnitude, from its last bit. exp: the exponent of the hidden bit.
    """

    twice: Number
    below: Flag
    up: Number
    exp: Number


def normalised(
    magnitude: Number, lsb: Number, fmt: Format, flush: bool, lost: Flag | None = None, spare: int = 0
) -> Normalised:
    """A magnitude in units of 2^lsb with its leading one at the position of the hidden bit, or lower if the format's e_min
    demands it; arguments as for `converted`.

    Args:
        spare: further low bits of `Normalised.twice`.
    """
    terms, man = lsb.terms, fmt.man_bits + spare
    lead = leading_one(magnitude)
    lowest = Number.constant(terms, fmt.e_min) - lsb
    up = lead if flush else choose(lead < lowest, lowest, lead).within(0, max(lead.high, lowest.high))
    twice, below = placed(magnitude, up, man)
    return Normalised(twice, below if lost is None else below | lost, up, up + lsb)


def placed(magnitude: Number, up: Number, man: int) -> tuple[Number, Flag]:
    """The bits of a significand whose hidden bit lies at position `up`, and one bit below; and whether a one lies below
    that."""
    moved = magnitude.times_two_to(man + 1)
    twice = moved.shifted_right(up).within(0, (1 << (man + 2)) - 1)
    return twice, ~is_shifted_back(twice, up, moved)


def converted(
    total: Total,
    lsb: Number,
    rho: Conversion,
    overflow: Overflow = "infinity",
    flush: bool = False,
    canonical: bool = False,
    lost: Flag | None = None,
    tininess: Tininess | None = None,
) -> Bits:
    """The code of a total in units of 2^lsb, with flags OF, UF and NX above it.

    Args:
        flush: whether a result below the normal numbers, rounded with an unbounded exponent, becomes a zero.
        canonical: whether every zero is +0, as in NVIDIA's units; else a zero has the sign of the total.
        lost: whether nonzero bits lie below the total's last bit.
        tininess: when it is decided whether a result is tiny; None: without flags.
    """
    fmt, terms = rho.rounding_format, lsb.terms
    man = fmt.man_bits
    # 1. normalise
    normal = normalised(total.total, lsb, fmt, flush, lost, spare=0 if tininess is None else 1)
    twice, below = normal.twice, normal.below
    if tininess is not None:
        twice, below = twice.shifted_right(1), below | twice.bit(0)
    # 2. round, once
    sig = rounded(twice, below, total.sign, rho.mode).within(0, 1 << (man + 1))
    # 3. a carry out of the significand is a one in the next binade
    carry = sig.bit(man + 1)
    sig = choose(carry, sig.shifted_right(1), sig).within(0, (1 << (man + 1)) - 1)
    exp = normal.exp + choose(carry, Number.constant(terms, 1), Number.constant(terms, 0))
    # 4. results still below the normal numbers
    flushed = (exp < fmt.e_min) & ~sig.is_zero() if flush else Flag(terms, terms.number(0, 1))
    if flush:
        sig = choose(exp < fmt.e_min, Number.constant(terms, 0), sig)
    code = packed(total.sign, sig, exp, rho, overflow, canonical)
    if tininess is None:
        return code
    # 5. flags
    if flush:
        tiny = flushed if tininess == "after" else normal.exp < fmt.e_min
    else:
        tiny = ~normal.twice.bit(man + 2) & ~(reaches_hidden(normal, total.sign, rho) if tininess == "after" else flushed)
    overflows = sig.bit(man) & (exp > fmt.e_max)
    inexact = twice.bit(0) | below | flushed | overflows
    return terms.joined([overflows.bits, (inexact & tiny).bits, inexact.bits, code])


def reaches_hidden(normal: Normalised, sign: Flag, rho: Conversion) -> Flag:
    """Whether a magnitude whose leading one lies just below the position of the hidden bit gets a hidden bit, where it is
    rounded to as many bits as a normal number has."""
    man, terms = rho.rounding_format.man_bits, sign.terms
    top = Number.read(terms, terms.part(normal.twice.held_in(man + 3), man + 1, 0), 0, (1 << (man + 2)) - 1, signed=False)
    return rounded(top, normal.below, sign, rho.mode).within(0, 1 << (man + 1)).bit(man + 1)


def packed(sign: Flag, sig: Number, exp: Number, rho: Conversion, overflow: Overflow, canonical: bool) -> Bits:
    """|sign|stored exponent|mantissa|pad| (golden: `Format._pack`)."""
    fmt, terms = rho.rounding_format, sig.terms
    man, hidden = fmt.man_bits, sig.bit(fmt.man_bits)
    mantissa = choose(hidden, sig - (1 << man), sig).within(0, (1 << man) - 1)
    stored = choose(hidden, exp + fmt.bias, Number.constant(terms, 0))
    field = stored.times_two_to(man) + mantissa
    largest = fmt.max_finite >> fmt.pad_bits
    kept = [fmt.nan is None or overflows_to_largest(overflow, rho.mode, negative) for negative in (False, True)]
    beyond = [Number.constant(terms, largest if keeps or fmt.specials == "fnuz" else largest + 1) for keeps in kept]
    finite = choose(field > largest, choose(sign, beyond[1], beyond[0]), field)
    kept_sign = sign & ~finite.is_zero() if canonical or not fmt.negative_zero else sign
    code = _code(fmt, kept_sign, finite)
    if fmt.specials != "fnuz" or all(kept):
        return code
    lost = (field > largest) & (~sign if kept[1] else sign if kept[0] else ~no(terms))
    return terms.choice(lost.bits, lambda: terms.number(fmt.nan or 0, fmt.width), lambda: code)


def _code(fmt: Format, sign: Flag, field: Number) -> Bits:
    parts = [sign.bits, field.held_in(fmt.exp_bits + fmt.man_bits)]
    return field.terms.joined([*parts, field.terms.number(0, fmt.pad_bits)] if fmt.pad_bits else parts)


def special_code(special: Special, d: Format, nan: int) -> Bits:
    """The code of a sum that is not finite (golden: `specials.encode_special`)."""
    terms = special.nan.terms
    if d.infinity is None:
        return terms.number(nan, d.width)
    infinity = terms.choice(
        special.neg_inf.bits,
        lambda: terms.number(d.signed_infinity(1), d.width),
        lambda: terms.number(d.signed_infinity(0), d.width),
    )
    return terms.choice(special.nan.bits, lambda: terms.number(nan, d.width), lambda: infinity)
