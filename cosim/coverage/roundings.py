"""Covergroups of the roundings of a step: the remainder, the direction, carries, and both ends of the range."""

from collections.abc import Callable

import numpy as np

from cosim.coverage.covergroup import INFINITE, Covergroup, IntArray, Point, Reason, Seen, chosen
from cosim.coverage.shapes import RoundingShape, largest_finite, roundings_of, sums_of
from cosim.coverage.specials import class_group
from golden import Operation
from golden.arithmetic.format import Format, power_of_two
from golden.native.observe import RoundingFlag as Flag

SIGNS = ("+", "-")
REMAINDERS = ("exact", "below half", "half", "above half")
DIRECTIONS = ("exact", "toward zero", "away from zero", "away from zero with a carry")
OUTCOMES = (
    "normal", "subnormal, exact", "subnormal, inexact", "up to the smallest normal", "to zero", "flushed",
    "overflow by rounding", "overflow of the sum",
)  # fmt: skip


def rounding_groups(operation: Operation, chained: bool) -> list[Covergroup]:
    """The covergroups of each rounding of a step, and for units with these keys the covergroups of the sticky bit and of
    overflow."""
    found = []
    for shape in roundings_of(operation, chained):
        found += [remainder_group(shape), direction_group(shape)]
        if shape.to is not None:
            found.append(outcome_group(shape))
    if operation.structure.sticky:
        found.append(sticky_group(operation, chained))
    results = class_group("d", operation.d, 1, lambda seen: seen.d[:, :, None], never_d(operation, chained))
    return [*found, overflow_group(operation, chained), results]


def never_d(operation: Operation, chained: bool) -> Callable[[str], Reason]:
    """Return the reason why d is never of a class; None if it can be."""
    shape = roundings_of(operation, chained)[-1]

    structure, c = operation.structure, operation.c

    def reason(cls: str) -> Reason:
        sign, outcomes = cls[0], {"-0": OUTCOMES[4:6], "subnormal": OUTCOMES[1:3]}
        if cls == "-0" and structure.headroom is not None and structure.rho is not None and structure.rho.dropped_bits:
            # of a subnormal number of which only bits are left that d has not
            finest = operation.d.e_min - operation.d.man_bits
            return (
                never(shape, OUTCOMES[1], sign) if shape.finest < finest else f"{operation.d} drops no bit below 2^{finest}"
            )
        if cls == "-0" and structure.zero == "positive":
            return "a result of zero is +0"
        if cls == "-0" and structure.zero == "ieee" and not structure.begins_with_zero:
            return None  # of zeros
        cut = structure.last.cut
        if cls == "-0" and cut is not None and cut.truncation == "RZ":
            truncated = roundings_of(operation, chained)[0]
            if truncated.finest < c.e_min - cut.F:
                return None  # of what the truncation takes all of
        wanted = outcomes.get(cls, outcomes["subnormal"] if cls.endswith("subnormal") else ())
        reasons = [never(shape, outcome, sign) for outcome in wanted]
        return reasons[0] if wanted and None not in reasons else None

    return reason


class _Flags:
    """Flags of the roundings of a shape whose sum is not zero."""

    def __init__(self, seen: Seen, shape: RoundingShape) -> None:
        flags = seen.flags(shape.roundings)
        nonzero = (flags & Flag.NONZERO) != 0
        self.flags, self.lead = flags[nonzero], seen.leads(shape.roundings)[nonzero]

    def __getitem__(self, flag: Flag) -> IntArray:
        found: IntArray = (self.flags & flag) != 0
        return found

    @property
    def sign(self) -> IntArray:
        return self[Flag.NEGATIVE].astype(np.int64)


def _remainders(flags: _Flags) -> IntArray:
    guard, sticky = flags[Flag.GUARD], flags[Flag.STICKY]
    return chosen(~guard & ~sticky, ~guard, ~sticky, guard)


def remainder_group(shape: RoundingShape) -> Covergroup:
    """The remainder relative to half a unit in the last place, crossed with the last bit and the sign."""

    def sample(seen: Seen) -> tuple[IntArray, IntArray, IntArray]:
        flags = _Flags(seen, shape)
        return _remainders(flags), flags[Flag.LAST].astype(np.int64), flags.sign

    def unreachable(remainder: str, last: str, _: str) -> Reason:
        if remainder == "exact":
            narrow = last == "odd" and shape.cut < 0
            return "what is rounded is never as wide as the result" if narrow else None
        return too_fine(shape, {"half": 1, "below half": 2, "above half": 2}[remainder])

    points = (Point("cut off", REMAINDERS), Point("last bit", ("even", "odd")), Point("sign", SIGNS))
    return Covergroup(f"{shape.name}: what is cut off", points, sample, unreachable)


def too_fine(shape: RoundingShape, bits: int) -> Reason:
    """The reason why a rounding never drops this many bits; None if it can."""
    return None if bits <= shape.cut else f"at most {max(shape.cut, 0)} bits are cut off: what is rounded is never wider"


def direction_group(shape: RoundingShape) -> Covergroup:
    """The direction of rounding, and whether it carried into a new leading bit."""

    def sample(seen: Seen) -> tuple[IntArray, IntArray]:
        flags = _Flags(seen, shape)
        exact = ~flags[Flag.GUARD] & ~flags[Flag.STICKY]
        away, carry = flags[Flag.AWAY], flags[Flag.CARRY]
        return chosen(exact, ~away, away & ~carry, carry), flags.sign

    def unreachable(direction: str, sign: str) -> Reason:
        mode = shape.mode
        if direction == "exact":
            return None
        fine = too_fine(shape, 1)
        if fine is not None:
            return fine
        away = {"RZ": "", "RD": "-", "RU": "+"}.get(mode, "+-")
        toward = {"RZ": "+-", "RD": "+", "RU": "-"}.get(mode, "+-")
        if sign not in (toward if direction == "toward zero" else away):
            return f"{mode} does not round {'positive' if sign == '+' else 'negative'} numbers {direction.split(' with')[0]}"
        if direction == DIRECTIONS[3] and shape.to is None:
            return "a truncated sum is not normalised again"
        if direction == DIRECTIONS[3] and shape.cut_of_normal < 1:
            return "normal results are exact, and a carry leads out of none but them"
        if direction == DIRECTIONS[3] and mode == "RO":
            return "RO only sets the last bit"
        if direction == "toward zero" and mode == "RNA" and shape.cut < 2:
            return "one bit cut off is half, which RNA rounds away from zero"
        return None

    points = (Point("direction", DIRECTIONS), Point("sign", SIGNS))
    return Covergroup(f"{shape.name}: direction of rounding", points, sample, unreachable)


def outcome_group(shape: RoundingShape) -> Covergroup:
    """The outcome of a sum that is not zero: overflow, underflow to a subnormal or to zero, or a normal number."""
    to = shape.to
    assert to is not None

    def sample(seen: Seen) -> tuple[IntArray, IntArray]:
        flags = _Flags(seen, shape)
        inexact = flags[Flag.GUARD] | flags[Flag.STICKY]
        index = chosen(
            flags[Flag.OVERFLOW] & ~flags[Flag.BEYOND],
            flags[Flag.OVERFLOW],
            flags[Flag.FLUSHED],
            flags[Flag.TO_ZERO],
            flags[Flag.SUBNORMAL] & ~inexact,
            flags[Flag.SUBNORMAL],
            flags[Flag.TINY],
            ~flags[Flag.TINY],
        )
        return np.array([6, 7, 5, 4, 1, 2, 3, 0])[index], flags.sign

    points = (Point("outcome", OUTCOMES), Point("sign", SIGNS))
    return Covergroup(f"{shape.name}: outcome", points, sample, lambda outcome, sign: never(shape, outcome, sign))


def never(shape: RoundingShape, outcome: str, sign: str) -> Reason:
    """Return the reason why a rounding cannot have that outcome; None if it can."""
    to, mode = shape.to, shape.mode
    assert to is not None
    away = sign in {"RZ": "", "RO": "", "RD": "-", "RU": "+"}.get(mode, "+-")
    last = to.e_min - to.man_bits
    if outcome == "normal":
        return None
    if outcome.startswith("overflow"):
        if outcome == "overflow by rounding" and not (_is_even(to) if mode == "RO" else away):
            return f"{mode} does not round {'positive' if sign == '+' else 'negative'} numbers up in magnitude"
        if outcome == "overflow by rounding" and shape.cut_of_normal < 1:
            return "what is rounded is never wider than the result"
        return _never_overflows(shape, outcome, sign)
    if shape.finest >= to.e_min:
        return f"what is rounded has no bits below 2^{shape.finest}, and so is normal"
    if outcome == "flushed":
        return None if shape.flushes else "nothing is flushed"
    if shape.flushes and (outcome.startswith("subnormal") or (outcome == "to zero" and not shape.rounds_first)):
        return "subnormal results are flushed"
    if outcome == "subnormal, exact":
        return None
    if shape.finest >= last and (shape.rounds_first or not shape.flushes):
        return f"what is rounded has no bits below 2^{shape.finest}, and so is exact as a subnormal"
    if outcome == "up to the smallest normal":
        if not away:
            return f"{mode} does not round {'positive' if sign == '+' else 'negative'} numbers up in magnitude"
        # Under `flush_results` rounding keeps a bit more there.
        one_more = int(shape.flushes and not shape.rounds_first)
        if shape.cut_of_normal < one_more:
            return "what is rounded has too few bits to lie next to the smallest normal number"
        return None if shape.finest < last - one_more else f"what is rounded has no bits below 2^{shape.finest}"
    if outcome == "to zero" and (mode == "RO" or (away and mode in ("RD", "RU"))):
        return f"{mode} leaves a last bit of what is not zero"
    if outcome == "to zero" and mode == "RNA" and shape.finest >= last - 1:
        return "half of the smallest number goes away from zero"
    return None


def _never_overflows(shape: RoundingShape, outcome: str, sign: str) -> Reason:
    """Return whether even the sum of the largest terms stays below the overflow threshold."""
    to = shape.to
    assert to is not None
    limit, last = largest_finite(to), power_of_two(to.e_max - to.man_bits)
    largest = shape.largest[SIGNS.index(sign)]
    overflows = largest >= limit + last
    if outcome == "overflow by rounding":
        overflows = largest >= limit + last / 2 if shape.mode in ("RNE", "RNA") else largest > limit
    return None if overflows else "even the largest products and c add up to less"


def _is_even(to: Format) -> bool:
    """Whether the last bit of the largest finite number is 0, as in formats without infinities whose NaN is all ones."""
    return largest_finite(to) / power_of_two(to.e_max - to.man_bits) % 2 == 0


def sticky_group(operation: Operation, chained: bool) -> Covergroup:
    """Whether alignment dropped a one, crossed with the remainder that rounding cuts off."""
    shape = roundings_of(operation, chained)[-1]
    *_, last = sums_of(operation, chained)

    def sample(seen: Seen) -> tuple[IntArray, IntArray, IntArray]:
        flags = seen.flags(shape.roundings)
        nonzero = (flags & Flag.NONZERO) != 0
        lost = np.zeros(len(flags), np.bool_)
        lost[seen.terms(last).made] = seen.terms(last).cut.any(axis=1)
        found = _Flags(seen, shape)
        return lost[nonzero].astype(np.int64), _remainders(found), found.sign

    def unreachable(lost: str, remainder: str, _: str) -> Reason:
        if lost == "a one is lost" and remainder in ("exact", "half"):
            return "the sticky bit lies below: neither exact nor half"
        if lost == "nothing is lost":
            least = {"exact": 0, "half": 1, "below half": 2, "above half": 2}[remainder]
            return too_fine(shape, least)
        return None

    points = (Point("alignment", ("nothing is lost", "a one is lost")), Point("cut off", REMAINDERS), Point("sign", SIGNS))
    return Covergroup("sticky bit", points, sample, unreachable)


def overflow_group(operation: Operation, chained: bool) -> Covergroup:
    """The result of a sum beyond the range."""
    shape = roundings_of(operation, chained)[-1]
    to = shape.to
    assert to is not None
    names = ("infinity", "largest finite number")

    def sample(seen: Seen) -> tuple[IntArray, IntArray]:
        flags = seen.flags(shape.roundings)
        over = (flags & Flag.OVERFLOW) != 0
        infinite = seen.d.reshape(-1) >= INFINITE
        return np.where(over, np.where(infinite, 0, 1), -1), ((flags & Flag.NEGATIVE) != 0).astype(np.int64)

    def unreachable(name: str, sign: str) -> Reason:
        reasons = [never(shape, outcome, sign) for outcome in OUTCOMES[6:]]
        if None not in reasons:
            return reasons[-1]
        overflow = getattr(operation, "overflow", "infinity")
        away = sign in {"RZ": "", "RO": "", "RD": "-", "RU": "+"}.get(shape.mode, "+-")
        to_largest = overflow == "saturate" or (overflow == "by-mode" and not away)
        return None if to_largest == (name == names[1]) else f"overflow is {overflow} in {shape.mode}"

    return Covergroup("overflow", (Point("becomes", names), Point("sign", SIGNS)), sample, unreachable)
