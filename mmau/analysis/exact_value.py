"""The exact value of a dot product's codes, as a fraction."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from golden.arithmetic.format import power_of_two
from golden.arithmetic.formats import Cls, Decoded, Format
from golden.chains.chain import Chain
from golden.stimulus import OperandShape, Row
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
            has_c="c" in o.operands, adds=o.structure.adds_elements,
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
        addends = (*x, *y) if self.shape.adds else z
        total = sum(_signed(p) << (p.exp - self.c.man_bits - lsb) for p in addends)
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
        return min(products + (0 if scale is None else 2 * (scale.e_min - scale.man_bits)), self.c.e_min - self.c.man_bits)


def _signed(x: Decoded) -> int:
    return -x.sig if x.sign else x.sig
