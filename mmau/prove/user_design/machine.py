"""Symbolic execution of a circuit cycle by cycle: its registers hold terms."""

from collections.abc import Mapping, Sequence

from bitwuzla import Term

from mmau.prove.netlist.flat_netlist import FlatNetlist
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.user_design.folding import Folding

State = Mapping[str, Term]
"""The value of each register, by name."""


class Cycle:
    """A circuit between two clock edges."""

    def __init__(self, circuit: FlatNetlist, folding: Folding) -> None:
        self._circuit, self._folding = circuit, folding

    def output(self, port: str) -> Bits:
        """The value at an output port."""
        bits = self._circuit.outputs[port]
        return Bits(self._folding.of(bits.term), bits.width)

    def after(self) -> State:
        """The value of each register after the clock edge."""
        return {name: self._folding.of(bits.term) for name, bits in self._circuit.after.items()}


class Machine:
    """A flat circuit with inputs.

    Args:
        circuit: flat. anything: its variables for undefined values.

    Attributes:
        start: registers with unknown values. undefined: variables for undefined values, of all cycles.
    """

    def __init__(self, terms: Terms, circuit: FlatNetlist, anything: Sequence[Bits]) -> None:
        self._terms, self._circuit, self._anything, self._fresh = terms, circuit, anything, 0
        self.undefined: set[Term] = set()
        self.start: State = {name: bits.term for name, bits in circuit.registers.items()}

    def cycle(self, state: State, inputs: Mapping[str, Bits]) -> Cycle:
        """The formulas of one cycle from a state; an input that is not given is a new variable."""
        by = {bits.term: state[name] for name, bits in self._circuit.registers.items()}
        for port, bits in self._circuit.inputs.items():
            by[bits.term] = (inputs[port] if port in inputs else self.anything(bits.width)).term
        for bits in self._anything:
            by[bits.term] = self.anything(bits.width).term
            self.undefined.add(by[bits.term])
        return Cycle(self._circuit, Folding(self._terms.manager, by))

    def anything(self, width: int) -> Bits:
        """A variable that nothing else depends on."""
        self._fresh += 1
        return self._terms.free(f"any {self._fresh}", width)
