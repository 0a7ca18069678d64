"""IDPA: the exact dot product and add of integers (golden: operations/idpa.py)."""

from dataclasses import dataclass
from typing import Any

from amaranth import Cat, Mux, Signal, Value

from golden.arithmetic.formats import IntegerFormat
from golden.operations import IDPA
from rtl.datapath import depths
from rtl.datapath.base import Datapath
from rtl.datapath.fused_records import Code, Operands
from rtl.datapath.step import Build, Step, Steps
from rtl.datapath.vector_steps import decode_vector
from rtl.steps.integer_steps import FixedProduct, IntegerProduct, IntegerSum
from rtl.steps.interfaces import Operand
from rtl.steps.step_record import Record, is_code


@dataclass(frozen=True, eq=False)
class Elements(Record):
    """Record after step decode, where elements are no integers: the elements, and c."""

    x: tuple[Operand, ...]
    y: tuple[Operand, ...]
    c: Value


@dataclass(frozen=True, eq=False)
class IntegerTerms(Record):
    """Record after step multiply: the products and c, integers in two's complement, and whether any operand is no number."""

    prod: tuple[Value, ...]
    c: Value
    nar: Value | None


@dataclass(frozen=True, eq=False)
class IntegerTotal(Record):
    """Record after step accumulate: the sum, with as many bits as the result needs, and whether any operand is no number."""

    total: Value
    nar: Value | None


class IDPADatapath(Datapath):
    """d = c + Σ a_k·b_k. The sum has all its bits if it saturates, and those of c if it wraps around.

    The keys `reduction` and `stages` of an implementation apply; the other keys are about floating-point numbers.
    """

    operation: IDPA

    @property
    def total_bits(self) -> int:
        """Number of bits of the sum that are kept."""
        operation = self.operation
        if operation.overflow == "wrap":
            return operation.d.width
        largest = operation.length << operation.product_bits
        return max(largest.bit_length(), operation.c.width) + 1

    def steps(self) -> Steps[Any, Code]:
        operation = self.operation
        first: Steps[Any, IntegerTerms]
        if operation.is_fixed:
            multiply = depths.multiply(operation.a, operation.b) + depths.ALIGN
            decode = Steps(Step("decode", depths.DECODE, self.decode))
            first = decode.then(Step("multiply", multiply, self.multiply_fixed))
        else:
            first = Steps(Step("multiply", depths.multiply_integers(operation.a.width), self.multiply))
        return first.then(Step("accumulate", depths.accumulate(operation.length + 1), self.accumulate)).then(
            Step("encode", depths.NARROW, self.encode)
        )

    def decode(self, build: Build, operands: Operands) -> Elements:
        """Step decode."""
        o = self.operation
        x, y = decode_vector(build, "x", operands.a, o.a, o.length), decode_vector(build, "y", operands.b, o.b, o.length)
        return Elements(x, y, operands.c)

    def multiply_fixed(self, build: Build, elements: Elements) -> IntegerTerms:
        """Step multiply of elements that are no integers."""
        o, products = self.operation, []
        for k, (x, y) in enumerate(zip(elements.x, elements.y, strict=True)):
            component = FixedProduct(o.a, o.b, o.c.e_min, o.product_bits)
            build.place(f"multiply_{k}", component)
            build.drive(component.x, x)
            build.drive(component.y, y)
            products.append(component.prod)
        if o.nar is None:
            return IntegerTerms(tuple(products), elements.c, None)
        specials = Cat(*(flag for each in (*elements.x, *elements.y) for flag in (each.inf, each.nan)))
        return IntegerTerms(tuple(products), elements.c, specials.any() | is_code(elements.c, o.nar))

    def multiply(self, build: Build, operands: Operands) -> IntegerTerms:
        """Step multiply."""
        a, b = self.operation.a, self.operation.b
        assert isinstance(a, IntegerFormat)
        assert isinstance(b, IntegerFormat)
        products = []
        for k in range(self.operation.length):
            component = IntegerProduct(a, b, self.operation.combination)
            build.place(f"multiply_{k}", component)
            build.assign(
                component.x.eq(operands.a.word_select(k, a.width)), component.y.eq(operands.b.word_select(k, b.width))
            )
            products.append(component.prod)
        return IntegerTerms(tuple(products), operands.c, None)

    def accumulate(self, build: Build, terms: IntegerTerms) -> IntegerTotal:
        """Step accumulate."""
        widths = (*(len(product) for product in terms.prod), len(terms.c))
        component = IntegerSum(widths, self.total_bits, self.implementation.reduction)
        build.place("sum_accumulate", component)
        build.assign(*(port.eq(term) for port, term in zip(component.terms, (*terms.prod, terms.c), strict=True)))
        return IntegerTotal(component.total, terms.nar)

    def encode(self, build: Build, total: IntegerTotal) -> Code:
        """Step encode: bring the sum into the range of the result, of which the code of no number is not part."""
        width, nar = self.operation.d.width, self.operation.nar
        code = total.total
        if self.operation.overflow == "saturate":
            low, beyond = total.total[: width - 1], total.total[width - 1 :]
            negative = beyond[-1]
            fits = Signal(name="fits")
            build.assign(fits.eq(beyond.all() | ~beyond.any()))
            code = Mux(fits, Cat(low, negative), Cat((~negative).replicate(width - 1), negative))
            if nar is not None:
                clamped = Signal(width, name="clamped")
                build.assign(clamped.eq(code))
                code = Mux(is_code(clamped, nar), nar | 1, clamped)
        return Code(code if nar is None or total.nar is None else Mux(total.nar, nar, code))
