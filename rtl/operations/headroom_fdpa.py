"""The base of OC- and PS-FDPA: products count h exponents above their own, NaNs by their cause (golden:
operations/headroom_fdpa.py)."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from amaranth import Cat, Const, Mux, Value

from golden import Implementation
from golden.arithmetic.formats import FP32, Format
from golden.arithmetic.specials import factor_nan, invalid_nan
from golden.operations.headroom_fdpa import HeadroomFDPA
from rtl.datapath.fused import FusedDatapath
from rtl.datapath.fused_records import Code, Decoded, Normalised, Operands, Terms
from rtl.datapath.step import Build, Step, Steps
from rtl.datapath.vector_steps import addend, combine_specials, decode, decode_vector, multiply_pairs
from rtl.steps.decode import Subnormals
from rtl.steps.interfaces import ExpRange, Operand, Special, Term, TermFormat


@dataclass(frozen=True, eq=False)
class TermsWithNaN(Terms):
    """The terms at their raised exponents (products or sums of groups, and c), and the code of a NaN result."""

    term: tuple[Term, ...]
    c: Term
    special: Special
    nan: Value

    @property
    def terms(self) -> tuple[Term, ...]:
        return (*self.term, self.c)

    def written_nan(self) -> Value:
        return self.nan


class HeadroomDatapath(FusedDatapath):
    """The base of the datapaths of OC- and PS-FDPA, with their steps decode, multiply and encode."""

    operation: HeadroomFDPA

    def __init__(self, operation: HeadroomFDPA, implementation: Implementation) -> None:
        super().__init__(operation, implementation, canonical=True)
        if self.rho.dropped_bits:  # round and encode give the whole code
            self.rho = replace(self.rho, d=self.rho.rounding_format, dropped_bits=0)

    @abstractmethod
    def term_steps(self) -> Steps[Any, TermsWithNaN]:
        """The steps from the operands to the terms."""

    def product_steps(self) -> Steps[Operands, TermsWithNaN]:
        """The steps from the operands to the products."""
        return self.decoded().then(Step("multiply", self.multiply_depth(), self.multiply))

    def decode(self, build: Build, operands: Operands) -> Decoded:
        """Step decode; with `flush_inputs`, what is subnormal in fp32 becomes a zero of its sign."""
        operation = self.operation
        x = decode_vector(build, "x", operands.a, operation.a, operation.L, self._subnormals(operation.a))
        y = decode_vector(build, "y", operands.b, operation.b, operation.L, self._subnormals(operation.b))
        c = operands.c.word_select(0, operation.c.width)
        return Decoded(x, y, decode(build, "decode_z", c, operation.c, self._subnormals(operation.c)), (), ())

    def _subnormals(self, operand: Format) -> Subnormals:
        return "±0" if self.operation.flush_inputs and operand.e_min == FP32.e_min else "kept"

    def multiply(self, build: Build, decoded: Decoded) -> TermsWithNaN:
        """Step multiply: exact products, raised by h; a zero product stays at e_zero, and so does a zero c."""
        operation = self.operation
        products, specials = multiply_pairs(
            build, decoded.x, decoded.y, operation, operation.e_zero - operation.h, implementation=self.implementation
        )
        c, c_special = addend(build, "addend", decoded.z, operation.c, operation.e_zero)
        special = combine_specials(build, [*specials, c_special])
        nan = written_nan([*decoded.x, *decoded.y], specials, decoded.z, operation.c)
        return TermsWithNaN(tuple(raised(product, operation.h) for product in products), c, special, nan)

    def encode(self, build: Build, normalised: Normalised) -> Code:
        """Steps round and encode; ρ may then drop low bits of the code."""
        code = super().encode(build, replace(normalised, nan=None)).d
        kept = code[self.operation.conversion.dropped_bits :]
        assert normalised.nan is not None
        return Code(Mux(normalised.special.nan, normalised.nan, kept))


def raised(product: Term, h: int) -> Term:
    """The same number as a term whose exponent is `h` larger, with `h` more fraction bits."""
    exps = product.format.exps + ExpRange(h, h)
    format_ = TermFormat(exps, product.format.sig_bits, product.format.frac + h)
    exp = (product.exp + h)[: exps.shape.width].as_signed()
    return Term(product.sign, exp, product.sig, format_)


def written_nan(factors: Sequence[Operand], products: Sequence[Special], z: Operand, d: Format) -> Value:
    """The code of a NaN result, by the first cause: a NaN factor; an invalid product, or infinite ones of both signs; a NaN
    c, made quiet; an infinite c against an infinite product.

    Args:
        factors: the elements of a and b. products: the specials of the products. z: c, in the format d of the result.
    """
    invalid = Const(invalid_nan(d), d.width)
    of_product = Cat(special.nan for special in products).any()
    both_signs = Cat(special.pos_inf for special in products).any() & Cat(special.neg_inf for special in products).any()
    quieted = Cat(z.sig[: d.man_bits - 1], Const(1, 1), Const(-1, d.exp_bits), z.sign)
    otherwise = Mux(z.nan & ~of_product & ~both_signs, quieted, invalid)
    return Mux(Cat(factor.nan for factor in factors).any(), Const(factor_nan(d), d.width), otherwise)
