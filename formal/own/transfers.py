"""What a design gives for operands, as terms of them, whatever comes before and after: by its protocol."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cosim.dut.connection import Operand
from cosim.dut.description import Dut
from formal.own.asking import Limits
from formal.own.circuit import Circuit
from formal.own.handshake import Explored, Handshake
from formal.own.machine import Machine
from formal.own.reading import NotCompared
from rtl.verilog.terms import Bits, Terms


@dataclass(frozen=True)
class Transfers:
    """What one transfer gives.

    Attributes:
        operands: variables of the operand ports. results: what port d shows for them, all different terms.
        how: by what the operands and the results are known to belong together, for a report.
    """

    operands: Mapping[str, Bits]
    results: Sequence[Bits]
    how: str


def transfers_of(terms: Terms, circuit: Circuit, dut: Dut, operands: Sequence[Operand], limits: Limits) -> Transfers:
    """What a design gives for any operands.

    Raises:
        NotCompared: an enable that does not stop it, a handshake that does not do what its protocol says, or that could not
            be followed in time.
    """
    machine = Machine(terms, circuit)
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
    return Transfers(given, explored.results, told(explored))


def _check_stops(terms: Terms, machine: Machine, controls: Mapping[str, Bits], enable: str) -> None:
    """Check that no register changes without the enable: so cycles without it make no difference to those with it.

    Raises:
        NotCompared: one may.
    """
    after = machine.cycle(machine.start, {**controls, "en": terms.number(0, 1)}).after()
    if any(after[name] != held for name, held in machine.start.items()):
        raise NotCompared(f"registers may change while {enable} is 0")


def told(explored: Explored) -> str:
    """How far a handshake was followed."""
    return f"handshake: all {explored.states} states after reset, at most {explored.waiting} operands under way"
