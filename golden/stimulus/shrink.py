"""The smallest row of operands that still fails: a search asks, for many rows at once, which simpler rows fail too.

The caller defines what fails: a design that differs from its model, a device, two models that differ, an arithmetic that
lacks a property. The search yields rows and takes their verdicts, so that a simulation may await them:

>>> from golden.arithmetic.formats import FP16, FP32
>>> from golden.stimulus import OperandShape, Row
>>> shape = OperandShape(a=FP16, b=FP16, c=FP32, d=FP32, K=2)
>>> smallest(Row((0x3D55, 0x4155), (0x4155, 0xC000), 0x42F60000), shape, lambda rows: [row.b[1] >> 15 for row in rows])
Row(a=(0, 0), b=(0, 32768), c=0, scale_a=(), scale_b=())
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy.typing as npt

from golden.arithmetic.formats import Cls, Decoded, Format
from golden.stimulus.shape import Operands, OperandShape, Place, Row, operands_of, places_of, rows_of

Cost = tuple[int, int, int]

MAX_PAIRED = 24
"""Largest number of terms of a row for which every pair of terms is tried alone, and each term is left out beside another
change."""

MAX_PAIRED_VALUES = 8
"""Largest number of non-zero values, and of terms, of a row for which two changes are made together."""

SPECIAL = 1 << 12
"""Weight of an infinity or a NaN; any number weighs less."""

MOVES = (-1, 1, -2, 2)
"""Distances by which exponents of single values are moved."""

ONE_MORE = 32
"""Weight of each 1 bit of a significand after the first; any exponent weighs less."""

MAX_MOVED = 64
"""Largest distance by which exponents are moved if one of the terms becomes 1."""


# 1. how simple a row is


def cost(row: Row, shape: OperandShape) -> Cost:
    """How simple a row is, smaller is simpler: terms that are not zero, then how simple its values are, then how far their
    exponents lie from 0. A term is a product or c; the simplest value of an operand is 0, of a scale 1."""
    pairs = [(p, q) for p, q in zip(row.a, row.b, strict=True) if p or q]  # of code 0, which weighs nothing, are most
    products = [(_weight(p, shape.a), _weight(q, shape.b)) for p, q in pairs]
    c, scales = _weight(row.c, shape.c), list[_Weight]()
    if shape.scale is not None:
        one = shape.scale.encode(1)
        scales = [_weight(code, shape.scale) for code in (*row.scale_a, *row.scale_b) if code != one]
    terms = sum(_is_term(x, y) for x, y in products) + (c.cls is not Cls.ZERO)
    every = [weight for pair in (*products, (c, *scales)) for weight in pair]
    return terms, sum(each.value for each in every) + len(scales), sum(each.distance for each in every)


class _Weight(NamedTuple):
    """How simple a code is: 0 for zero, little for one, then by ones of the significand, size of the exponent and sign;
    specials last. And how far its leading one lies from 2^0."""

    cls: Cls
    value: int
    distance: int


@lru_cache(1 << 16)
def _weight(code: int, operand: Format) -> _Weight:
    x = operand.decode(code)
    value = x.sign + (code != _plain(x, operand, code))
    if x.cls is Cls.ZERO:
        return _Weight(x.cls, value, 0)
    if x.cls >= Cls.INFINITY:
        return _Weight(x.cls, value + SPECIAL + 2 * (x.cls is Cls.NAN), 0)
    distance = abs(_last_bit(x, operand) + x.sig.bit_length() - 1)
    value += 1 + 2 * distance.bit_length() + ONE_MORE * (x.sig.bit_count() - 1) + 2 * (x.cls is Cls.SUBNORMAL)
    return _Weight(x.cls, value, distance)


def _is_term(x: _Weight, y: _Weight) -> bool:
    """Whether a product is not zero."""
    return Cls.ZERO not in (x.cls, y.cls) or max(x.cls, y.cls) >= Cls.INFINITY


def _plain(x: Decoded, operand: Format, code: int) -> int:
    """The code of the same operand without bits that nothing reads; of NaN, the quiet one."""
    if x.cls is Cls.ZERO:
        return operand.negative_zero if x.sign else 0
    if x.cls is Cls.NAN:
        return operand.nan or code
    if x.cls is Cls.INFINITY:
        return operand.signed_infinity(x.sign)
    found = _number(operand, x.sign, x.sig, _last_bit(x, operand))
    assert found is not None
    return found


def _terms(row: Row, shape: OperandShape) -> list[Place]:
    """The terms of a row that are not zero, a product under the name of its a."""
    pairs = enumerate(zip(row.a, row.b, strict=True))
    found = [Place("a", k) for k, (p, q) in pairs if _is_term(_weight(p, shape.a), _weight(q, shape.b))]
    return found if shape.c.decode(row.c).cls is Cls.ZERO else [*found, Place("c")]


# 2. simpler rows


def rows_with_fewer_terms(row: Row, shape: OperandShape) -> Iterator[Row]:
    """Rows with some terms alone, none to two; and without c, halves of the products, quarters, down to single ones."""
    terms = _terms(row, shape)
    for count in (0, 1, 2) if len(terms) <= MAX_PAIRED else (0, 1):
        yield from (_alone(row, alone) for alone in combinations(terms, count))
    yield replace(row, c=0)
    size = len(row.a)
    while size:
        for start in range(0, len(row.a), size):
            yield _without(row, range(start, min(start + size, len(row.a))))
        size //= 2


def _alone(row: Row, terms: Sequence[Place]) -> Row:
    """The row with zeros for all but some of its terms."""
    stay = {place.k for place in terms if place.name == "a"}
    without = _without(row, [k for k in range(len(row.a)) if k not in stay])
    return without if Place("c") in terms else replace(without, c=0)


def _without(row: Row, products: Sequence[int]) -> Row:
    """The row with zeros for some products."""
    gone = frozenset(products)
    a, b = (tuple(0 if k in gone else code for k, code in enumerate(codes)) for codes in (row.a, row.b))
    return replace(row, a=a, b=b)


def rows_one_change_away(row: Row, shape: OperandShape) -> Iterator[Row]:
    """Rows with all exponents moved, or with one value changed; most of them are simpler."""
    yield from _shifted(row, shape)
    for place in places_of(row, shape.scale_operands):
        yield from (place.put(row, code) for code in _other_codes(place, row, shape))
    for k in range(len(row.a)):
        yield from _products_alike(row, shape, k)


def rows_two_changes_away(row: Row, shape: OperandShape) -> Iterator[Row]:
    """Rows with a value changed and a term gone, with two values changed, or with one term 1 or −1 and any exponent moved;
    of rows with few terms, or few values that are not 0."""
    used = [place for place in places_of(row, shape.scale_operands) if _weight(place.code(row), place.format(shape)).value]
    yield from _without_one(row, shape, used)
    if len(used) > MAX_PAIRED_VALUES:
        return
    for first, second in combinations(used, 2):
        codes = _other_codes(second, row, shape)
        for code in _other_codes(first, row, shape):
            changed = first.put(row, code)
            yield from (second.put(changed, other) for other in codes)
    for one in _ones(row, shape):
        for place in used:
            if place.code(one) == place.code(row):
                for code in _moved_codes(place.code(row), place.format(shape), range(-MAX_MOVED, MAX_MOVED + 1)):
                    yield place.put(one, code)


def _without_one(row: Row, shape: OperandShape, used: Sequence[Place]) -> Iterator[Row]:
    """Rows with a term gone and a value of another changed; of many terms, with an exponent of another moved."""
    terms = _terms(row, shape)
    if not 1 <= len(terms) <= MAX_PAIRED:
        return
    for stay in combinations(terms, len(terms) - 1):
        alone = _alone(row, stay)
        for place in used:
            code, operand = place.code(row), place.format(shape)
            if place.code(alone) == code:
                few = len(terms) <= MAX_PAIRED_VALUES
                codes = _other_codes(place, row, shape) if few else _moved_codes(code, operand, MOVES)
                yield from (place.put(alone, other) for other in codes)


def _ones(row: Row, shape: OperandShape) -> Iterator[Row]:
    """Rows with 1 or −1 for one of their terms."""
    for term in _terms(row, shape):
        operand = term.format(shape)
        for code in dict.fromkeys((operand.encode(1), operand.encode(-1 if operand.signed else 1))):
            changed = term.put(row, code)
            yield changed if term == Place("c") else Place("b", term.k).put(changed, shape.b.encode(1))


def together(row: Row, changed: Sequence[Row]) -> Row:
    """The row with the changes of several; where two change one code, the first counts."""

    def merged(before: Any, after: Sequence[Any]) -> Any:
        if isinstance(before, tuple):
            return tuple(merged(code, codes) for code, codes in zip(before, zip(*after, strict=True), strict=True))
        return next((code for code in after if code != before), before)

    return Row(*(merged(getattr(row, f.name), [getattr(each, f.name) for each in changed]) for f in fields(Row)))


def simpler_codes(code: int, operand: Format) -> Iterator[int]:
    """Simpler codes than one: zero and one, of either sign; fewer bits of the significand; exponents nearer to 0."""
    x = operand.decode(code)
    signs = (0, 1) if x.sign else (0,)
    yield _plain(x, operand, code)
    if operand.decode(0).cls is Cls.ZERO:
        yield from (operand.negative_zero if sign else 0 for sign in signs)
    if x.cls is Cls.ZERO:
        return
    numbers = [(sign, 1, 0) for sign in signs]
    if x.cls >= Cls.INFINITY:
        if operand.infinity is not None:
            yield from (operand.signed_infinity(sign) for sign in signs)
    else:
        numbers += _simpler_numbers(x, _last_bit(x, operand))
    yield from (found for number in numbers if (found := _number(operand, *number)) is not None)


def _other_codes(place: Place, row: Row, shape: OperandShape) -> list[int]:
    """Simpler codes for a place, and those whose exponent is moved a little."""
    code, operand = place.code(row), place.format(shape)
    ones = [operand.encode(1)] if place.name in ("scale_a", "scale_b") else []
    others = dict.fromkeys((*simpler_codes(code, operand), *_moved_codes(code, operand, MOVES), *ones))
    return [other for other in others if other != code]


def _moved_codes(code: int, operand: Format, exps: Iterable[int]) -> list[int]:
    """Codes of a number times powers of two."""
    return [moved for exp in exps if (moved := _times(code, operand, exp)) is not None]


def _simpler_numbers(x: Decoded, last: int) -> list[tuple[int, int, int]]:
    """Sign, significand and exponent of its last bit of simpler numbers than a finite one."""
    bits = x.sig.bit_length()
    lead = last + bits - 1
    half = bits // 2
    ones = [1 << bit for bit in range(bits) if x.sig >> bit & 1]
    sigs = [*ones, x.sig >> half << half, *(x.sig & ~one for one in ones)]
    leads = [0, lead // 2 if lead > 0 else -(-lead // 2), lead - 1 if lead > 0 else lead + 1]
    moved = [(x.sign, x.sig, last + to - lead) for to in leads]
    return [(0, x.sig, last), *((x.sign, sig, last) for sig in sigs), *moved]


def _products_alike(row: Row, shape: OperandShape, k: int) -> Iterator[Row]:
    """Rows in which a product has its exponent in one factor alone, and no signs that cancel."""
    a, b = Place("a", k), Place("b", k)
    x, y = shape.a.decode(row.a[k]), shape.b.decode(row.b[k])
    if any(z.cls in (Cls.ZERO, Cls.INFINITY, Cls.NAN) for z in (x, y)):
        return
    lasts = _last_bit(x, shape.a), _last_bit(y, shape.b)
    leads = lasts[0] + x.sig.bit_length() - 1, lasts[1] + y.sig.bit_length() - 1
    signs = (0, 0) if x.sign and y.sign else (x.sign, y.sign)
    for up in (0, -leads[0], leads[1]):
        codes = _number(shape.a, signs[0], x.sig, lasts[0] + up), _number(shape.b, signs[1], y.sig, lasts[1] - up)
        if codes[0] is not None and codes[1] is not None:
            yield b.put(a.put(row, codes[0]), codes[1])


def _shifted(row: Row, shape: OperandShape) -> Iterator[Row]:
    """All terms times one power of two, so that exponents come nearer to 0: a or b takes it for the products."""
    for name, factors, operand in (("a", row.a, shape.a), ("b", row.b, shape.b)):
        leads = [_lead(code, of) for code, of in (*((code, operand) for code in factors), (row.c, shape.c))]
        wanted = {step for lead in leads if lead for step in (lead, int(lead / 2), 1 if lead > 0 else -1)}
        for step in sorted(wanted - {0}):
            codes = [moved for code in factors if (moved := _times(code, operand, -step)) is not None]
            c = _times(row.c, shape.c, -step)
            if c is not None and len(codes) == len(factors):
                yield replace(row, a=tuple(codes), c=c) if name == "a" else replace(row, b=tuple(codes), c=c)


# 3. numbers


def _last_bit(x: Decoded, operand: Format) -> int:
    """Exponent of the last bit of a significand."""
    return x.exp - operand.man_bits


def _lead(code: int, operand: Format) -> int | None:
    """Exponent of the leading one, None where there is none."""
    x = operand.decode(code)
    return _last_bit(x, operand) + x.sig.bit_length() - 1 if x.sig else None


def _times(code: int, operand: Format, exp: int) -> int | None:
    """A code times 2**exp, None where the format does not hold that exactly. Zeros and specials stay."""
    x = operand.decode(code)
    return _number(operand, x.sign, x.sig, _last_bit(x, operand) + exp) if x.sig else code


def _number(operand: Format, sign: int, sig: int, last: int) -> int | None:
    """The code of (−1)^sign · sig · 2**last, None where the format does not hold it exactly."""
    code = operand.encode_scaled(-sig if sign else sig, last, "RZ")
    x = operand.decode(code)
    low = min(last, _last_bit(x, operand))
    same = x.sig << _last_bit(x, operand) - low == sig << last - low
    return code if same and x.sign == sign else None


MAX_ASKED = 20_000
"""Largest number of rows that one search asks for."""

BATCH = 512
"""Largest number of rows that a search asks for at once."""

NEAR = (rows_with_fewer_terms, rows_one_change_away, rows_two_changes_away)
"""Generators of simpler rows, in the order in which a round tries them; the round ends with the first generator that has a
failing row."""

Search = Generator[Sequence[Row], Iterable[Any], Row]
"""A search as a generator: it yields batches of rows (at least one row), is sent for each row whether it fails, and returns
the smallest row found."""


def search(row: Row, shape: OperandShape) -> Search:
    """A search for the smallest row that fails: fewest terms that are not zero, then simplest values.

    In each round the simpler rows are asked for, the simplest first, until some of a batch fail. The simplest of these is
    where the next round starts, or several of their changes made together, where that fails too.

    Args:
        row: a row that fails.
    """
    asked = 0

    def failing(rows: Sequence[Row]) -> Generator[Sequence[Row], Iterable[Any], list[Row]]:
        nonlocal asked
        rows = rows[: MAX_ASKED - asked]
        asked += len(rows)
        verdicts: Iterable[Any] = (yield rows) if rows else ()
        return [each for each, fails in zip(rows, verdicts, strict=True) if fails]

    while True:
        found = list[Row]()
        for near in NEAR:
            candidates = [] if found else _simpler(near(row, shape), row, shape)
            for start in range(0, len(candidates), BATCH):
                found = found or (yield from failing(candidates[start : start + BATCH]))
        if not found:
            return row
        joined = [together(row, found[: 1 << n]) for n in range(1, len(found).bit_length() + 1)]
        simpler = {each: None for each in joined if cost(each, shape) < cost(found[0], shape)}
        row = min([found[0], *(yield from failing(list(simpler)))], key=lambda each: cost(each, shape))


def _simpler(rows: Iterable[Row], row: Row, shape: OperandShape) -> list[Row]:
    """The rows that are simpler than a given one, the simplest first."""
    costs = {each: cost(each, shape) for each in dict.fromkeys(rows)}
    least = cost(row, shape)
    return sorted((each for each in costs if costs[each] < least), key=lambda each: costs[each])


def smallest(row: Row, shape: OperandShape, fails: Callable[[Sequence[Row]], Iterable[Any]]) -> Row:
    """The smallest row found that fails.

    Args:
        row: a row that fails.
        fails: for rows, at least one and at most `BATCH`, which of them fail.
    """
    candidates = search(row, shape)
    try:
        rows = next(candidates)
        while True:
            rows = candidates.send(fails(rows))
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


def smallest_operands(row: Operands, shape: OperandShape, fails: Callable[[Operands], npt.NDArray[Any]]) -> Operands:
    """The smallest operands found that fail.

    Args:
        row: operands [1, K] that fail.
        fails: for operands [rows, K], which rows fail, as an array of bool [rows].
    """
    (first,) = rows_of(row)
    return operands_of([smallest(first, shape, lambda rows: fails(operands_of(rows, shape)))], shape)
