"""FTZ-FMA: one chain of fused multiply-adds that flush subnormals (golden: operations/ftz_fma.py)."""

from collections.abc import Sequence

from amaranth import Value

from golden.operations import FTZFMA
from rtl.datapath.flushed_adder import Product
from rtl.datapath.flushed_chains import Chains, FlushedDatapath, Level, align_products


class FTZFMADatapath(FlushedDatapath):
    """d = FMA(a_0, b_0, FMA(a_1, b_1, … c)): all products at once, then one multiply-add after the other."""

    operation: FTZFMA

    def levels(self) -> list[Level]:
        operation = self.operation
        return [Level(str(k), 1, operation.a, self.implementation, align_products) for k in operation.product_order]

    def chains(self, products: Sequence[Product], c: Value) -> Chains:
        """The products, the last one first, and one chain, which begins with c."""
        return Chains(tuple(products[k] for k in self.operation.product_order), (c,), None)
