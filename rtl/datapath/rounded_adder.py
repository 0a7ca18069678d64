"""An addition of two codes with one rounding. FTZ-AddMul is made of it, and it is the last step of an FP8 instruction that
runs as FP16."""

from dataclasses import dataclass, field, replace

from amaranth import Module, Signal, Value
from amaranth.lib.wiring import In, Out

from golden import Implementation
from golden.arithmetic.conversion import Conversion, conversion
from golden.operations import Operation
from rtl.datapath import fused_sum
from rtl.datapath.conversion import normalise_term, normalise_total, round_and_encode
from rtl.datapath.fused_records import AlignedTerms, MaxExponent, SignedTotal
from rtl.datapath.fused_sum import Precision
from rtl.datapath.step import Build
from rtl.datapath.vector_steps import addend, decode, multiply_pairs
from rtl.steps.accumulate import signed_zero
from rtl.steps.component import AnyComponent
from rtl.steps.decode import Subnormals
from rtl.steps.encode import ResultRules
from rtl.steps.interfaces import Operand, Special, Term
from rtl.steps.specials import Specials
from rtl.steps.step_record import COLUMNS, Record

RNE_FP32 = conversion("RNE-FP32")


@dataclass(frozen=True, eq=False)
class AlignedPair(Record):
    """The two aligned operands of the adder `name`, and the special of their sum."""

    name: str
    largest: MaxExponent
    aligned: AlignedTerms
    special: Special
    both_negative: Value


@dataclass(frozen=True, eq=False)
class PairExponent(Record):
    """The exponent and the special of the sum of the adder `name`; its total is a record of its own."""

    name: str
    largest: MaxExponent
    special: Special


class RoundedAdder:
    """ρ of the sum of two codes of ρ's format.

    Terms are aligned to man_bits + 3 fraction bits, the last of them sticky, and the result is that of the exact sum: a term
    loses bits only beside a normal number four or more exponents above it, and then the sum's leading one is that number's,
    or one place lower, so that the sticky bit stays below the guard bit.

    Args:
        name: prefix of its components and registers.
        rho: the conversion.
        implementation: how it is built.
        canonical: whether NaN and zero have one encoding each, as in NVIDIA's units.
        flush: whether subnormal operands count as +0 and a subnormal result becomes a zero.
    """

    def __init__(self, name: str, rho: Conversion, implementation: Implementation, canonical: bool, flush: bool) -> None:
        self.name, self._rho, self._implementation = name, rho, implementation
        self._subnormals: Subnormals = "+0" if flush else "kept"
        self._rules = ResultRules(canonical, "flush-subnormal" if flush else "gradual")

    def align(self, build: Build, x: Value, y: Value) -> AlignedPair:
        """Both codes decoded and aligned."""
        name, operand = self.name, self._rho.d
        specials = Specials(2)
        build.place(f"{name}_specials", specials)
        terms = []
        for side, code, port in zip("xy", (x, y), specials.special, strict=True):
            z = decode(build, f"{name}_decode_{side}", code, operand, self._subnormals)
            term, special = addend(build, f"{name}_term_{side}", z, operand, operand.e_min)
            build.drive(port, special)
            terms.append(term)
        both_negative = terms[0].sign & terms[1].sign
        largest = fused_sum.max_exp(build, name, terms, self._implementation)
        aligned = fused_sum.align(build, largest, terms, [Precision(operand.man_bits + 3, "RO")] * 2)
        return AlignedPair(name, largest.without_gaps(), aligned, specials.result, both_negative)

    def accumulate(self, build: Build, pair: AlignedPair) -> tuple[PairExponent, SignedTotal]:
        """Step accumulate: the sum of both operands; an exact zero has the sign of IEEE 754."""
        total = fused_sum.accumulate(build, pair.largest, pair.aligned, self._implementation, normalised=True)
        total = replace(total, sign=signed_zero(total.sign, total.total, pair.both_negative))
        return PairExponent(self.name, pair.largest, pair.special), total

    def encode(self, build: Build, exponent: PairExponent, total: SignedTotal) -> Value:
        """Steps normalise, round and encode: the code of the sum."""
        narrows = self._implementation.normaliser == "narrowing"
        normalised = normalise_total(build, exponent.largest, total, self._rho.rounding_format, narrows=narrows)
        return round_and_encode(build, normalised, exponent.special, self._rho, self._implementation, self._rules)


class RoundedAddition(AnyComponent):
    """A canonical, combinational `RoundedAdder` as a component. A tile of converted operands has one behind each datapath.

    Args:
        rho, implementation: as for `RoundedAdder`.

    Members:
        x, y: In, codes. d: Out, the code of their sum.
    """

    x: Signal
    y: Signal
    d: Signal

    def __init__(self, rho: Conversion, implementation: Implementation) -> None:
        self._adder = RoundedAdder("add", rho, implementation, canonical=True, flush=False)
        width = rho.d.width
        super().__init__({"x": In(width), "y": In(width), "d": Out(width)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        build = Build(m, platform)
        pair = self._adder.align(build, self.x, self.y)
        m.d.comb += self.d.eq(self._adder.encode(build, *self._adder.accumulate(build, pair)))
        return m


@dataclass(frozen=True, eq=False)
class Product(Record):
    """An exact product and its special."""

    prod: Term
    special: Special


@dataclass(frozen=True, eq=False)
class RoundedOperands(Record):
    """Record after step decode: the elements of a and b; c stays a code."""

    x: tuple[Operand, ...]
    y: tuple[Operand, ...]
    c: Value


@dataclass(frozen=True, eq=False)
class ExactProducts(Record):
    """Record after step multiply: the products, each with its special, and the code of c."""

    products: tuple[Product, ...] = field(metadata=COLUMNS)
    c: Value


def product_to_fp32(build: Build, name: str, product: Product, implementation: Implementation, flush: bool) -> Value:
    """A product as an fp32 code; fp32 has all its significand bits, so only its range can change the value.

    Args:
        name: prefix of its components.
        flush: whether a subnormal result becomes a zero.
    """
    normalised = normalise_term(build, name, product.prod, RNE_FP32.rounding_format)
    rules = ResultRules(canonical=False, underflow="flush-subnormal" if flush else "gradual")
    return round_and_encode(build, normalised, product.special, RNE_FP32, implementation, rules)


def multiply_elements(
    build: Build, operands: RoundedOperands, operation: Operation, implementation: Implementation
) -> ExactProducts:
    """Step multiply: exact products. The exponent of a zero product is arbitrary, because it does not affect the
    rounding."""
    zero_exp = operation.product_exp_min
    terms, specials = multiply_pairs(build, operands.x, operands.y, operation, zero_exp, implementation=implementation)
    return ExactProducts(tuple(Product(*pair) for pair in zip(terms, specials, strict=True)), operands.c)
