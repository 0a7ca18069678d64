"""A slot of a multi-format datapath: one multiplier for one wide pair of operands, two narrower ones or four."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib.wiring import In, Out, Signature

from golden.operations import TFDPA
from rtl.steps.component import Part
from rtl.steps.shapes import ExpRange, SpecialSignature, TermShape, TermSignature, exp_range, union


@dataclass(frozen=True)
class LaneShape:
    """What the operands and the product of a lane can be, over all formats that use it.

    Attributes:
        exps: exponents of an operand.
        sig_bits: of an operand's significand, which is not aligned with those of other formats.
        product: the product, whose fraction bits are those of the finest format.
    """

    exps: ExpRange
    sig_bits: int
    product: TermShape

    @classmethod
    def of(cls, operations: Sequence[TFDPA]) -> "LaneShape":
        """The lane of these operations' elements."""
        operands = [operand for operation in operations for operand in (operation.a, operation.b)]
        frac = max(operation.product_frac for operation in operations)
        first = operations[0]
        exps = union([exp_range(operation.a) + exp_range(operation.b) for operation in operations])
        exps = exps.including(first.e_zero).including(idle_exp(first))
        sig_bits = 1 + max(operand.man_bits for operand in operands)
        return cls(union([exp_range(operand) for operand in operands]), sig_bits, TermShape(exps, frac + 2, frac))

    @property
    def operand(self) -> Signature:
        """A decoded operand in any of the formats."""
        flags = {"zero": Out(1), "inf": Out(1), "nan": Out(1)}
        return Signature({"sign": Out(1), "exp": Out(self.exps.shape), "sig": Out(self.sig_bits)} | flags)


def idle_exp(operation: TFDPA) -> int:
    """An exponent that never decides: c is always a term, and its exponent is never below this one."""
    return min(operation.c.e_min, operation.e_zero)


class SlotMultiply(Part):
    """Combinational multiplier of a slot, made of up to four multipliers of half the widest significand.

    One pair: the four partial products of its halves, added. Two or four pairs: a small multiplier each.

    Args:
        lanes: what each lane's operands can be.
        operations: what `selected` selects.
        per_slot: how many lanes each operation uses.

    Members:
        selected: In, one bit an operation.
        x_0 …, y_0 …: In, the operands of each lane, zero where it is idle.
        prod_0 …: Out(TermSignature). special_0 …: Out(SpecialSignature).
    """

    def __init__(self, lanes: Sequence[LaneShape], operations: Sequence[TFDPA], per_slot: Sequence[int]) -> None:
        self.lanes, self.operations, self.per_slot = tuple(lanes), tuple(operations), tuple(per_slot)
        self._half = -(-max(lane.sig_bits for lane in lanes) // 2)
        members: dict[str, Any] = {"selected": In(len(operations))}
        for k, lane in enumerate(lanes):
            members |= {f"x_{k}": In(lane.operand), f"y_{k}": In(lane.operand)}
            members |= {f"prod_{k}": Out(TermSignature(lane.product)), f"special_{k}": Out(SpecialSignature())}
        super().__init__("multiply", (self.lanes, self.operations, self.per_slot), members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        whole = self._any_selected(lambda count: count == 1)
        sigs = self._products(m, whole)
        for k, lane in enumerate(self.lanes):
            x, y, prod, special = (getattr(self, f"{name}_{k}") for name in ("x", "y", "prod", "special"))
            used = self._any_selected(lambda count, k=k: count > k)
            exp = Mux(x.zero | y.zero, self.operations[0].e_zero, x.exp + y.exp)
            infinite = x.inf | y.inf
            m.d.comb += [
                prod.sign.eq(x.sign ^ y.sign),
                prod.exp.eq(Mux(used, exp, idle_exp(self.operations[0]))),
                prod.sig.eq(self._placed(sigs[k], k, lane.product.frac)),
                special.nan.eq(x.nan | y.nan | (x.inf & y.zero) | (x.zero & y.inf)),
                special.pos_inf.eq(infinite & ~prod.sign),
                special.neg_inf.eq(infinite & prod.sign),
            ]
        return m

    def _products(self, m: Module, whole: Value) -> list[Signal]:
        """The product of each lane's significands."""
        half = self._half
        xs, ys = ([_extended(getattr(self, f"{side}_{k}").sig, 2 * half) for k in range(len(self.lanes))] for side in "xy")
        x_low, x_high, y_low, y_high = xs[0][:half], xs[0][half:], ys[0][:half], ys[0][half:]
        halves = [(x_low, y_low), (x_high, y_high), (x_low, y_high), (x_high, y_low)]
        small = []
        for k, (x, y) in enumerate(halves):
            own = (xs[k][:half], ys[k][:half]) if k < len(self.lanes) else (Const(0, half), Const(0, half))
            block = Signal(2 * half, name=f"block_{k}")
            # A packed operand of lane 0 is its own low half.
            m.d.comb += block.eq(x * y if k == 0 else Mux(whole, x, own[0]) * Mux(whole, y, own[1]))
            small.append(block)
        sigs = [Signal(4 * half, name=f"sig_{k}") for k in range(len(self.lanes))]
        cross = Mux(whole, Cat(Const(0, half), small[2] + small[3]), 0)
        m.d.comb += sigs[0].eq(small[0] + cross + Mux(whole, Cat(Const(0, 2 * half), small[1]), 0))
        m.d.comb += [sigs[k].eq(Mux(whole, 0, small[k])) for k in range(1, len(self.lanes))]
        return sigs

    def _placed(self, sig: Value, lane: int, frac: int) -> Value:
        """The product with its binary point where the lane has it, whatever the selected format."""
        using = [(o, bit) for o, bit, n in zip(self.operations, self.selected, self.per_slot, strict=True) if n > lane]
        by_shift: dict[int, list[Value]] = {}
        for operation, bit in using:
            by_shift.setdefault(frac - operation.product_frac, []).append(bit)
        return reduce(or_, (Mux(Cat(bits).any(), sig << shift, 0) for shift, bits in by_shift.items()))

    def _any_selected(self, wanted: Any) -> Value:
        """Whether an operation with such a number of lanes is selected."""
        return Cat(bit for bit, count in zip(self.selected, self.per_slot, strict=True) if wanted(count)).any()


def _extended(value: Value, width: int) -> Value:
    return Cat(value, Const(0, width - len(value)))
