"""Step accumulate: the exact sum of the aligned terms (golden: `steps.accumulate`), in any encoding of negative numbers."""

from collections.abc import Sequence

from amaranth import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib.wiring import In, Out

from golden.checks import check_choice
from golden.unit import ENCODINGS
from rtl.arithmetic.carry_save import magnitude_of_sum
from rtl.arithmetic.leading_zeros import anticipate_leading_zeros
from rtl.arithmetic.reduction import two_rows
from rtl.steps.component import Part


class Accumulate(Part):
    """Combinational sum of signed magnitudes: two rows, then one adder; the result is a sign and a magnitude.

    Args:
        widths: bits of each aligned magnitude.
        total_bits: bits of the largest possible |total|.
        encoding: how negative terms are held in the rows, which costs area and never changes the total.
            `sign-magnitude`: positive and negative terms are summed apart, then subtracted.
            `twos-complement`: every lane negates, by an incrementer of its own.
            `ones-complement`: every lane inverts that differs in sign from the narrowest, the missing increments ride in the
            rows' empty places.
        reduction: how many terms become two rows; as in `golden.Implementation`.
        anticipates: whether leading zeros are anticipated beside the last adder.

    Members:
        sign_0 … , aligned_0 …: In, the terms. sign: Out(1), 0 for a zero total. total: Out(total_bits), the magnitude.
        zeros: Out, where anticipated: leading zeros of total, or up to `ANTICIPATION_ERROR` fewer.
    """

    def __init__(
        self,
        widths: Sequence[int],
        total_bits: int,
        encoding: str,
        reduction: str = "carry-save",
        anticipates: bool = False,
    ) -> None:
        check_choice("encoding", encoding, ENCODINGS)
        self.count, self.total_bits, self.encoding = len(widths), total_bits, encoding
        self.reduction, self.anticipates = reduction, anticipates
        signs = {f"sign_{k}": In(1) for k in range(self.count)}
        magnitudes = {f"aligned_{k}": In(width) for k, width in enumerate(widths)}
        members = signs | magnitudes | {"sign": Out(1), "total": Out(total_bits)}
        if anticipates:
            members["zeros"] = Out(range(total_bits + 1))
        super().__init__("accumulate", (*widths, total_bits, encoding, reduction, anticipates), members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        lanes = [(getattr(self, f"sign_{k}"), getattr(self, f"aligned_{k}")) for k in range(self.count)]
        match self.encoding:
            case "sign-magnitude":
                self._sum_apart(m, lanes)
            case "ones-complement":
                self._sum_inverted(m, sorted(lanes, key=lambda lane: len(lane[1])))
            case "twos-complement":
                self._sum_negated(m, lanes)
        return m

    @property
    def _width(self) -> int:
        """Bits of the total in two's complement."""
        return self.total_bits + 1

    def _sum_apart(self, m: Module, lanes: list[tuple[Signal, Signal]]) -> None:
        positive = self._two_rows(m, [Mux(s, 0, t) for s, t in lanes], "positive")
        negative = self._two_rows(m, [Mux(s, t, 0) for s, t in lanes], "negative")
        # −x = ~x + 1: one increment for each negative row, of which the last adder takes one.
        increments = [Const(1, 1)] * (len(negative) - 1)
        rows = self._two_rows(m, [*positive, *(~row for row in negative)], "difference", increments)
        negated, total = magnitude_of_sum(m, rows, Const(1, 1))
        m.d.comb += [self.sign.eq(negated), self.total.eq(total)]
        self._anticipate(m, rows)

    def _sum_inverted(self, m: Module, lanes: list[tuple[Signal, Signal]]) -> None:
        """The sum as the first lane sees it: that lane counts as positive, so that the bits above it are free.

        An inverted lane's sign bits, −s·2**w, are ~s·2**w − 2**w; the constants meet in the free bits of the first row.
        """
        first_sign, first = lanes[0]
        inverted = Signal(max(1, len(lanes) - 1))
        m.d.comb += inverted.eq(Cat(s ^ first_sign for s, _ in lanes[1:]))
        above = -sum(1 << len(t) for _, t in lanes[1:]) & ((1 << self._width) - 1)
        rows = [Cat(first, Const(above >> len(first), self._width - len(first)))]
        for k, (_, t) in enumerate(lanes[1:]):
            rows.append(Cat(t ^ inverted[k].replicate(len(t)), ~inverted[k]))
        # −x = ~x + 1: the first inverted lane's increment is left to the last adder.
        increments = [inverted[k] & inverted[:k].any() for k in range(1, len(lanes) - 1)]
        summands = self._two_rows(m, rows, "sum", increments)
        negated, total = magnitude_of_sum(m, summands, inverted.any())
        m.d.comb += [self.sign.eq((negated ^ first_sign) & total.any()), self.total.eq(total)]
        self._anticipate(m, summands)

    def _sum_negated(self, m: Module, lanes: list[tuple[Signal, Signal]]) -> None:
        # The last adder gives the magnitude of a sum with an increment: the rows hold one less.
        rows = self._two_rows(m, [*(Mux(s, -t, t) for s, t in lanes), Const(-1, signed(1))], "sum")
        negated, total = magnitude_of_sum(m, rows, Const(1, 1))
        m.d.comb += [self.sign.eq(negated), self.total.eq(total)]
        self._anticipate(m, rows)

    def _two_rows(self, m: Module, rows: Sequence[Value], name: str, increments: Sequence[Value] = ()) -> list[Signal]:
        return two_rows(m, rows, self._width, name, self.reduction, increments)

    def _anticipate(self, m: Module, rows: list[Signal]) -> None:
        """Leading zeros from the operands of the last adder, which takes an increment or none."""
        if self.anticipates:
            left, right = rows if len(rows) == 2 else (rows[0], Const(0, self._width))
            m.d.comb += self.zeros.eq(anticipate_leading_zeros(m, left, right, self.total_bits))
