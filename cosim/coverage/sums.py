"""Covergroups of the sums of a step: bits cut by alignment, exponent distances, signs, cancellation, the floor of e_max."""

from itertools import pairwise

import numpy as np

from cosim.coverage.covergroup import ZERO, Covergroup, IntArray, Point, Reason, Seen, chosen, classes, reachable
from cosim.coverage.shapes import Kind, SumShape, sums_of
from golden import Operation


def product_group_groups(operation: Operation, chained: bool) -> list[Covergroup]:
    """The outcome of each group, and groups that cancel but have the largest exponent."""
    inner, outer = sums_of(operation, chained)
    names = ("positive", "negative", "products cancel", "all products zero", "a scale is zero")
    G, scale_format = operation.structure.group, operation.scale_format
    assert scale_format is not None
    assert G is not None
    groups = operation.length // G

    def zero_scale(seen: Seen) -> IntArray:
        alpha, beta = (classes(scale_format, codes) for codes in seen.scales)
        zero = (alpha == ZERO) | (beta == ZERO)
        of_groups: IntArray = zero[..., seen.blocks()[::G]].reshape(-1)[seen.terms(inner).made]
        return of_groups

    def sample(seen: Seen) -> tuple[IntArray, IntArray]:
        terms = seen.terms(inner)
        negative = (seen.records.sums["flags"][:, :, :groups].reshape(-1)[terms.made] & 4) != 0
        place = np.broadcast_to(np.arange(groups), (len(seen.records.sums), seen.steps, groups)).reshape(-1)[terms.made]
        scale = zero_scale(seen)
        cases = (scale, ~terms.something, terms.zero, negative, ~negative)
        return place, np.array([4, 3, 2, 1, 0])[chosen(*cases)]

    def unreachable(_: str, name: str) -> Reason:
        if name == "products cancel" and G == 1:
            return "a group has one product"
        return f"{scale_format} has no zero" if name == "a scale is zero" and not scale_format.has_zero else None

    def cancelled(seen: Seen) -> tuple[IntArray]:
        of_groups, terms = seen.terms(inner), seen.terms(outer)
        cancels = (of_groups.something & of_groups.zero).reshape(-1, groups)
        at_top = cancels & (terms.gap[:, :groups] == 0)
        others = (terms.nonzero & (terms.gap == 0)).any(axis=1)
        return (chosen(at_top.any(axis=1) & ~others, at_top.any(axis=1), cancels.any(axis=1)),)

    of_cancelled = ("alone at the largest exponent", "at the largest exponent with others", "below the largest exponent")

    def never_cancels(_: str) -> Reason:
        return "a group has one product" if G == 1 else None

    where = Point("group", tuple(f"group {n}" for n in range(groups)))
    return [
        Covergroup("each group", (where, Point("sum", names)), sample, unreachable),
        Covergroup("groups that cancel", (Point("exponent", of_cancelled),), cancelled, never_cancels),
    ]


DISTANCES = ((0, 0), (1, 1), (2, 3), (4, 7), (8, 15), (16, 31), (32, 63), (64, None))
"""Ranges of the distance of a term's exponent below the largest (exponent values)."""

DEPTHS = ((1, 1), (2, 3), (4, 7), (8, 15), (16, 31), (32, None))
"""Ranges of the number of leading bits that cancel (bits)."""

NO_TERM = "no term but zeros"


def sum_groups(operation: Operation, chained: bool) -> list[Covergroup]:
    """The covergroups of each sum of a step and of the groups of products that have scales."""
    found = []
    for shape in sums_of(operation, chained):
        found += [alignment_group(shape), distance_group(shape), sign_group(shape), cancellation_group(shape)]
        if shape.e_zero is not None:
            found.append(floor_group(shape, shape.e_zero))
    return [*found, *(product_group_groups(operation, chained) if operation.structure.scales_groups else [])]


def largest_of(shape: SumShape) -> tuple[str, ...]:
    """Descriptions of the terms that can have the largest exponent: of one kind, or of both."""
    names = []
    for kind in shape.kinds:
        names += [kind.name] if kind.count == 1 else [f"one {kind.name}", f"several {kind.plural}"]
    if len(shape.kinds) == 2:
        names.append("both kinds")
    return (*names, *([NO_TERM] if has_zeros(shape) else []))


def has_zeros(shape: SumShape) -> bool:
    """Return whether a zero term can have the largest exponent."""
    return any(kind.zeros is not None for kind in shape.kinds)


def _largest(shape: SumShape, seen: Seen) -> IntArray:
    """Index in `largest_of` of each sum [samples]; −1 if all terms are zero and the sum has no floor."""
    terms = seen.terms(shape)
    at_top = terms.nonzero & (terms.gap == 0)
    counts = [at_top[:, places].sum(axis=1) for places in _places(shape)]
    conditions = []
    for number, kind in enumerate(shape.kinds):
        alone = sum(count for other, count in enumerate(counts) if other != number) == 0
        conditions += [alone & (counts[number] == 1)]
        conditions += [alone & (counts[number] > 1)] if kind.count > 1 else []
    if len(counts) == 2:
        conditions.append((counts[0] > 0) & (counts[1] > 0))
    if has_zeros(shape):
        conditions.append(sum(counts) == 0)
    return chosen(*conditions)


def _places(shape: SumShape) -> list[slice]:
    """The places of the terms of each kind."""
    starts = np.cumsum([0, *(kind.count for kind in shape.kinds)]).tolist()
    return [slice(start, end) for start, end in pairwise(starts)]


def _kinds(shape: SumShape) -> IntArray:
    """The index of the kind of each term."""
    return np.repeat(np.arange(len(shape.kinds)), [kind.count for kind in shape.kinds])


def alignment_group(shape: SumShape) -> Covergroup:
    """The part of a term that alignment retains, crossed with the kind of the term that has the largest exponent."""
    fates = ("kept",) if shape.is_exact else ("kept", "partly cut", "wholly cut")

    def sample(seen: Seen) -> tuple[IntArray, IntArray, IntArray]:
        terms = seen.terms(shape)
        fate = chosen(~terms.cut, terms.cut & ~terms.gone, terms.gone)
        return _largest(shape, seen)[:, None], _kinds(shape), np.where(terms.nonzero, fate, -1)

    kinds = Point("term", tuple(kind.name for kind in shape.kinds))
    points = (Point("largest", largest_of(shape)), kinds, Point("alignment", fates))
    return Covergroup(f"{shape.name}: alignment", points, sample, lambda *values: _never_aligned(shape, *values))


def _never_aligned(shape: SumShape, largest: str, term: str, fate: str) -> Reason:
    kind = next(each for each in shape.kinds if each.name == term)
    gaps = _gaps(shape, largest, kind)
    if isinstance(gaps, str):
        return gaps
    if fate == "kept" and shape.is_exact:
        return None
    nearest, farthest = gaps
    kept = kind.fraction_bits
    assert kept is not None
    # At the lowest exponent a significand may be as small as one unit of its last place; it then has least_bits bits.
    if fate == "kept" and nearest > kept + kind.lead:
        return f"a {term} lies at least {nearest} below the largest exponent, beyond the {kept} bits that are kept"
    if fate == "partly cut" and farthest + kind.frac - kept < 1:
        return f"a {term} lies at most {farthest} below the largest exponent, where its {kind.frac} fraction bits are kept"
    least_bits = kind.higher_bits if farthest == 0 and _lowest_top(shape, largest) > kind.lowest else kind.least_bits
    if fate == "wholly cut" and farthest + kind.frac - kept < least_bits:
        return f"a {term} lies at most {farthest} below the largest exponent, where {kept} bits keep some of it"
    return None


def _gaps(shape: SumShape, largest: str, kind: Kind) -> tuple[int, int] | str:
    """The range of distances of a term of that kind below the largest exponent, or the reason why it is empty."""
    if largest == NO_TERM:
        others = [each.zeros for each in shape.kinds if each.zeros is not None and (each is not kind or each.count > 1)]
        highest = max((high for _, high in others), default=kind.lowest)
        if kind.lowest >= highest:
            return f"no zero has an exponent above that of a {kind.name}, which is at least {kind.lowest}"
        return max(1, min(low for low, _ in others) - kind.highest), highest - kind.lowest
    tops = _tops(shape, largest)
    low, high = _lowest_top(shape, largest), min(top.highest for top in tops)
    if low > high:
        return f"exponents of {tops[0].name} and {tops[1].name} do not meet"
    nearest, farthest = max(0, low - kind.highest), high - kind.lowest
    if kind in tops:
        alone = kind.count == 1 or (largest == f"several {kind.plural}" and kind.count == 2)
        return (0, 0) if alone else (0, farthest)
    if farthest < 1:
        return f"the exponent of a {kind.name} is at least that of {largest}"
    return max(1, nearest), farthest


def _lowest_top(shape: SumShape, largest: str) -> int:
    """The smallest exponent with which those terms can be the largest; all other terms are zero or lie below."""
    tops = _tops(shape, largest)
    others = [each for each in shape.kinds if each not in tops and each.zeros is not None]
    below = [min(each.zeros[0], each.lowest + 1) for each in others if each.zeros is not None]
    return max([*below, *(top.lowest for top in tops)])


def _tops(shape: SumShape, largest: str) -> list[Kind]:
    if largest == "both kinds":
        return list(shape.kinds)
    return [kind for kind in shape.kinds if largest in (kind.name, f"one {kind.name}", f"several {kind.plural}")]


def distance_group(shape: SumShape) -> Covergroup:
    """The covergroup of the distances of terms below the largest exponent."""
    names = tuple(_range(low, high) for low, high in DISTANCES)

    def sample(seen: Seen) -> tuple[IntArray, IntArray]:
        terms = seen.terms(shape)
        return _kinds(shape), np.where(terms.nonzero, _within(terms.gap, DISTANCES), -1)

    def unreachable(term: str, distance: str) -> Reason:
        low, high = DISTANCES[names.index(distance)]
        if shape.count == 1 and low:
            return "there is one term"
        kind = next(each for each in shape.kinds if each.name == term)
        gaps = [gap for top in largest_of(shape) if not isinstance(gap := _gaps(shape, top, kind), str)]
        if not gaps:
            return f"the exponent of a {term} never is the largest or lies below it"
        farthest, nearest = max(far for _, far in gaps), min(near for near, _ in gaps)
        if low > farthest:
            return (
                f"exponents reach from {kind.lowest} to {kind.highest}: a {term} lies at most {farthest} below the largest"
            )
        return None if high is None or high >= nearest else f"a {term} lies at least {nearest} below the largest exponent"

    points = (Point("term", tuple(kind.name for kind in shape.kinds)), Point("distance", names))
    return Covergroup(f"{shape.name}: distance to the largest exponent", points, sample, unreachable)


def _range(low: int, high: int | None) -> str:
    return f"{low} or more" if high is None else f"{low}" if low == high else f"{low} to {high}"


def _within(values: IntArray, ranges: tuple[tuple[int, int | None], ...]) -> IntArray:
    """The index of the range that contains each value; −1 below the first range."""
    return np.searchsorted([low for low, _ in ranges], values, side="right") - 1


def sign_group(shape: SumShape) -> Covergroup:
    """The signs of the terms of each kind."""

    def sample(seen: Seen) -> list[IntArray]:
        terms = seen.terms(shape)
        found = []
        for places in _places(shape):
            minus = (terms.nonzero & terms.negative)[:, places].any(axis=1)
            plus = (terms.nonzero & ~terms.negative)[:, places].any(axis=1)
            found.append(np.where(plus, 1, 0) + np.where(minus, 2, 0))
        return found

    def signs(kind: Kind) -> tuple[str, ...]:
        return ("zero", "plus", "minus") if kind.count == 1 else ("all zero", "plus", "minus", "both signs")

    points = tuple(Point(f"sign of {kind.name}", signs(kind)) for kind in shape.kinds)
    return Covergroup(f"{shape.name}: signs", points, sample, reachable)


def cancellation_group(shape: SumShape) -> Covergroup:
    """The position of the total's leading one relative to the highest leading one of the aligned terms."""
    deeper = tuple(f"{_range(low, high)} bits cancel" if high != 1 else "1 bit cancels" for low, high in DEPTHS)
    names = ("grows by 2 or more", "grows by 1", "same leading bit", *deeper, "cancels to zero")

    def sample(seen: Seen) -> tuple[IntArray]:
        terms = seen.terms(shape)
        depth = terms.depth
        if shape.scaled or not shape.is_exact:
            # The largest term's leading bit may stand one higher than its own: a group is seen times its scales'
            # significands, and RD may carry a negative term.
            deepest = _deepest(shape)
            depth = np.where(depth == deepest + 1, deepest, depth)
        index = np.select([depth <= -2, depth == -1, depth == 0], [0, 1, 2], _within(depth, DEPTHS) + 3)
        return (np.where(terms.something, np.where(terms.zero, len(names) - 1, index), -1),)

    # Rounded down, a term that lies wholly below the last place kept becomes a unit of it, above its own leading one.
    rises = any(kind.fraction_bits is not None and kind.fraction_bits + kind.lead < 0 for kind in shape.kinds)

    def unreachable(name: str) -> Reason:
        if rises and name in names[:2]:
            return None
        if shape.count == 1:
            return None if name == "same leading bit" else "there is one term"
        if name == names[0] and shape.count < 3:
            return "two terms grow by one bit"
        if name in deeper:
            deepest = _deepest(shape)
            low, _ = DEPTHS[deeper.index(name)]
            return f"at most {deepest} bits cancel" if low > deepest else None
        return None

    return Covergroup(f"{shape.name}: cancellation", (Point("cancellation", names),), sample, unreachable)


def _deepest(shape: SumShape) -> int:
    """The largest number of leading bits that can cancel without the total becoming zero."""
    if shape.count == 2 and not shape.inverted:
        # Two terms cancel down to one bit of one of them at most; no product is all ones over its whole width.
        whole = max(kind.frac + kind.lead + (kind.name != "product") for kind in shape.kinds)
    else:
        whole = max(kind.highest + kind.lead for kind in shape.kinds) - min(kind.lowest - kind.frac for kind in shape.kinds)
    if shape.is_exact:
        return whole
    kept = max((kind.fraction_bits or 0) + kind.lead for kind in shape.kinds)
    return min(whole, kept)


def floor_group(shape: SumShape, e_zero: int) -> Covergroup:
    """The floor of e_max: whether a term is zero, whether its exponent is the largest, and whether that cuts other terms."""
    names = (
        "no term is zero",
        "a zero below the largest",
        "a zero at the largest exponent of others",
        "all are zero",
        "the floor, nothing cut",
        "the floor, some cut",
        "the floor, all wholly cut",
    )

    def sample(seen: Seen) -> tuple[IntArray]:
        terms = seen.terms(shape)
        # A group that cancels is zero too, at an exponent of its own.
        has_zero = (~terms.nonzero & (terms.e_max[:, None] - terms.gap == e_zero)).any(axis=1)
        has_more = terms.nonzero.any(axis=1)
        at_floor = (terms.e_max == e_zero) & has_zero
        tops = (terms.nonzero & (terms.gap == 0)).any(axis=1)
        cut, gone = terms.cut.any(axis=1), (terms.gone | ~terms.nonzero).all(axis=1)
        return (
            chosen(
                ~has_zero,
                ~at_floor & has_more,
                at_floor & tops,
                ~has_more,
                at_floor & ~cut,
                at_floor & ~gone,
                at_floor & gone,
            ),
        )

    def unreachable(name: str) -> Reason:
        lowest, highest = min(kind.lowest for kind in shape.kinds), max(kind.highest for kind in shape.kinds)
        if name == names[1] and highest <= e_zero:
            return f"no exponent is above that of zeros, {e_zero}"
        if name == names[2] and lowest > e_zero:
            return f"exponents of terms are at least {lowest}, above that of zeros, {e_zero}"
        if name in names[4:] and lowest >= e_zero:
            return f"exponents of terms are at least {lowest}, not below that of zeros, {e_zero}"
        fates = {names[4]: "kept", names[5]: "partly cut", names[6]: "wholly cut"}
        if name in fates:
            reasons = [_never_aligned(shape, NO_TERM, kind.name, fates[name]) for kind in shape.kinds]
            return None if None in reasons else reasons[0]
        return None

    return Covergroup(f"{shape.name}: floor of e_max", (Point("zeros", names),), sample, unreachable)
