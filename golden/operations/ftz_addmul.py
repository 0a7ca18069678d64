"""FTZ-AddMul: binary multiplications and additions that flush subnormals (CDNA2; paper 000, algorithms 1 and 2)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

from golden.arithmetic.formats import FP32, Cls, Decoded, Format
from golden.arithmetic.specials import product_special, quiet_nan
from golden.checks import check_int
from golden.operations import ieee, structure
from golden.operations.base import MAX_LENGTH, Operation
from golden.operations.structure import C, Node, Partial, Product, Rounding, Structure, Sum


def flushed_add(x: int, y: int) -> int:
    """FTZ-Add: RNE-FP32 of x + y (fp32 codes), a subnormal result flushed."""
    return flush_result(ieee.add(x, y, FP32, quiet_nan(FP32)))


def flush_input(x: Decoded) -> Decoded:
    """The code, with a subnormal of either sign replaced by +0."""
    return x._replace(sign=0, sig=0, cls=Cls.ZERO) if x.cls is Cls.SUBNORMAL else x


def flush_result(code: int) -> int:
    """The fp32 code, with a subnormal replaced by a zero of its sign."""
    return code & FP32.negative_zero if FP32.decode(code).cls is Cls.SUBNORMAL else code


@dataclass(frozen=True, kw_only=True)
class FTZAddMul(Operation):
    """d = c + the pairwise sum of P products, every product and every sum rounded to fp32 and flushed.

    Attributes:
        a, b: one format for both, fp16 or bf16.
        c: fp32; d has it too.
        P: products that are summed pairwise before c is added, a power of two (published: 2 and 4).
    """

    name: ClassVar[str] = "FTZ-AddMul"
    rank = 6

    flushed_add = staticmethod(flushed_add)  # a step that a derived class may replace, like those of `Operation`

    P: int

    def _multiplicands(self) -> Collection[str]:
        return ("fp16", "bf16")

    def _accumulators(self) -> Collection[str]:
        return ("fp32",)

    def _validate(self) -> None:
        if self.a != self.b:
            raise ValueError(f"FTZ-AddMul takes one format for a and b; got a={self.a}, b={self.b}")
        check_int("P", self.P, 1, MAX_LENGTH)
        if self.P & (self.P - 1):
            raise ValueError(f"P must be a power of two, got {self.P}")

    @property
    def d(self) -> Format:
        return FP32

    @property
    def length(self) -> int:
        return self.P

    def with_length(self, length: int) -> Self:
        return self.changed(P=length)

    @cached_property
    def structure(self) -> Structure:
        def rounding(of: str) -> Rounding:
            return Rounding(of, "RNE", FP32, flushes=True)

        nodes: list[Node] = [Product(k, rounding=rounding("product")) for k in range(self.P)]
        sums: list[Sum] = []
        while len(nodes) > 1:
            pairs = list(zip(nodes[::2], nodes[1::2], strict=True))
            nodes = [Partial(len(sums) + n, "addend", "addends") for n in range(len(pairs))]
            sums += [structure.add(even, odd, rounding("sum of products"), alike="products") for even, odd in pairs]
        last = nodes[0] if self.P == 1 else Partial(len(sums) - 1, "sum of products", "sums of products")
        sums.append(structure.add(C, last, rounding("result"), alike="products and c"))
        return Structure(sums=tuple(sums), flushed=(self.a, self.c), zero="ieee", nan="quiet")

    def step(
        self, a: Sequence[int], b: Sequence[int], c: int, scale_a: Sequence[int] = (), scale_b: Sequence[int] = ()
    ) -> int:
        # 1. subnormal inputs become +0
        x = [flush_input(element) for element in self.decode(self.a, a)]
        y = [flush_input(element) for element in self.decode(self.b, b)]
        z = FP32.decode(c)
        d = 0 if z.cls is Cls.SUBNORMAL else c
        # 2. products, each rounded and flushed
        sums = [self.flushed_product(p, q) for p, q in zip(x, y, strict=True)]
        # 3. pairwise sums, down to one
        while len(sums) > 1:
            sums = [self.flushed_add(even, odd) for even, odd in zip(sums[::2], sums[1::2], strict=True)]
        # 4. accumulate
        return self.flushed_add(d, sums[0])

    def flushed_product(self, x: Decoded, y: Decoded) -> int:
        """FTZ-Mul: RNE-FP32 of x·y (an fp32 code), a subnormal result flushed."""
        special = product_special(x, y)
        if special is not None:
            return self.encode_special(special, FP32, quiet_nan(FP32))
        product = self.multiply(x, y, self.product_frac, self.product_exp_min)
        return flush_result(self.rounded_sum([product], FP32, negative_zero=x.sign != y.sign))
