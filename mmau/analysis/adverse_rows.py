"""The exact value of a dot product's codes, as a fraction; and rows that lose much of it: rows of the stimulus, rows built
for large losses, and neighbours of a row."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from golden.arithmetic.format import power_of_two
from golden.arithmetic.formats import Cls, Decoded, Format
from golden.chains.chain import Chain
from golden.operations.blocks import SCALES
from golden.stimulus import OperandShape, Row, generate, rows_of
from golden.units.instruction import Instruction


@dataclass(frozen=True, kw_only=True)
class Arithmetic:
    """An arithmetic: a chain, and the formats of the codes that it takes.

    Attributes:
        name: its name in reports. chain: the chain of steps of its operation. a, b: formats of the operands. K: products
            of a row.
    """

    name: str
    chain: Chain
    a: Format
    b: Format
    K: int

    @classmethod
    def of_instruction(cls, i: Instruction) -> "Arithmetic":
        """The arithmetic of an instruction."""
        return cls(name=f"{i.arch} {i.name}", chain=i.chain, a=i.a, b=i.b, K=i.k)

    @cached_property
    def shape(self) -> OperandShape:
        """Formats and lengths of a row."""
        o = self.chain.operation
        return OperandShape(
            a=self.a, b=self.b, c=self.c, d=self.d, K=self.K, scale=o.scale_format, block_size=o.block_size,
            has_b="b" in o.operands, has_c="c" in o.operands, adds=o.structure.adds_elements,
            scale_operands=o.scale_operands or SCALES["both"],
        )  # fmt: skip

    @property
    def c(self) -> Format:
        """Format of the accumulator."""
        return self.chain.operation.c

    @property
    def d(self) -> Format:
        """Format of the result."""
        return self.chain.operation.d

    def __call__(self, row: Row) -> int:
        """d, from the model itself."""
        return self.chain(row.a, row.b, row.c, row.scale_a, row.scale_b)

    def value(self, row: Row) -> Fraction | None:
        """d as a number; None for infinity and NaN."""
        return self.d.value(self(row))

    def exact(self, row: Row) -> Fraction | None:
        """c + Σ a_k·b_k, times the scales of their blocks, or a + b; None where an operand is infinite or NaN."""
        x, y = [self.a.decode(code) for code in row.a], [self.b.decode(code) for code in row.b]
        z, scales = [self.c.decode(row.c)] if self.shape.has_c else [], self._scales(row)
        if any(p.cls >= Cls.INFINITY for p in (*x, *y, *z, *scales)):
            return None
        lsb = self._lowest
        addends, frac = ((*x, *y), self.a.man_bits) if self.shape.adds else (z, self.c.man_bits)
        total = sum(_signed(p) << (p.exp - frac - lsb) for p in addends)
        if self.shape.adds:
            return total * power_of_two(lsb)
        if not scales:
            frac = self.a.man_bits + self.b.man_bits + lsb
            total += sum(_signed(p) * _signed(q) << (p.exp + q.exp - frac) for p, q in zip(x, y, strict=True))
            return total * power_of_two(lsb)
        scale, block = self.chain.operation.scale_format, self.chain.operation.block_size
        assert scale is not None
        assert block is not None
        frac = self.a.man_bits + self.b.man_bits + 2 * scale.man_bits + lsb
        half = len(scales) // 2
        for k, (p, q) in enumerate(zip(x, y, strict=True)):
            alpha, beta = scales[k // block], scales[half + k // block]
            total += _signed(p) * _signed(q) * alpha.sig * beta.sig << (p.exp + q.exp + alpha.exp + beta.exp - frac)
        return total * power_of_two(lsb)

    def _scales(self, row: Row) -> Sequence[Decoded]:
        scale = self.chain.operation.scale_format
        return [] if scale is None else [scale.decode(code) for code in (*row.scale_a, *row.scale_b)]

    @cached_property
    def _lowest(self) -> int:
        """Exponent of the lowest bit that a term can have."""
        scale = self.chain.operation.scale_format
        products = self.a.e_min - self.a.man_bits + self.b.e_min - self.b.man_bits
        lowest = [each.e_min - each.man_bits for each in (self.a, self.c)]
        return min(products + (0 if scale is None else 2 * (scale.e_min - scale.man_bits)), *lowest)


def _signed(x: Decoded) -> int:
    return -x.sig if x.sign else x.sig


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
    added, b lies below a. None for one term alone."""
    shape = arithmetic.shape
    if not shape.has_c and not (shape.adds and shape.has_b):
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
    if not arithmetic.shape.has_b:
        return replace(row, a=_with(row.a, arithmetic.a, rng))
    addend = "c" if arithmetic.shape.has_c else "b"
    for _ in range(rng.choice((1, 1, 2, 3))):
        where = rng.choice(("a", "b", "a", "b", addend, "pair", "scale" if row.scale_a else addend))
        if where == "c":
            row = replace(row, c=_other(row.c, arithmetic.c, rng))
        elif where == "scale":
            name, scale = rng.choice(arithmetic.shape.scale_operands), arithmetic.chain.operation.scale_format
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
