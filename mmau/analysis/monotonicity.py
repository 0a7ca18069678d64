"""Two laws that sums of hardware break: monotonicity, that a larger operand never gives a smaller result, and symmetry, that
Φ(−A, B, −C) = −Φ(A, B, C), or (−a) + (−b) = −(a + b).

Units that cut terms at the largest exponent break the first: a larger term may raise that exponent, and all others lose one
bit more (paper 004). Rounding up or down breaks the second (paper 000, section 6.2.4).
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from golden.arithmetic.format import power_of_two
from golden.arithmetic.formats import FP32, Cls, Format
from golden.stimulus import Place, Row
from mmau.analysis.adverse_rows import Arithmetic, empty_row, gapped_rows, product_codes, stimulus_rows


def next_up(code: int, operand: Format) -> int | None:
    """The code of the next larger finite number; None where there is none, or the format has no sign. Both zeros are
    followed by the smallest positive number."""
    x = operand.decode(code)
    if x.cls >= Cls.INFINITY or not operand.signed:
        return None
    step = 1 << operand.pad_bits
    magnitude = code & ~(operand.negative_zero or 1 << (operand.width - 1)) & ~(step - 1)
    if x.sign and x.cls is not Cls.ZERO:
        lower = magnitude - step
        return lower and lower | (operand.negative_zero or 1 << (operand.width - 1))
    return magnitude + step if magnitude < operand.max_finite else None


def number_of(code: int, operand: Format) -> Fraction | float | None:
    """A result as a number for comparisons, infinities as floats; None for NaN."""
    x = operand.decode(code)
    if x.cls is Cls.NAN:
        return None
    if x.cls is Cls.INFINITY:
        return float("-inf") if x.sign else float("inf")
    return operand.value(code)


def negated(code: int, operand: Format) -> int:
    """The code of the negative number; NaN, and zero in a format without −0, stay unchanged."""
    cls = operand.decode(code).cls
    if cls is Cls.NAN or (cls is Cls.ZERO and not operand.negative_zero):
        return code
    return code ^ (operand.negative_zero or 1 << (operand.width - 1))


MAX_GAP = 45
"""Largest distance of small products below the large term (exponents)."""

LATE_EXP = 16
"""Exponent of the large term where products alone make it: FP8's reach it, and what is 24 bits below."""


@dataclass(frozen=True)
class Fall:
    """A violation of monotonicity: raising one operand of a row to the next number lowers the result (raises it, below a
    negative factor).

    Attributes:
        row: the operands before the change.
        place: the operand that is raised. raised: the operand's code after the change. d, after: the results before and
            after the change.
    """

    row: Row
    place: Place
    raised: int
    d: int
    after: int


def fall(arithmetic: Arithmetic, row: Row, place: Place) -> Fall | None:
    """The violation when one operand is raised; None if the result does not fall, or if a result is NaN."""
    operand = {"a": arithmetic.a, "b": arithmetic.b}.get(place.name, arithmetic.c)
    raised = next_up(place.code(row), operand)
    if raised is None:
        return None
    sign = 1
    if place.name != "c" and not arithmetic.shape.adds:
        factor = arithmetic.b.decode(row.b[place.k]) if place.name == "a" else arithmetic.a.decode(row.a[place.k])
        if factor.cls >= Cls.INFINITY or not factor.sig:
            return None
        sign = -1 if factor.sign else 1
    d, after = arithmetic(row), arithmetic(place.put(row, raised))
    x, y = number_of(d, arithmetic.d), number_of(after, arithmetic.d)
    if x is None or y is None or sign * x <= sign * y:
        return None
    return Fall(row, place, raised, d, after)


CANCELLING = ((5, 6), (6, 6))
"""Significands in quarters of a product that takes away most of a number just below the next power of two."""


def staircases(arithmetic: Arithmetic) -> Iterator[tuple[Row, Place]]:
    """Rows with a large term just below a power of two, and a number of small products that count only as long as it is
    below: fewest products first, small ones of every size; with and without a product that cancels most of the sum.

    The large term is c, which is raised; where c joins at the end alone, it is the sum of the first step. Without c there
    are none.
    """
    if not arithmetic.shape.has_c:
        return
    o = arithmetic.chain.operation
    apart = getattr(o, "G", 1)
    late = arithmetic.chain.fp16_order is not None
    places = arithmetic.chain.order_over(arithmetic.K)
    first, small = (places[: o.length], places[o.length :]) if late else ([], places[: o.length : apart])
    for used in range(1, len(small) + 1):
        for gap in range(1, MAX_GAP):
            for cancels in (True, False):
                row = _staircase(arithmetic, small[:used], gap, cancels, first)
                if row is not None:
                    yield row, Place("a", first[1]) if late else Place("c")


def _staircase(arithmetic: Arithmetic, places: Sequence[int], gap: int, cancels: bool, first: Sequence[int]) -> Row | None:
    """One of them: the small products are 2**(e − gap), the large term is the number below 2**e."""
    e = LATE_EXP if first else max(1, gap + arithmetic.a.e_min + arithmetic.b.e_min)
    small = product_codes(arithmetic, e - gap)
    if small is None or e > arithmetic.c.e_max:
        return None
    a, b = [0] * arithmetic.K, [0] * arithmetic.K
    for k in places:
        a[k], b[k] = small
    if cancels:
        pair = next((p for sigs in CANCELLING if (p := product_codes(arithmetic, e - 1, sigs, 2)) is not None), None)
        if pair is None:
            return None
        a[places[0]], b[places[0]] = negated(pair[0], arithmetic.a), pair[1]
    c = 0
    if first:
        top = product_codes(arithmetic, e)
        lowest = arithmetic.a.e_min - arithmetic.a.man_bits
        factor = power_of_two(e - FP32.man_bits - 1 - lowest)
        below = arithmetic.b.encode(factor)
        if top is None or arithmetic.b.value(below) != factor:
            return None
        a[first[0]], b[first[0]] = top
        a[first[1]], b[first[1]] = negated(1 << arithmetic.a.pad_bits, arithmetic.a), below
    else:
        c = arithmetic.c.encode(power_of_two(e)) - (1 << arithmetic.c.pad_bits)
    return replace(empty_row(arithmetic), a=tuple(a), b=tuple(b), c=c)


def random_cases(arithmetic: Arithmetic, rows: int, seed: int) -> Iterator[tuple[Row, Place]]:
    """Rows of the stimulus and rows built to lose much, each with c, if there is one, and two elements to raise."""
    rng = random.Random(seed)
    for row in (*gapped_rows(arithmetic, range(40)), *stimulus_rows(arithmetic, rows, seed)):
        if arithmetic.shape.has_c:
            yield row, Place("c")
        for name in "ab" if arithmetic.shape.has_b else "a":
            yield row, Place(name, rng.randrange(arithmetic.K))


PAIR_GAPS = 48
"""Largest distance between the terms of the built rows (exponents)."""


@dataclass(frozen=True)
class Asymmetry:
    """A row that violates symmetry: its result, and the result with A and C negated, which is not −d."""

    row: Row
    d: int
    mirrored: int


def asymmetry(arithmetic: Arithmetic, row: Row) -> Asymmetry | None:
    """The asymmetry of a row; None where negating A and C, or both elements that are added, negates the result. Zeros of
    both signs count as equal, and so do NaNs."""
    mirror = replace(row, a=tuple(negated(code, arithmetic.a) for code in row.a), c=negated(row.c, arithmetic.c))
    if arithmetic.shape.adds:
        mirror = replace(mirror, b=tuple(negated(code, arithmetic.b) for code in row.b))
    d, mirrored = arithmetic(row), arithmetic(mirror)
    x, y = number_of(d, arithmetic.d), number_of(mirrored, arithmetic.d)
    same = y is None if x is None else y is not None and x == -y
    return None if same else Asymmetry(row, d, mirrored)


def pairs(arithmetic: Arithmetic) -> Iterator[Row]:
    """Rows with one product beside c, with two products, or with two elements that are added: magnitudes 1 and 2**−gap, one
    of them negative."""
    one = product_codes(arithmetic, 0)
    for gap in range(PAIR_GAPS):
        small, c = product_codes(arithmetic, -gap), arithmetic.c.encode(power_of_two(-gap))
        empty = empty_row(arithmetic)
        if one is None:
            continue
        alone = Place("b").put(Place("a").put(empty, one[0]), one[1])
        if arithmetic.shape.has_c:
            yield replace(alone, c=negated(c, arithmetic.c))
        elif arithmetic.shape.adds and arithmetic.shape.has_b:
            yield Place("b").put(alone, negated(c, arithmetic.b))
        if small is not None and arithmetic.K > 1:
            yield Place("b", 1).put(Place("a", 1).put(alone, negated(small[0], arithmetic.a)), small[1])
