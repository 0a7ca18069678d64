"""Rows of codes for an arithmetic: rows of the stimulus, rows built for large losses, and neighbours of a row."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from golden.arithmetic.format import power_of_two
from golden.arithmetic.formats import Format
from golden.stimulus import Row, generate, rows_of
from mmau.analysis.exact_value import Arithmetic


def stimulus_rows(arithmetic: Arithmetic, count: int, seed: int) -> list[Row]:
    """Rows of all classes and corners."""
    return rows_of(generate(arithmetic.shape, count, seed).operands)


def empty_row(arithmetic: Arithmetic) -> Row:
    """All zeros, every scale one."""
    blocks = arithmetic.shape.blocks
    scale = arithmetic.chain.operation.scale_format
    ones = () if scale is None else (scale.encode(1),) * blocks
    return Row(a=(0,) * arithmetic.K, b=(0,) * arithmetic.K, c=0, scale_a=ones, scale_b=ones)


def largest_in_binade(operand: Format, exp: int) -> int | None:
    """The code of the largest significand at an exponent; None where the format has no normal number there."""
    if not operand.e_min <= exp <= operand.e_max:
        return None
    sig = min((2 << operand.man_bits) - 1, operand.decode(operand.max_finite).sig if exp == operand.e_max else 2 << 64)
    return operand.encode_scaled(sig, exp - operand.man_bits, "RZ")


def gapped_rows(arithmetic: Arithmetic, gaps: Sequence[int]) -> Iterator[Row]:
    """Rows whose products all lie `gap` exponents below c, with the largest significands, of both signs; where elements are
    added, b lies below a. None for a product alone."""
    shape = arithmetic.shape
    if not shape.has_c and not shape.adds:
        return
    a_top, b_top = arithmetic.a.e_max, arithmetic.b.e_max
    for gap in gaps:
        for e_c in (0, a_top + b_top + gap, 10, -10):
            if shape.adds:
                p, q = largest_in_binade(arithmetic.a, e_c), largest_in_binade(arithmetic.b, e_c - gap)
                if p is not None and q is not None:
                    for code in (q, q | arithmetic.b.negative_zero):
                        yield replace(empty_row(arithmetic), a=(p,), b=(code,))
                continue
            exponents = _split(arithmetic, e_c - gap)
            c = largest_in_binade(arithmetic.c, e_c)
            if exponents is None or c is None:
                continue
            p, q = largest_in_binade(arithmetic.a, exponents[0]), largest_in_binade(arithmetic.b, exponents[1])
            if p is None or q is None:
                continue
            row = replace(empty_row(arithmetic), a=(p,) * arithmetic.K, b=(q,) * arithmetic.K)
            yield replace(row, c=c)
            yield replace(row, c=c | arithmetic.c.negative_zero)
            yield replace(row, c=c, b=(q | arithmetic.b.negative_zero,) * arithmetic.K)


def _split(arithmetic: Arithmetic, exp: int) -> tuple[int, int] | None:
    """Exponents of an a and a b that add up to `exp`; None where the formats have none."""
    a, b = arithmetic.a, arithmetic.b
    of_a = min(max(exp // 2, a.e_min), a.e_max)
    of_b = exp - of_a
    if of_b > b.e_max:
        of_a, of_b = exp - b.e_max, b.e_max
    elif of_b < b.e_min:
        of_a, of_b = exp - b.e_min, b.e_min
    return (of_a, of_b) if a.e_min <= of_a <= a.e_max else None


def changed(row: Row, arithmetic: Arithmetic, rng: random.Random) -> Row:
    """A neighbouring row: one to three of its codes are changed."""
    addend = "c" if arithmetic.shape.has_c else "b"
    for _ in range(rng.choice((1, 1, 2, 3))):
        where = rng.choice(("a", "b", "a", "b", addend, "pair", "scale" if row.scale_a else addend))
        if where == "c":
            row = replace(row, c=_other(row.c, arithmetic.c, rng))
        elif where == "scale":
            name, scale = rng.choice(("scale_a", "scale_b")), arithmetic.chain.operation.scale_format
            assert scale is not None
            row = replace(row, **{name: _with(getattr(row, name), scale, rng)})  # type: ignore[arg-type]
        elif where == "pair":
            k, source = rng.randrange(arithmetic.K), rng.randrange(arithmetic.K)
            a, b = list(row.a), list(row.b)
            a[k], b[k] = row.a[source], row.b[source]
            row = replace(row, a=tuple(a), b=tuple(b))
        else:
            operand = arithmetic.a if where == "a" else arithmetic.b
            row = replace(row, **{where: _with(getattr(row, where), operand, rng)})  # type: ignore[arg-type]
    return row


def _with(codes: tuple[int, ...], operand: Format, rng: random.Random) -> tuple[int, ...]:
    k = rng.randrange(len(codes))
    return (*codes[:k], _other(codes[k], operand, rng), *codes[k + 1 :])


def _other(code: int, operand: Format, rng: random.Random) -> int:
    last = 1 << operand.pad_bits
    match rng.randrange(5):
        case 0:
            return code ^ (1 << rng.randrange(operand.pad_bits, operand.width))
        case 1:
            return (code + rng.choice((-1, 1)) * last) % operand.codes
        case 2:
            return (code + rng.choice((-1, 1)) * (last << operand.man_bits)) % operand.codes
        case 3:
            return code ^ operand.negative_zero
    return (code | ((1 << operand.man_bits) - 1) * last) % operand.codes


def product_codes(arithmetic: Arithmetic, exp: int, sigs: tuple[int, int] = (1, 1), frac: int = 0) -> tuple[int, int] | None:
    """Codes of an a and a b whose exponents add up to `exp`, with the significands `sigs` / 2**frac; None where the formats
    hold no such pair."""
    exponents = _split(arithmetic, exp)
    if exponents is None:
        return None
    codes = []
    for operand, e, sig in zip((arithmetic.a, arithmetic.b), exponents, sigs, strict=True):
        value = sig * power_of_two(e - frac)
        code = operand.encode(value)
        if operand.value(code) != value:
            return None
        codes.append(code)
    return codes[0], codes[1]
