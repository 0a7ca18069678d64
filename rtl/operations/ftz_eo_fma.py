"""FTZ-EO-FMA: a chain of flushed multiply-adds over the even elements and one over the odd ones (golden:
operations/ftz_eo_fma.py)."""

from collections.abc import Sequence

from amaranth import Value

from golden.operations import FTZEOFMA
from rtl.datapath.flushed_adder import Product
from rtl.datapath.flushed_chains import Chains, FlushedDatapath, Level, align_c, align_products, align_sums


class FTZEOFMADatapath(FlushedDatapath):
    """d = c + (even + odd): two multiply-adds at a time, then two additions."""

    operation: FTZEOFMA

    def levels(self) -> list[Level]:
        factors, built = self.operation.a, self.implementation
        return [
            *(Level(str(k), 2, factors, built, align_products) for k in range(0, self.operation.L, 2)),
            Level("sums", 1, factors, built, align_sums),
            Level("c", 1, factors, built, align_c),
        ]

    def chains(self, products: Sequence[Product], c: Value) -> Chains:
        """The products in order of k, so that even and odd ones alternate; both chains begin with +0."""
        return Chains(tuple(products), (), c)
