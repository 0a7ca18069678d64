"""Circuits as Python functions against Amaranth's own simulator: every kind of cell, and whole datapaths."""

import random
from typing import Any

import pytest
from amaranth import Array, Cat, Elaboratable, Module, Mux, Signal, Value, signed
from amaranth.sim import Simulator

from golden.operations import OPERATIONS
from rtl import unit_datapath
from tests.rtl.circuit import compiled
from tests.rtl.random_units import MAKERS, random_unit
from tests.rtl.simulate import Driven


class Cells(Elaboratable):
    """Every kind of cell: operators on unsigned and signed values, parts, choices, assignments of some bits."""

    def __init__(self) -> None:
        self.inputs = Signal(32)
        self.chosen, self.pattern, self.field = Signal(6), Signal(signed(9), init=5), Signal(8)
        self.results = Signal(300)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        x, y, s, t = self.inputs[:7], self.inputs[7:14], self.inputs[14:21].as_signed(), self.inputs[21:28].as_signed()
        n, bit = self.inputs[28:31], self.inputs[31]
        values: list[Value] = [
            x + y, x - y, x * y, s + t, s - t, s * t, s + x, -s, -x, ~x, ~s, x & y, x | t, x ^ s, x << n, x >> n, s >> n,
            s << n, x == y, x != y, x < y, x <= y, x > y, x >= y, s < t, s <= t, s > t, s >= t, s < x, x.any(), x.all(),
            x.xor(), x.bool(), Mux(bit, x, t), abs(s), x.bit_select(n, 3), x.word_select(n, 2),
            Array([x, y, s])[n], x.matches("1-----0", "0000000"), s.matches(-1, 5), x.rotate_left(2), s.shift_right(2),
        ]  # fmt: skip
        with m.Switch(x):
            with m.Case("0-1---1"):
                m.d.comb += self.pattern.eq(s)
            with m.Case(0, 1, "111----"):
                m.d.comb += self.pattern.eq(t + 1)
                with m.If(bit):
                    m.d.comb += self.chosen[2:4].eq(n)
            with m.Default():
                m.d.comb += self.chosen.eq(y)
        with m.If(x > y):
            m.d.comb += self.field[:4].eq(x)
        with m.Elif(bit):
            m.d.comb += self.field[2:].eq(y)
        with m.Else():
            m.d.comb += self.field.bit_select(n, 2).eq(3)
        m.d.comb += self.results.eq(Cat(*values, self.chosen, self.pattern, self.field))
        return m


def simulated(circuit: Any, rows: list[int]) -> list[int]:
    """The results of Amaranth's simulator."""
    seen: list[int] = []

    async def testbench(ctx: Any) -> None:
        for row in rows:
            ctx.set(circuit.inputs, row)
            seen.append(ctx.get(circuit.results))

    simulator = Simulator(circuit)
    simulator.add_testbench(testbench)
    simulator.run()  # type: ignore[no-untyped-call]
    return seen


def test_every_cell_computes_what_the_simulator_does() -> None:
    rng = random.Random(1)
    rows = [
        rng.choice([rng.getrandbits(32), rng.getrandbits(32) & rng.getrandbits(32), (1 << 32) - 1, 0]) for _ in range(1500)
    ]
    circuit = Cells()
    function = compiled(circuit, circuit.inputs, circuit.results)
    assert [function(row) for row in rows] == simulated(Cells(), rows)


@pytest.mark.slow
@pytest.mark.parametrize(
    "operation", [name if name == "T-FDPA" else pytest.param(name, marks=pytest.mark.long) for name in MAKERS]
)
def test_datapaths_compute_what_the_simulator_does(operation: str) -> None:
    rng = random.Random(operation)
    made = [unit_datapath(random_unit(operation, 7)) for _ in range(2)]
    operands = [name for name in "abc" if name in OPERATIONS[operation].operands]
    circuits = [Driven(each, operands, [each.d]) for each in made]
    rows = [rng.getrandbits(len(circuits[0].inputs)) for _ in range(20)]
    function = compiled(circuits[0], circuits[0].inputs, circuits[0].results)
    assert [function(row) for row in rows] == simulated(circuits[1], rows)
