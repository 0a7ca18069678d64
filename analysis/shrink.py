"""The smallest row that still shows something: products become zeros, significands lose bits, exponents come near 0."""

from collections.abc import Callable, Iterator

from analysis.exact import Arithmetic, Row
from analysis.order import Place, size
from golden.formats import Cls, Format


def smallest(row: Row, arithmetic: Arithmetic, shows: Callable[[Row], bool]) -> Row:
    """Smaller rows are taken, one change after the other, as long as they still show it; `size` says what is smaller."""
    going_on = True
    while going_on:
        going_on = False
        for smaller in _simpler(row, arithmetic):
            if size(smaller, arithmetic) < size(row, arithmetic) and shows(smaller):
                row, going_on = smaller, True
                break
    return row


def _simpler(row: Row, arithmetic: Arithmetic) -> Iterator[Row]:
    for k in range(arithmetic.K):
        if row.a[k] or row.b[k]:
            yield Place("a", k).put(Place("b", k).put(row, 0), 0)
    yield Place("c").put(row, 0)
    places = [Place("c"), *(Place(name, k) for k in range(arithmetic.K) for name in ("a", "b"))]
    for place in places:
        operand = {"a": arithmetic.a, "b": arithmetic.b}.get(place.name, arithmetic.c)
        for code in _simpler_codes(place.code(row), operand):
            yield place.put(row, code)
    yield from _shifted(row, arithmetic)


def _simpler_codes(code: int, operand: Format) -> Iterator[int]:
    x = operand.decode(code)
    if x.cls not in (Cls.SUBNORMAL, Cls.NORMAL):
        return
    sign = operand.negative_zero if x.sign else 0
    one = sign | operand.encode(1)
    if code != one:
        yield one
    low = operand.pad_bits
    for bit in range(operand.man_bits):
        if code >> (low + bit) & 1:
            yield code & ~(1 << (low + bit))
    hidden = 1 << operand.man_bits << low
    for other in (code - hidden, code + hidden):
        if 0 <= other < operand.codes and operand.decode(other).cls is Cls.NORMAL and operand.decode(other).sign == x.sign:
            yield other


def _shifted(row: Row, arithmetic: Arithmetic) -> Iterator[Row]:
    """The whole row by a power of two: every a that is not zero, and c."""
    for step in (16, -16, 4, -4, 1, -1):
        a = tuple(_moved(code, arithmetic.a, step) for code in row.a)
        c = _moved(row.c, arithmetic.c, step)
        if c is not None and None not in a:
            yield Row(
                a=tuple(code for code in a if code is not None), b=row.b, c=c, scale_a=row.scale_a, scale_b=row.scale_b
            )


def _moved(code: int, operand: Format, step: int) -> int | None:
    x = operand.decode(code)
    if x.cls is Cls.ZERO:
        return code
    other = code + (step << operand.man_bits << operand.pad_bits)
    if x.cls is not Cls.NORMAL or not 0 <= other < operand.codes:
        return None
    y = operand.decode(other)
    return other if y.cls is Cls.NORMAL and y.sign == x.sign else None
