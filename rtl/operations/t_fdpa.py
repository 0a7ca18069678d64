"""T-FDPA: the truncated fused dot product and add (golden: operations/t_fdpa.py)."""

from collections.abc import Sequence
from dataclasses import replace

from golden import Implementation
from golden.operations.t_fdpa import TruncatedFDPA
from rtl.datapath import depths
from rtl.datapath.fused import FusedDatapath
from rtl.datapath.fused_records import Decoded, Operands, Products
from rtl.datapath.fused_sum import Precision
from rtl.datapath.step import Build, Step, Steps, part
from rtl.datapath.vector_steps import add_rows, addend, combine_specials, multiply_pairs
from rtl.steps.align import truncation_of
from rtl.steps.interfaces import Operand, Special, Term, TermFormat


class TruncatedDatapath(FusedDatapath):
    """The base of T-, ST- and GST-FDPA: terms and c, truncated to F bits at one exponent, summed, converted by ρ."""

    operation: TruncatedFDPA

    def __init__(self, operation: TruncatedFDPA, implementation: Implementation) -> None:
        super().__init__(operation, implementation, canonical=True)

    @property
    def term_count(self) -> int:
        return self.operation.L + 1

    def addend(self, build: Build, z: Operand) -> tuple[Term, Special]:
        """c as a term, and its special."""
        return addend(build, "addend", z, self.operation.c, self.operation.e_zero)

    def precisions(self, terms: Sequence[TermFormat]) -> list[Precision]:
        """The precision of each term: F bits, truncated as the operation's key says."""
        operation = self.operation
        return [Precision(operation.F, truncation_of(operation.truncation), operation.sticky)] * len(terms)

    def align_depth(self) -> int:
        return depths.ALIGN_DOWN if self.operation.truncation == "RD" else depths.ALIGN


class TFDPADatapath(TruncatedDatapath):
    """d = ρ(2^e_max · Σ RZ_F(term at e_max)) over L exact products and c."""

    def term_steps(self) -> Steps[Operands, Products]:
        parts = Steps(part("multiply_rows", self.multiply_rows)).then(part("multiply", self.add_rows))
        return self.decoded().then(Step("multiply", self.multiply_depth(), self.multiply, parts))

    def multiply(self, build: Build, decoded: Decoded) -> Products:
        """Step multiply: exact products. A product or a c without a significand has exponent e_zero."""
        return self._products(build, decoded, in_rows=False)

    def multiply_rows(self, build: Build, decoded: Decoded) -> Products:
        """Step multiply up to the adders: every product in two rows."""
        return self._products(build, decoded, in_rows=True)

    def add_rows(self, build: Build, products: Products) -> Products:
        """The adders of step multiply."""
        return replace(products, prod=add_rows(build, products.prod, self.implementation))

    def _products(self, build: Build, decoded: Decoded, in_rows: bool) -> Products:
        operation, built = self.operation, self.implementation
        prod, specials = multiply_pairs(
            build, decoded.x, decoded.y, operation, operation.e_zero, implementation=built, in_rows=in_rows
        )
        c, c_special = self.addend(build, decoded.z)
        return Products(prod, c, combine_specials(build, [*specials, c_special]))
