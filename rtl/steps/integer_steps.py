"""Products and sums of integers (golden: operations/idpa.py)."""

from collections.abc import Sequence

from amaranth import Module, Mux, Signal
from amaranth.lib.wiring import In, Out

from golden.arithmetic.formats import Format, IntegerFormat
from golden.operations.idpa import Combination
from rtl.arithmetic.carry_save import two_rows
from rtl.steps.component import SharedComponent, indexed
from rtl.steps.interfaces import Operand, OperandSignature


class IntegerProduct(SharedComponent):
    """Combinational product of one pair, or the xor of two bits.

    Args:
        a, b: formats of the operands.
        combination: what is added of a pair (golden: `IDPA.combination`).

    Members:
        x: In(width of a). y: In(width of b), codes.
        prod: Out(width of both), in two's complement where one of them is signed, with one more bit where both are unsigned.
    """

    x: Signal
    y: Signal
    prod: Signal

    def __init__(self, a: IntegerFormat, b: IntegerFormat, combination: Combination = "multiply") -> None:
        self._a, self._b, self._combination = a, b, combination
        bits = a.width + b.width + (not a.signed and not b.signed)
        super().__init__("multiply", (a, b, combination), {"x": In(a.width), "y": In(b.width), "prod": Out(bits)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        x, y = (code.as_signed() if operand.signed else code for code, operand in ((self.x, self._a), (self.y, self._b)))
        m.d.comb += self.prod.eq(x * y if self._combination == "multiply" else x ^ y)
        return m


class FixedProduct(SharedComponent):
    """Combinational product of one pair of decoded elements, as an integer in units of the last place of c.

    Args:
        a, b: formats of the elements.
        lsb: exponent of the last place of c. bits: those of the magnitude of any product.

    Members:
        x, y: In(OperandSignature).
        prod: Out(bits + 1), in two's complement; without meaning where x or y is infinite or NaN.
    """

    x: Operand
    y: Operand
    prod: Signal

    def __init__(self, a: Format, b: Format, lsb: int, bits: int) -> None:
        self._elements = a, b
        self._zeros = a.e_min + b.e_min - a.man_bits - b.man_bits - lsb
        members = {"x": In(OperandSignature.of(a)), "y": In(OperandSignature.of(b)), "prod": Out(bits + 1)}
        super().__init__("multiply", (a, b, lsb, bits), members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        x, y = self.x, self.y
        above = [
            (part.exp - of.e_min).as_unsigned()[: (of.e_max - of.e_min).bit_length()]
            for part, of in zip((x, y), self._elements, strict=True)
        ]
        magnitude = Signal(len(self.prod) - 1)
        m.d.comb += magnitude.eq(((x.sig * y.sig) << above[0] + above[1]) << self._zeros)
        m.d.comb += self.prod.eq(Mux(x.sign ^ y.sign, -magnitude, magnitude))
        return m


class IntegerSum(SharedComponent):
    """Combinational sum of integers in two's complement, modulo 2^total_bits.

    Args:
        widths: bits of each term.
        total_bits: bits of the sum that are kept.
        reduction: how many terms become two rows; as in `golden.Implementation`.

    Members:
        term_0 … : In, the terms. total: Out(total_bits).
    """

    total: Signal

    def __init__(self, widths: Sequence[int], total_bits: int, reduction: str) -> None:
        self._count, self._reduction = len(widths), reduction
        terms = {f"term_{k}": In(width) for k, width in enumerate(widths)}
        super().__init__("accumulate", (*widths, total_bits, reduction), terms | {"total": Out(total_bits)})

    @property
    def terms(self) -> list[Signal]:
        """The ports `term_0` … ."""
        return indexed(self, "term", self._count)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        rows = [term.as_signed() for term in self.terms]
        reduced = two_rows(m, rows, len(self.total), "rows", self._reduction)
        m.d.comb += self.total.eq(reduced[0] + reduced[1] if len(reduced) == 2 else reduced[0])
        return m
