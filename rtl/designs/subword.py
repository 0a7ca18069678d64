"""A subword multiplier: one circuit for a pair of wide operands, two pairs of half the width, or four of a quarter."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib.wiring import In, Member, Out

from golden.operations import TFDPA
from rtl.steps.component import SharedComponent, indexed
from rtl.steps.interfaces import (
    ExpRange,
    Operand,
    OperandSignature,
    Special,
    SpecialSignature,
    Term,
    TermFormat,
    TermSignature,
    exp_range,
    union,
)


@dataclass(frozen=True)
class LaneFormat:
    """The ranges of the operands and the product of a lane, over all formats that use it.

    Attributes:
        exps: exponents of an operand.
        sig_bits: bits of an operand's significand; significands of different formats are not aligned with each other.
        product: format of the product, with the fraction bits of the finest format.
    """

    exps: ExpRange
    sig_bits: int
    product: TermFormat

    @classmethod
    def of(cls, operations: Sequence[TFDPA]) -> "LaneFormat":
        """The format of a lane that holds elements of these operations."""
        operands = [operand for operation in operations for operand in (operation.a, operation.b)]
        frac = max(operation.product_frac for operation in operations)
        first = operations[0]
        exps = union([exp_range(operation.a) + exp_range(operation.b) for operation in operations])
        exps = exps.including(first.e_zero).including(idle_exp(first))
        sig_bits = 1 + max(operand.man_bits for operand in operands)
        return cls(union([exp_range(operand) for operand in operands]), sig_bits, TermFormat(exps, frac + 2, frac))

    @property
    def operand(self) -> OperandSignature:
        """Signature of a decoded operand in any of the formats."""
        return OperandSignature(self.exps, self.sig_bits)


def idle_exp(operation: TFDPA) -> int:
    """An exponent that is never the only largest: c is always a term, and its exponent is never below this one."""
    return min(operation.c.e_min, operation.e_zero)


@dataclass(frozen=True)
class Lane:
    """The ports of one lane."""

    x: Operand
    y: Operand
    prod: Term
    special: Special


class SubwordMultiply(SharedComponent):
    """Combinational multiplier of a word, made of up to four multipliers of half the widest significand.

    One pair of up to 2h bits (h: half the widest significand, rounded up) takes all four blocks, added as in long
    multiplication; packed pairs of at most h bits take one block each.

        bits of the product      4h       3h       2h       h        0
        block 0: low · low                          |                |     or lane 0
        block 1: high · high      |                 |                      or lane 1
        block 2: x low · y high            |                |              or lane 2
        block 3: x high · y low            |                |              or lane 3

    Args:
        lanes: what each lane's operands can be.
        operations: what `selected` selects.
        per_word: how many lanes each operation uses.

    Members:
        selected: In, one bit an operation.
        x_0 …, y_0 …: In, the operands of each lane, zero where it is idle.
        prod_0 …: Out(TermSignature). special_0 …: Out(SpecialSignature).
    """

    selected: Signal

    def __init__(self, lanes: Sequence[LaneFormat], operations: Sequence[TFDPA], per_word: Sequence[int]) -> None:
        self.formats, self.operations, self.per_word = tuple(lanes), tuple(operations), tuple(per_word)
        self._half = -(-max(lane.sig_bits for lane in lanes) // 2)
        members: dict[str, Member] = {"selected": In(len(operations))}
        for k, lane in enumerate(lanes):
            members |= {f"x_{k}": In(lane.operand), f"y_{k}": In(lane.operand)}
            members |= {f"prod_{k}": Out(TermSignature(lane.product)), f"special_{k}": Out(SpecialSignature())}
        super().__init__("multiply", (self.formats, self.operations, self.per_word), members)

    @property
    def lanes(self) -> list[Lane]:
        """The ports of each lane, in order."""
        ports = (indexed(self, member, len(self.formats)) for member in ("x", "y", "prod", "special"))
        return [Lane(*lane) for lane in zip(*ports, strict=True)]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        # 1. the significands' products, the only part that the lanes share
        whole = self._any_selected(lambda count: count == 1)
        sigs = self._products(m, whole)
        # 2. everything else, as in `Multiply`; an idle lane is a zero whose exponent is never the only largest
        for k, (lane, lane_format) in enumerate(zip(self.lanes, self.formats, strict=True)):
            x, y, prod, special = lane.x, lane.y, lane.prod, lane.special
            used = self._any_selected(lambda count, k=k: count > k)  # type: ignore[misc]  # mypy infers no default's type
            exp = Mux(x.zero | y.zero, self.operations[0].e_zero, x.exp + y.exp)
            infinite = x.inf | y.inf
            m.d.comb += [
                prod.sign.eq(x.sign ^ y.sign),
                prod.exp.eq(Mux(used, exp, idle_exp(self.operations[0]))),
                prod.sig.eq(self._placed(sigs[k], k, lane_format.product.frac)),
                special.nan.eq(x.nan | y.nan | (x.inf & y.zero) | (x.zero & y.inf)),
                special.pos_inf.eq(infinite & ~prod.sign),
                special.neg_inf.eq(infinite & prod.sign),
            ]
        return m

    def _products(self, m: Module, whole: Value) -> list[Signal]:
        """The product of each lane's significands."""
        half, lanes = self._half, self.lanes
        # 1. the halves of the wide pair, and the pairs of the lanes
        xs = [_extended(lane.x.sig, 2 * half) for lane in lanes]
        ys = [_extended(lane.y.sig, 2 * half) for lane in lanes]
        x_low, x_high, y_low, y_high = xs[0][:half], xs[0][half:], ys[0][:half], ys[0][half:]
        halves = [(x_low, y_low), (x_high, y_high), (x_low, y_high), (x_high, y_low)]
        # 2. four blocks: halves where one wide pair is selected, else lanes
        small = []
        for k, (x, y) in enumerate(halves):
            own = (xs[k][:half], ys[k][:half]) if k < len(lanes) else (Const(0, half), Const(0, half))
            block = Signal(2 * half, name=f"block_{k}")
            # A packed operand of lane 0 is its own low half.
            m.d.comb += block.eq(x * y if k == 0 else Mux(whole, x, own[0]) * Mux(whole, y, own[1]))
            small.append(block)
        # 3. the wide product: the blocks added at the places of their halves
        sigs = [Signal(4 * half, name=f"sig_{k}") for k in range(len(lanes))]
        cross = Mux(whole, Cat(Const(0, half), small[2] + small[3]), 0)
        m.d.comb += sigs[0].eq(small[0] + cross + Mux(whole, Cat(Const(0, 2 * half), small[1]), 0))
        # 4. the packed products
        m.d.comb += [sigs[k].eq(Mux(whole, 0, small[k])) for k in range(1, len(lanes))]
        return sigs

    def _placed(self, sig: Value, lane: int, frac: int) -> Value:
        """The product with its binary point at the lane's place, independent of the selected format."""
        using = [(o, bit) for o, bit, n in zip(self.operations, self.selected, self.per_word, strict=True) if n > lane]
        by_shift: dict[int, list[Value]] = {}
        for operation, bit in using:
            by_shift.setdefault(frac - operation.product_frac, []).append(bit)
        return reduce(or_, (Mux(Cat(bits).any(), sig << shift, 0) for shift, bits in by_shift.items()))

    def _any_selected(self, wanted: Callable[[int], bool]) -> Value:
        """High if the selected operation uses a number of lanes that the condition accepts."""
        return Cat(bit for bit, count in zip(self.selected, self.per_word, strict=True) if wanted(count)).any()


def _extended(value: Value, width: int) -> Value:
    return Cat(value, Const(0, width - len(value)))
