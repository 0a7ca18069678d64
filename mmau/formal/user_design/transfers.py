"""The results of a design as terms of its operands, for any earlier and later transfers, by its protocol."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cosim.dut.connection import Operand
from cosim.dut.description import Dut
from mmau.formal.netlist.flat_netlist import FlatNetlist
from mmau.formal.netlist.syntax import Module
from mmau.formal.netlist.terms import Bits, Terms
from mmau.formal.user_design.asking import Limits
from mmau.formal.user_design.handshake import Explored, Handshake
from mmau.formal.user_design.machine import Machine
from mmau.formal.user_design.not_compared import NotCompared


@dataclass(frozen=True)
class Transfers:
    """The result of one transfer.

    Attributes:
        operands: variables of the operand ports. results: the terms of port d for them, without repetition.
        how: the protocol that relates results to operands, for a report.
    """

    operands: Mapping[str, Bits]
    results: Sequence[Bits]
    how: str


def transfers_of(terms: Terms, module: Module, dut: Dut, operands: Sequence[Operand], limits: Limits) -> Transfers:
    """The results of a design for all operands.

    Raises:
        NoTerm: a statement that has no term, or a loop.
        NotCompared: an enable that does not stop the design, a handshake that breaks its protocol, or one with too many
            states for the time limit.
    """
    anything = list[Bits]()
    circuit = FlatNetlist(terms, {module.name: module}, module.name, undefined=anything)
    machine = Machine(terms, circuit, anything)
    ports = [operand.name for operand in operands if operand.direction == "input"]
    given = {port: circuit.inputs[port] for port in ports}
    controls = {"rst": terms.number(0, 1), "en": terms.number(1, 1)}
    if dut.enable is not None:
        _check_stops(terms, machine, controls, dut.enable)
    if dut.protocol in ("combinational", "fixed-latency"):
        state, inputs = machine.start, {**given, **controls}
        for number in range(dut.latency):
            if limits.over:
                raise NotCompared(f"{number} of {dut.latency} cycles were unrolled in time")
            state, inputs = machine.cycle(state, inputs).after(), controls
        how = f"{dut.latency} cycles unrolled" if dut.latency else ""
        last = {"rst": controls["rst"]} if dut.latency else inputs
        return Transfers(given, [machine.cycle(state, last).output("d")], how)
    explored = Handshake(terms, machine, circuit, dut.protocol, given, controls).explored(limits)
    return Transfers(given, explored.results, exploration_text(explored))


def _check_stops(terms: Terms, machine: Machine, controls: Mapping[str, Bits], enable: str) -> None:
    """Check that no register changes while the enable is low, so that such cycles have no effect.

    Raises:
        NotCompared: a register may change.
    """
    after = machine.cycle(machine.start, {**controls, "en": terms.number(0, 1)}).after()
    if any(after[name] != held for name, held in machine.start.items()):
        raise NotCompared(f"registers may change while {enable} is 0")


def exploration_text(explored: Explored) -> str:
    """The result of an exploration, as a text."""
    return f"handshake: all {explored.states} states after reset, at most {explored.waiting} operands under way"
