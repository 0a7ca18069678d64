"""The chain of Arm's BFDOT and BFMMLA: every product and every sum is rounded separately (numerics.md, section 11)."""

from collections.abc import Sequence
from dataclasses import dataclass

from golden.chain import Chain
from golden.formats import FP32
from golden.operations import FMA


@dataclass(frozen=True)
class PairedChain(Chain):
    """d ← d + (a_k·b_k + a_(k+1)·b_(k+1)) for even k, from c: two products, their sum, and its sum with d, each rounded.

    Each of them is a multiply-add with the ρ of `operation`, an FMA of bf16 with an fp32 addend: a product is added to −0,
    and x + y is computed as x·1 + y in fp32.

    Attributes:
        subtract: whether the products are subtracted: every element of a has its sign inverted (Arm's BFMOPS).
    """

    subtract: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        o = self.operation
        if not isinstance(o, FMA) or o.d != FP32 or o.a == FP32:
            raise ValueError(f"operation of a paired chain must be FMA of bf16 with fp32; got {o.name}, a={o.a}, d={o.d}")

    __hash__ = Chain.__hash__

    def __call__(
        self, a: Sequence[int], b: Sequence[int], c: int, scale_a: Sequence[int] = (), scale_b: Sequence[int] = ()
    ) -> int:
        if len(a) % 2:
            raise ValueError(f"K of a paired chain must be even, got {len(a)}")
        products = [self.operation.step([x ^ self.inverted], [y], FP32.negative_zero) for x, y in zip(a, b, strict=True)]
        d = c
        for even, odd in zip(products[::2], products[1::2], strict=True):
            d = self.added(d, self.added(even, odd))
        return d

    @property
    def inverted(self) -> int:
        """The bits of every element of a that are inverted."""
        return self.operation.a.negative_zero if self.subtract else 0

    @property
    def addition(self) -> FMA:
        """The multiply-add for additions: FMA on fp32, with the same keys."""
        return self.operation.changed(a=FP32, b=FP32)  # type: ignore[return-value]  # checked when it was made

    def added(self, x: int, y: int) -> int:
        """x + y, codes of fp32, rounded once."""
        return self.addition.step([x], [FP32.encode(1)], y)
