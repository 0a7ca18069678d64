"""The shift of a sum in two's complement, down and toward zero: a circuit that can save area by rounding down.

The project's units convert a sum of products to sign and magnitude before they align it, and there RD costs more than RZ. A
circuit with the sum in two's complement gets RD by dropping bits. This module compares it with two circuits for RZ.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from amaranth import Cat, Module, Mux, Signal, Value, signed, unsigned
from amaranth.back import verilog
from amaranth.lib.wiring import In, Out

from rtl.cost.liberty import library
from rtl.cost.synthesis import TOP, map_whole
from rtl.cost.timing import analyse
from rtl.steps.component import AnyComponent

SUM_BITS, PLACED_ZEROS = 30, 8
"""Of T of CDNA3's fp16 instruction: a sign, five bits before the point and 24 after it; and how many more it has after
alignment, 32."""

Variant = Literal["down", "toward zero", "by magnitude"]

VARIANTS: Mapping[Variant, str] = {
    "down": "RD: the bits that leave are dropped",
    "toward zero": "RZ: dropped, and an increment for the next adder where the sum is negative and a one was dropped",
    "by magnitude": "RZ: the magnitude is shifted and negated again",
}


class SignedShift(AnyComponent):
    """A signed number shifted right, combinational.

    Args:
        width: its bits. gap_bits: of the distance, which may exceed the width. variant: one of `VARIANTS`.

    Members:
        total: In, the number. gap: In, the distance.
        aligned: Out, the number shifted, to which `increment`: Out(1) is still to be added.
    """

    total: Signal
    gap: Signal
    aligned: Signal
    increment: Signal

    def __init__(self, width: int, gap_bits: int, variant: Variant) -> None:
        self.variant = variant
        ports = {
            "total": In(signed(width)),
            "gap": In(unsigned(gap_bits)),
            "aligned": Out(signed(width)),
            "increment": Out(1),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        sign = self.total[-1]
        if self.variant == "by magnitude":
            magnitude = Signal(unsigned(len(self.total)))
            m.d.comb += magnitude.eq(Mux(sign, -self.total, self.total))
            shifted, _ = shift_filling(magnitude, self.gap, sign & ~sign)
            m.d.comb += self.aligned.eq(Mux(sign, -shifted, shifted))
            return m
        shifted, lost = shift_filling(self.total.as_unsigned(), self.gap, sign)
        m.d.comb += self.aligned.eq(shifted)
        if self.variant == "toward zero":
            m.d.comb += self.increment.eq(sign & lost)
        return m


def shift_filling(value: Value, gap: Value, fill: Value) -> tuple[Value, Value]:
    """The bits shifted right with `fill` coming in, and whether a one was lost, gathered level by level."""
    width = len(value)
    levels = min(len(gap), width.bit_length())
    beyond = gap[levels:].any()
    lost = beyond & value.any()
    for level in range(levels):
        distance = min(1 << level, width)
        lost = lost | (gap[level] & value[:distance].any())
        value = Mux(gap[level], Cat(value[distance:], fill.replicate(distance)), value)
    return Mux(beyond, fill.replicate(width), value), lost


@dataclass(frozen=True)
class ShiftCost:
    """The cost of one variant: area (µm²), delay (ns)."""

    variant: Variant
    area_um2: float
    delay_ns: float


def costs(cells: str, clock_ns: float, activity: float) -> list[ShiftCost]:
    """All variants, mapped to a library's cells as whole units are.

    Raises:
        MissingTool: no Yosys, OpenSTA or library.
    """
    found = []
    for variant in VARIANTS:
        width = SUM_BITS + PLACED_ZEROS
        top = SignedShift(width, 9, variant)
        ports = [top.total, top.gap, top.aligned]
        if variant == "toward zero":  # constant in the others
            ports.append(top.increment)
        mapped = map_whole(verilog.convert(top, name=TOP, ports=ports), library(cells))
        timing = analyse(mapped.verilog, TOP, library(cells), False, clock_ns, activity)
        found.append(ShiftCost(variant, mapped.area, timing.delay))
    return found


def saving(found: Sequence[ShiftCost], variant: Variant) -> float:
    """By how much a variant's area is above that of rounding down (µm²)."""
    by_name = {each.variant: each.area_um2 for each in found}
    return by_name[variant] - by_name["down"]
