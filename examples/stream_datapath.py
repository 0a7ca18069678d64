"""A dot-product unit inside a design in Amaranth, simulated under back-pressure: `python examples/stream_datapath.py`.

`LargestResult` takes dot products from `rtl.StreamDatapath` and keeps the largest positive one. It looks at a result in
every other cycle only, so the unit has to wait for it, and the source of operands has to wait for the unit.
"""

import random
from typing import Any

import numpy as np
from amaranth import Module, Signal
from amaranth.lib import stream
from amaranth.lib.wiring import Component, In, Out, connect, flipped
from amaranth.sim import Simulator

import golden
from rtl import StreamDatapath
from rtl.designs.stream import operand_layout

UNIT = golden.Unit(
    name="fp16 dot product of Volta",
    operation=golden.instruction("sm_70", "mma.m8n8k4.f32.f16.f16.f32").operation,
    implementation=golden.Implementation(stages=3),
)


class LargestResult(Component):  # type: ignore[type-arg]  # generic in Amaranth's stubs alone
    """The largest positive result of a unit so far, +0 before there is one.

    Positive floating-point codes are ordered as integers are, so that the comparison needs no decoding.
    """

    operands: stream.Interface
    largest: Signal
    count: Signal

    def __init__(self, unit: golden.Unit) -> None:
        self.unit = StreamDatapath(unit)
        width = unit.operation.d.width
        super().__init__(
            {
                "operands": In(stream.Signature(operand_layout(unit.operation))),
                "largest": Out(width),
                "count": Out(32),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.unit = unit = self.unit
        connect(m, flipped(self.operands), unit.operands)
        d = unit.results.payload.d
        looking = Signal()
        m.d.sync += looking.eq(~looking)
        m.d.comb += unit.results.ready.eq(looking)
        with m.If(unit.results.valid & unit.results.ready):
            m.d.sync += self.count.eq(self.count + 1)
            with m.If(~d[-1] & (d > self.largest)):
                m.d.sync += self.largest.eq(d)
        return m


def simulated(rows: list[dict[str, Any]]) -> tuple[int, int]:
    """The largest result of all rows of operands, and the cycles that the rows took."""
    design = LargestResult(UNIT)
    cycles = 0
    answer = 0

    async def source(ctx: Any) -> None:
        for row in rows:
            ctx.set(design.operands.payload, row)
            ctx.set(design.operands.valid, 1)
            await ctx.tick().until(design.operands.ready)
        ctx.set(design.operands.valid, 0)

    async def sink(ctx: Any) -> None:
        nonlocal cycles, answer
        while ctx.get(design.count) < len(rows):
            assert cycles < 10 * len(rows) + 100, "the unit does not answer"
            await ctx.tick()
            cycles += 1
        answer = ctx.get(design.largest)

    simulator = Simulator(design)
    simulator.add_clock(1e-6)  # type: ignore[no-untyped-call]  # Amaranth's stubs give no types here
    simulator.add_testbench(source, background=True)
    simulator.add_testbench(sink)
    simulator.run()  # type: ignore[no-untyped-call]
    return answer, cycles


def main() -> None:
    rng = random.Random(1)
    L, count = UNIT.operation.length, 40
    a = np.array([[rng.uniform(-2, 2) for _ in range(L)] for _ in range(count)], np.float16)
    b = np.array([[rng.uniform(-2, 2) for _ in range(L)] for _ in range(count)], np.float16)
    c = np.array([rng.uniform(-1, 1) for _ in range(count)], np.float32)
    rows = [
        {"a": p.view(np.uint16).tolist(), "b": q.view(np.uint16).tolist(), "c": int(r.view(np.uint32))}
        for p, q, r in zip(a, b, c, strict=True)
    ]
    code, cycles = simulated(rows)
    largest = np.uint32(code).view(np.float32)
    expected = UNIT.dot(a, b, c).max()
    print(f"largest of {count} dot products: {largest} after {cycles} cycles; the golden model says {expected}")
    if largest != expected:
        raise SystemExit("they differ")


if __name__ == "__main__":
    main()
