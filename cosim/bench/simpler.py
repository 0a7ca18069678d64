"""Simpler operands: what a failing row is replaced by on the way to the smallest that still fails."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from golden import Cls, Format


class Row(NamedTuple):
    """Operands of one dot product, as codes; no scales where it has none."""

    a: tuple[int, ...]
    b: tuple[int, ...]
    c: int
    scale_a: tuple[int, ...] = ()
    scale_b: tuple[int, ...] = ()


class Formats(NamedTuple):
    """The formats of a row."""

    a: Format
    b: Format
    c: Format
    scale: Format | None


def cost(row: Row, formats: Formats) -> tuple[int, int]:
    """How simple a row is: how many of its terms are not zero, then how simple its values are."""
    products = sum(not (_is_zero(p, formats.a) or _is_zero(q, formats.b)) for p, q in zip(row.a, row.b, strict=True))
    values = sum(_cost(code, formats.a) for code in row.a) + sum(_cost(code, formats.b) for code in row.b)
    if formats.scale is not None:
        values += sum(_cost(code, formats.scale) for code in (*row.scale_a, *row.scale_b))
    return products + (not _is_zero(row.c, formats.c)), values + _cost(row.c, formats.c)


def _cost(code: int, operand: Format) -> int:
    """0 for zero, little for one, then by sign, size of the exponent and ones of the mantissa; specials last."""
    sign, exp, sig, cls = operand.decode(code)
    if cls is Cls.ZERO:
        return sign
    if cls >= Cls.INFINITY:
        return 100 + sign
    return 1 + sign + 2 * abs(exp).bit_length() + 4 * (sig.bit_count() - 1) + 2 * (cls is Cls.SUBNORMAL)


def with_fewer_terms(row: Row, formats: Formats) -> Iterator[Row]:
    """Rows in which terms are zero: c, halves of the products, quarters, down to single ones."""
    yield row._replace(c=0)
    size = len(row.a)
    while size:
        for start in range(0, len(row.a), size):
            gone = range(start, min(start + size, len(row.a)))
            if any(row.a[k] or row.b[k] for k in gone):
                yield row._replace(a=_replaced(row.a, gone, 0), b=_replaced(row.b, gone, 0))
        size //= 2


def with_simpler_values(row: Row, formats: Formats) -> Iterator[Row]:
    """Rows in which one value is simpler, or all exponents are nearer to zero."""
    yield from _shifted(row, formats)
    for k in range(len(row.a)):
        yield from _simpler_products(row, formats, k)
    for code in _simpler(row.c, formats.c):
        yield row._replace(c=code)
    if formats.scale is not None:
        for k in range(len(row.scale_a)):
            for code in _simpler(row.scale_a[k], formats.scale):
                yield row._replace(scale_a=_replaced(row.scale_a, [k], code))
            for code in _simpler(row.scale_b[k], formats.scale):
                yield row._replace(scale_b=_replaced(row.scale_b, [k], code))


def _simpler_products(row: Row, formats: Formats, k: int) -> Iterator[Row]:
    """One product with a simpler factor, or its exponents in one factor alone."""
    for code in _simpler(row.a[k], formats.a):
        yield row._replace(a=_replaced(row.a, [k], code))
    for code in _simpler(row.b[k], formats.b):
        yield row._replace(b=_replaced(row.b, [k], code))
    x, y = formats.a.decode(row.a[k]), formats.b.decode(row.b[k])
    if x.cls is y.cls is Cls.NORMAL:
        for exp_a, exp_b in ((0, x.exp + y.exp), (x.exp + y.exp, 0)):
            a, b = _number(formats.a, x.sign, exp_a, x.sig), _number(formats.b, y.sign, exp_b, y.sig)
            if a is not None and b is not None:
                yield row._replace(a=_replaced(row.a, [k], a), b=_replaced(row.b, [k], b))
    if x.sign and y.sign:
        positive = (row.a[k] ^ formats.a.negative_zero, row.b[k] ^ formats.b.negative_zero)
        yield row._replace(a=_replaced(row.a, [k], positive[0]), b=_replaced(row.b, [k], positive[1]))


def _simpler(code: int, operand: Format) -> Iterator[int]:
    """Simpler codes than one, the simplest first."""
    sign, exp, sig, cls = operand.decode(code)
    if cls is Cls.ZERO:
        if sign:
            yield 0
        return
    one = operand.encode(1)
    yield one
    if sign:
        yield one | operand.negative_zero
        yield code ^ operand.negative_zero
    if cls >= Cls.INFINITY:
        if operand.infinity is not None and cls is Cls.NAN:
            yield operand.infinity
        return
    hidden = 1 << operand.man_bits
    half = hidden | sig >> (operand.man_bits // 2) << (operand.man_bits // 2)
    for simpler_sig in (hidden, half & (2 * hidden - 1), sig & (sig - 1)):
        if simpler_sig & hidden and sig & hidden:
            yield from _known(_number(operand, sign, exp, simpler_sig))
        elif not sig & hidden and sig & (sig - 1):
            yield from _known(_number(operand, sign, exp, sig & (sig - 1)))
    for nearer in {0, exp // 2, exp - (exp > 0) + (exp < 0)} - {exp}:
        yield from _known(_number(operand, sign, nearer, sig))


def _shifted(row: Row, formats: Formats) -> Iterator[Row]:
    """All terms times one power of two, so that exponents come nearer to zero: b takes it for the products."""
    z = formats.c.decode(row.c)
    exps = [formats.b.decode(code).exp for code in row.b if not _is_zero(code, formats.b)]
    wanted = {z.exp if z.sig else 0, *exps}
    for exp in sorted({step for e in wanted for step in (e, e // 2, 1 if e > 0 else -1 if e < 0 else 0)} - {0}):
        b = [_times(code, formats.b, -exp) for code in row.b]
        c = _times(row.c, formats.c, -exp)
        if c is not None and all(code is not None for code in b):
            yield row._replace(b=tuple(code for code in b if code is not None), c=c)


def _times(code: int, operand: Format, exp: int) -> int | None:
    """A code times 2**exp, None where the format does not hold that as a normal number."""
    x = operand.decode(code)
    if x.cls is not Cls.NORMAL:
        return code if x.cls is not Cls.SUBNORMAL else None
    return _number(operand, x.sign, x.exp + exp, x.sig)


def _number(operand: Format, sign: int, exp: int, sig: int) -> int | None:
    """The code of sig · 2**(exp − man_bits), None where the format does not hold it exactly."""
    code = operand.encode_scaled(-sig if sign else sig, exp - operand.man_bits, "RZ")
    return code if operand.decode(code)[:3] == (sign, exp, sig) else None


def _known(code: int | None) -> Iterator[int]:
    if code is not None:
        yield code


def _is_zero(code: int, operand: Format) -> bool:
    return operand.decode(code).cls is Cls.ZERO


def _replaced(codes: tuple[int, ...], places: Sequence[int] | range, code: int) -> tuple[int, ...]:
    return tuple(code if k in places else old for k, old in enumerate(codes))
