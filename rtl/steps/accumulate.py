"""Step accumulate: the exact sum of the aligned terms (golden: `steps.accumulate`), in any encoding of negative numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

from amaranth import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib.wiring import In, Member, Out

from golden.checks import check_choice
from golden.units.unit import ADDERS, ENCODINGS
from rtl.arithmetic.carry_save import magnitude_of_sum, two_rows
from rtl.arithmetic.leading_zeros import anticipate_leading_zeros
from rtl.steps.component import SharedComponent, indexed


@dataclass(frozen=True)
class Summands:
    """The operands of the last adder.

    Attributes:
        rows: one or two rows of total_bits + 1 bits each.
        increment: a single bit that is added too.
        frame: the sign that the sum is relative to; None if the sum is absolute.
    """

    rows: Sequence[Value]
    increment: Value
    frame: Value | None


class _OfTerms(SharedComponent):
    """The terms, and their reduction to the operands of the last adder.

    Args:
        widths: bits of each aligned magnitude.
        total_bits: bits of the largest possible |total|.
        encoding: how negative terms are held in the rows, which costs area and never changes the total.
            `sign-magnitude`: positive and negative terms are summed apart, then subtracted.
            `twos-complement`: every negative term is negated, by an incrementer of its own.
            `ones-complement`: every term that differs in sign from the narrowest is inverted; the increments that this
                leaves out are added in empty places of the rows.
        reduction: how many terms become two rows; as in `golden.Implementation`.
        carry_bits: width of a second row of the first term, 0 without one. The magnitude is the sum of both rows, less
            2**(bits of aligned_0) if the second row is wider. Only in ones' complement, and only if no other term is
            narrower.
        module, key, outputs: of the component: its module name, its key and its outputs.

    Members:
        sign_0 … , aligned_0 …: In, the terms. carry_0: In(carry_bits), if there is a second row.
    """

    carry_0: Signal

    def __init__(
        self,
        widths: Sequence[int],
        total_bits: int,
        encoding: str,
        reduction: str,
        carry_bits: int,
        module: str,
        key: tuple[object, ...],
        outputs: dict[str, Member],
    ) -> None:
        check_choice("encoding", encoding, ENCODINGS)
        self.count, self.total_bits, self.encoding = len(widths), total_bits, encoding
        self.reduction, self.carry_bits = reduction, carry_bits
        signs = {f"sign_{k}": In(1) for k in range(self.count)}
        magnitudes = {f"aligned_{k}": In(width) for k, width in enumerate(widths)}
        members = signs | magnitudes | outputs
        if carry_bits:
            members["carry_0"] = In(carry_bits)
        super().__init__(module, (*widths, total_bits, encoding, reduction, *key), members)

    @property
    def terms(self) -> list[tuple[Signal, Signal]]:
        """The ports `sign_0` … and `aligned_0` …, by terms."""
        return list(zip(indexed(self, "sign", self.count), indexed(self, "aligned", self.count), strict=True))

    def _summands(self, m: Module) -> Summands:
        match self.encoding:
            case "sign-magnitude":
                return self._apart(m, self.terms)
            case "ones-complement":
                return self._inverted(m, sorted(self.terms, key=lambda term: len(term[1])))
            case _:
                return self._negated(m, self.terms)

    @property
    def _width(self) -> int:
        """Bits of the total in two's complement."""
        return self.total_bits + 1

    def _apart(self, m: Module, terms: list[tuple[Signal, Signal]]) -> Summands:
        # 1. positive and negative magnitudes, each summed to two rows
        positive = self._two_rows(m, [Mux(s, 0, t) for s, t in terms], "positive")
        negative = self._two_rows(m, [Mux(s, t, 0) for s, t in terms], "negative")
        # 2. their difference: −x = ~x + 1, one increment for each negative row, of which the last adder takes one
        increments = [Const(1, 1)] * (len(negative) - 1)
        rows = self._two_rows(m, [*positive, *(~row for row in negative)], "difference", increments)
        return Summands(rows, Const(1, 1), None)

    def _inverted(self, m: Module, terms: list[tuple[Signal, Signal]]) -> Summands:
        """The sum relative to the first term, whose own sign is put back at the end.

        A row of width w that is inverted (s = 1) would need ones in all places above it, which is −s·2**w. That equals
        ~s·2**w − 2**w: a single bit on top of the row, and a constant. The first term counts as positive, so the places
        above it are free and hold the sum of all these constants:

            row 0     C … C C  m m m m m m     C: −Σ 2**w of the other rows     m: the first magnitude
            row k           ~s t t t t t t     t: the magnitude, inverted where s
        """
        # 1. which terms are inverted
        first_sign, first = terms[0]
        inverted = Signal(max(1, len(terms) - 1))
        m.d.comb += inverted.eq(Cat(s ^ first_sign for s, _ in terms[1:]))
        # 2. the rows
        tops = [len(t) for _, t in terms[1:]] + [len(first)] * (self.carry_bits > len(first))
        above = -sum(1 << top for top in tops) & ((1 << self._width) - 1)
        rows: list[Value] = [Cat(first, Const(above >> len(first), self._width - len(first)))]
        for k, (_, t) in enumerate(terms[1:]):
            rows.append(Cat(t ^ inverted[k].replicate(len(t)), ~inverted[k]))
        if self.carry_bits:
            rows.append(self.carry_0)
        # 3. −x = ~x + 1: an increment for each inverted term; the first one's is left to the last adder
        increments = [inverted[k] & inverted[:k].any() for k in range(1, len(terms) - 1)]
        return Summands(self._two_rows(m, rows, "sum", increments), inverted.any(), first_sign)

    def _negated(self, m: Module, terms: list[tuple[Signal, Signal]]) -> Summands:
        # The last adder gives the magnitude of a sum with an increment: the rows hold one less.
        rows = self._two_rows(m, [*(Mux(s, -t, t) for s, t in terms), Const(-1, signed(1))], "sum")
        return Summands(rows, Const(1, 1), None)

    def _two_rows(self, m: Module, rows: Sequence[Value], name: str, increments: Sequence[Value] = ()) -> list[Signal]:
        return two_rows(m, rows, self._width, name, self.reduction, increments)


class Accumulate(_OfTerms):
    """Combinational sum of signed magnitudes: two rows, then one adder; the result is a sign and a magnitude.

    Args:
        widths, total_bits, encoding, reduction, carry_bits: as of `_OfTerms`.
        anticipates: whether leading zeros are anticipated beside the last adder.
        adder: shape of the last adder; as in `golden.Implementation`.

    Members:
        sign_0 … , aligned_0 …, carry_0: as of `_OfTerms`.
        sign: Out(1), 0 for a zero total. total: Out(total_bits), the magnitude.
        zeros: Out, where anticipated: leading zeros of total, or up to `ANTICIPATION_ERROR` fewer.
    """

    sign: Signal
    total: Signal
    zeros: Signal

    def __init__(
        self,
        widths: Sequence[int],
        total_bits: int,
        encoding: str,
        reduction: str = "carry-save",
        anticipates: bool = False,
        adder: str = ADDERS[0],
        carry_bits: int = 0,
    ) -> None:
        self.anticipates, self.adder = anticipates, adder
        key = (anticipates, adder, carry_bits)
        super().__init__(
            widths, total_bits, encoding, reduction, carry_bits, "accumulate", key, _outputs(total_bits, anticipates)
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        _add(m, self, self._summands(m))
        return m


class AccumulateRows(_OfTerms):
    """The first part of `Accumulate`: the terms reduced to the operands of the last adder.

    Args:
        widths, total_bits, encoding, reduction, carry_bits: as of `_OfTerms`.

    Members:
        sign_0 … , aligned_0 …, carry_0: as of `_OfTerms`.
        row_0, row_1: Out(total_bits + 1). increment, frame: Out(1), in ones' complement, as of `Summands`.
    """

    row_0: Signal
    row_1: Signal
    increment: Signal
    frame: Signal

    def __init__(self, widths: Sequence[int], total_bits: int, encoding: str, reduction: str, carry_bits: int) -> None:
        outputs = {name: Out(width) for name, width in _row_ports(total_bits, encoding).items()}
        super().__init__(widths, total_bits, encoding, reduction, carry_bits, "accumulate_rows", (carry_bits,), outputs)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        summands = self._summands(m)
        first, second = (*summands.rows, Const(0, self._width))[:2]
        m.d.comb += [self.row_0.eq(first), self.row_1.eq(second)]
        if summands.frame is not None:
            m.d.comb += [self.increment.eq(summands.increment), self.frame.eq(summands.frame)]
        return m


class AccumulateTotal(SharedComponent):
    """The second part of `Accumulate`: the last adder.

    Args:
        total_bits, encoding, anticipates, adder: as of `Accumulate`.

    Members:
        row_0, row_1, increment, frame: In, as of `AccumulateRows`. sign, total, zeros: Out, as of `Accumulate`.
    """

    row_0: Signal
    row_1: Signal
    increment: Signal
    frame: Signal
    sign: Signal
    total: Signal
    zeros: Signal

    def __init__(self, total_bits: int, encoding: str, anticipates: bool, adder: str) -> None:
        self.total_bits, self.encoding, self.anticipates, self.adder = total_bits, encoding, anticipates, adder
        members = {name: In(width) for name, width in _row_ports(total_bits, encoding).items()}
        key = (total_bits, encoding, anticipates, adder)
        super().__init__("accumulate", key, members | _outputs(total_bits, anticipates))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        relative = self.encoding == "ones-complement"
        increment, frame = (self.increment, self.frame) if relative else (Const(1, 1), None)
        _add(m, self, Summands((self.row_0, self.row_1), increment, frame))
        return m


def _row_ports(total_bits: int, encoding: str) -> dict[str, int]:
    """The values between the two parts of `Accumulate`, by name, with their widths (bits)."""
    relative = {"increment": 1, "frame": 1} if encoding == "ones-complement" else {}
    return {"row_0": total_bits + 1, "row_1": total_bits + 1, **relative}


def _outputs(total_bits: int, anticipates: bool) -> dict[str, Member]:
    zeros = {"zeros": Out(range(total_bits + 1))} if anticipates else {}
    return {"sign": Out(1), "total": Out(total_bits), **zeros}


def _add(m: Module, component: Accumulate | AccumulateTotal, summands: Summands) -> None:
    """The last adder: drives sign, total and, where anticipated, zeros."""
    rows, frame = summands.rows, summands.frame
    negated, total = magnitude_of_sum(m, rows, summands.increment, component.adder)
    sign = negated if frame is None else (negated ^ frame) & total.any()
    m.d.comb += [component.sign.eq(sign), component.total.eq(total)]
    if component.anticipates:
        # Leading zeros from the operands of the last adder, which takes an increment or none.
        left, right = rows if len(rows) == 2 else (rows[0], Const(0, len(rows[0])))
        m.d.comb += component.zeros.eq(anticipate_leading_zeros(m, left, right, component.total_bits))


def signed_zero(sign: Value, total: Value, zero_negative: Value) -> Value:
    """The sign of a sum by IEEE 754, 6.3: that of the total, and an exact zero is negative only where every term is."""
    return sign | (zero_negative & ~total.any())
