"""A unit's datapath behind `amaranth.lib.stream` ports, for designs in Amaranth."""

from amaranth import Module
from amaranth.lib import stream
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from golden import Operation, Unit
from golden.checks import check_int
from golden.units.unit import MAX_STAGES
from rtl.designs.ports import step_operands
from rtl.designs.unit import unit_datapath
from rtl.steps.component import AnyComponent


class StreamDatapath(AnyComponent):
    """One step of a unit, from a stream of operands to a stream of results.

    Inside is the plain datapath (`rtl.unit_datapath`). Without stalls a result comes `stages` cycles after its operands, one
    each cycle, in order; operands are taken as long as a register is free.

    Args:
        unit: the unit to build; it must have at least one stage.

    Members:
        operands: In(stream of `operand_layout`). results: Out(stream of `result_layout`).

    Raises:
        ValueError: a unit without stages, which has no handshake, or parameters that no datapath can hold.
    """

    operands: stream.Interface
    results: stream.Interface

    def __init__(self, unit: Unit) -> None:
        check_streamed(unit)
        self.datapath = unit_datapath(unit)
        super().__init__(
            {
                "operands": In(stream.Signature(operand_layout(unit.operation))),
                "results": Out(stream.Signature(result_layout(unit.operation))),
            }
        )

    @property
    def latency(self) -> int:
        """Cycles from operands to their result if nothing stalls."""
        return self.datapath.latency

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.datapath = datapath = self.datapath
        for name in datapath.inputs:
            m.d.comb += getattr(datapath, name).eq(getattr(self.operands.payload, name))
        m.d.comb += [
            datapath.in_valid.eq(self.operands.valid),
            self.operands.ready.eq(datapath.in_ready),
            self.results.payload.d.eq(datapath.d),
            self.results.valid.eq(datapath.out_valid),
            datapath.out_ready.eq(self.results.ready),
        ]
        return m


def check_streamed(unit: Unit) -> None:
    """Raise ValueError for a unit without stages: a combinational datapath has no handshake."""
    check_int("stages of a datapath with streams", unit.implementation.stages, 1, MAX_STAGES)


def operand_layout(operation: Operation) -> StructLayout:
    """The operands of one step as a struct of codes: a, b [L], c, and scale_a, scale_b [scales] where there are scales."""
    operands = step_operands(operation)
    members = {
        name: elements.width if name == "c" else ArrayLayout(elements.format.width, elements.count)
        for name, elements in operands.items()
        if name != "d"
    }
    return StructLayout(members)


def result_layout(operation: Operation) -> StructLayout:
    """The result of one step as a struct: d."""
    return StructLayout({"d": step_operands(operation)["d"].width})
