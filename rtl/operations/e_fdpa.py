"""E-FDPA: the exact fused dot product and add (golden: operations/e_fdpa.py)."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from amaranth import Cat, Const, Value

from golden import Implementation
from golden.operations import EFDPA
from golden.units.unit import ACCUMULATORS
from rtl.datapath import depths, fused_sum
from rtl.datapath.base import ModeInput
from rtl.datapath.fused import FusedDatapath
from rtl.datapath.fused_records import (
    Aligned,
    AlignedTerm,
    AlignedTerms,
    Compared,
    Decoded,
    MaxExponent,
    Operands,
    Products,
    Terms,
)
from rtl.datapath.fused_sum import Precision
from rtl.datapath.step import Build, Step, Steps, part
from rtl.datapath.vector_steps import (
    add_rows,
    addend,
    combine_specials,
    invalid_flag,
    multiply_pairs,
    negative_zero,
    scale_products,
    signalling_nan,
)
from rtl.steps.align import Align
from rtl.steps.interfaces import ExpRange, Special, Term, TermFormat


def align_in_own_places(build: Build, largest: MaxExponent, terms: Sequence[Term]) -> AlignedTerms:
    """Every term aligned to its own largest exponent, with zeros below down to the lowest bit of all:

        places    127 … 32   31 … −48   −49 … −149      of FP32, and of products of fp16
        product                x x x    0 0 0 0 0       shifted over 80 places
        c             x x x                             shifted over all of its own

    Args:
        largest: a constant that is at least the largest exponent of every term.
    """
    lowest_bit = min(term.format.exps.low - term.format.frac for term in terms)
    placed = []
    for k, term in enumerate(terms):
        exps, frac = term.format.exps, term.format.frac
        component = Align(term.format, ExpRange(exps.high, exps.high), exps.span + frac, "RZ")
        build.place(f"{largest.name}_align_{k}", component)
        build.drive(component.term, term)
        build.assign(component.e_max.eq(exps.high))
        magnitude = Cat(Const(0, exps.low - frac - lowest_bit), component.aligned)
        placed.append(AlignedTerm(component.sign, magnitude, len(magnitude)))
    total_bits = sum(1 << term.bits for term in placed).bit_length()
    return AlignedTerms(largest.name, tuple(placed), largest.exps.high - lowest_bit, total_bits)


@dataclass(frozen=True, eq=False)
class DecodedWithFlags(Decoded):
    """Record after step decode of a unit with flags: also whether any operand is a signalling NaN."""

    signalling: Value


@dataclass(frozen=True, eq=False)
class ProductsWithFlags(Products):
    """Record after step multiply of a unit with flags, with the flag NV."""

    invalid: Value

    def is_invalid(self) -> Value:
        return self.invalid


@dataclass(frozen=True, eq=False)
class SignedProducts(Terms):
    """The products and c, and the sign of a zero sum by IEEE 754, section 6.3: negative if all of them are negative.

    If ρ rounds toward minus infinity, a zero sum is negative if any of them is negative.
    """

    prod: tuple[Term, ...]
    c: Term
    zero_negative: Value
    special: Special
    invalid: Value | None = None

    @property
    def terms(self) -> tuple[Term, ...]:
        return (*self.prod, self.c)

    def zero_sign(self) -> Value:
        return self.zero_negative

    def is_invalid(self) -> Value | None:
        return self.invalid


class EFDPADatapath(FusedDatapath):
    """d = ρ(c + Σ a_k·b_k); the sum is wide enough to hold every term at its own place."""

    operation: EFDPA

    def __init__(self, operation: EFDPA, implementation: Implementation, modes: ModeInput | None = None) -> None:
        super().__init__(operation, implementation, canonical=False, modes=modes)

    @property
    def term_count(self) -> int:
        return self.operation.L + 1

    def multiply_depth(self) -> int:
        return super().multiply_depth() + (depths.SCALE if self.operation.is_scaled else 0)

    def term_steps(self) -> Steps[Operands, Terms]:
        parts = Steps(part("multiply_rows", self.multiply_rows)).then(part("multiply", self.add_rows))
        whole = None if self.operation.is_scaled else parts  # scales multiply whole products
        return self.decoded().then(Step("multiply", self.multiply_depth(), self.multiply, whole))

    def decode(self, build: Build, operands: Operands) -> Decoded:
        """Step decode; for flags also whether any operand is a signalling NaN."""
        decoded, o = super().decode(build, operands), self.operation
        if not o.flags:
            return decoded
        vectors = ((decoded.x, operands.a, o.a), (decoded.y, operands.b, o.b), ((decoded.z,), operands.c, o.c))
        read = [(part, codes.word_select(k, of.width), of) for parts, codes, of in vectors for k, part in enumerate(parts)]
        known = {field.name: getattr(decoded, field.name) for field in fields(decoded)}
        return DecodedWithFlags(**known, signalling=signalling_nan(read))

    def multiply(self, build: Build, decoded: Decoded) -> Terms:
        """Step multiply, and scale with it: exact products. The exponent of a zero product does not matter, because it adds
        nothing to the sum."""
        return self._products(build, decoded, in_rows=False)

    def multiply_rows(self, build: Build, decoded: Decoded) -> Terms:
        """Step multiply up to the adders: every product in two rows."""
        return self._products(build, decoded, in_rows=True)

    def add_rows(self, build: Build, terms: Terms) -> Terms:
        """The adders of step multiply."""
        assert isinstance(terms, (Products, SignedProducts))
        return replace(terms, prod=add_rows(build, terms.prod, self.implementation))

    def _products(self, build: Build, decoded: Decoded, in_rows: bool) -> Terms:
        operation, built = self.operation, self.implementation
        prod, specials = multiply_pairs(
            build, decoded.x, decoded.y, operation, operation.product_exp_min, implementation=built, in_rows=in_rows
        )
        if operation.scale is not None:
            lowest = operation.scaled_exp_min
            prod, specials = scale_products(build, prod, specials, decoded, operation.scale, operation.K_block, lowest)
        c, c_special = addend(build, "addend", decoded.z, operation.c, operation.c.e_min)
        special, invalid = combine_specials(build, [*specials, c_special]), None
        if isinstance(decoded, DecodedWithFlags):
            read, pairs = [*decoded.x, *decoded.y, decoded.z], list(zip(decoded.x, decoded.y, strict=True))
            invalid = invalid_flag(decoded.signalling, read, special, pairs if operation.beside_nan == "invalid" else [])
        if operation.zero == "positive":
            return Products(prod, c, special) if invalid is None else ProductsWithFlags(prod, c, special, invalid)
        signs = [term.sign for term in (*prod, c)]
        zero_negative = negative_zero(build, self.rho.mode, signs)
        return SignedProducts(prod, c, zero_negative, special, invalid)

    def max_exp(self, build: Build, terms: Terms) -> Compared:
        """Step max_exp: a constant, the largest exponent that a term can have."""
        return Compared(terms, fused_sum.fixed_exp("sum", max(term.format.exps.high for term in terms.terms)))

    def precisions(self, terms: Sequence[TermFormat]) -> list[Precision]:
        """No term loses a bit."""
        return [fused_sum.without_loss(terms)] * len(terms)

    def align(self, build: Build, compared: Compared) -> Aligned:
        """Step align."""
        if self.implementation.accumulator == ACCUMULATORS[0]:
            return super().align(build, compared)
        terms, largest = compared.terms, compared.largest
        aligned = align_in_own_places(build, largest, terms.terms)
        return Aligned(terms.zero_sign(), terms.special, largest, aligned, terms.written_nan(), terms.is_invalid())

    def max_exp_depth(self) -> int:
        return 0  # nothing is compared

    def accumulate_depth(self) -> int:
        return 2 * super().accumulate_depth()  # hundreds of bits
