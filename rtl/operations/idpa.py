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
from rtl.steps.integer_steps import IntegerProduct, IntegerSum
from rtl.steps.step_record import Record


@dataclass(frozen=True, eq=False)
class IntegerTerms(Record):
    """Record after step multiply: the products and c, integers in two's complement."""

    prod: tuple[Value, ...]
    c: Value


@dataclass(frozen=True, eq=False)
class IntegerTotal(Record):
    """Record after step accumulate: the sum, with as many bits as the result needs."""

    total: Value


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
        largest = operation.length << (operation.a.width + operation.b.width)
        return max(largest.bit_length(), operation.c.width) + 1

    def steps(self) -> Steps[Any, Code]:
        operation = self.operation
        multiply = depths.multiply_integers(operation.a.width)
        return (
            Steps(Step("multiply", multiply, self.multiply))
            .then(Step("accumulate", depths.accumulate(operation.length + 1), self.accumulate))
            .then(Step("encode", depths.NARROW, self.encode))
        )

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
        return IntegerTerms(tuple(products), operands.c)

    def accumulate(self, build: Build, terms: IntegerTerms) -> IntegerTotal:
        """Step accumulate."""
        widths = (*(len(product) for product in terms.prod), len(terms.c))
        component = IntegerSum(widths, self.total_bits, self.implementation.reduction)
        build.place("sum_accumulate", component)
        build.assign(*(port.eq(term) for port, term in zip(component.terms, (*terms.prod, terms.c), strict=True)))
        return IntegerTotal(component.total)

    def encode(self, build: Build, total: IntegerTotal) -> Code:
        """Step encode: bring the sum into the range of the result."""
        width = self.operation.d.width
        if self.operation.overflow == "wrap":
            return Code(total.total)
        low, beyond = total.total[: width - 1], total.total[width - 1 :]
        negative = beyond[-1]
        fits = Signal(name="fits")
        build.assign(fits.eq(beyond.all() | ~beyond.any()))
        return Code(Mux(fits, Cat(low, negative), Cat((~negative).replicate(width - 1), negative)))
