"""A circuit cycle by cycle, its registers holding terms."""

from collections.abc import Mapping

from bitwuzla import Term

from formal.own.circuit import Circuit
from formal.own.folding import Folding
from rtl.verilog.terms import Bits, Terms

State = Mapping[str, Term]
"""What each register holds, by its name."""


class Cycle:
    """A circuit between two clock edges."""

    def __init__(self, circuit: Circuit, folding: Folding) -> None:
        self._circuit, self._folding = circuit, folding

    def output(self, port: str) -> Bits:
        """What an output port shows."""
        bits = self._circuit.outputs[port]
        return Bits(self._folding.of(bits.term), bits.width)

    def after(self) -> State:
        """What each register holds after the clock edge."""
        return {name: self._folding.of(bits.term) for name, bits in self._circuit.after.items()}


class Machine:
    """A circuit that is driven.

    Attributes:
        start: registers that hold anything. undefined: variables for what the circuit leaves undefined, of all cycles.
    """

    def __init__(self, terms: Terms, circuit: Circuit) -> None:
        self._terms, self._circuit, self._fresh = terms, circuit, 0
        self.undefined: set[Term] = set()
        self.start: State = {name: bits.term for name, bits in circuit.states.items()}

    def cycle(self, state: State, inputs: Mapping[str, Bits]) -> Cycle:
        """One cycle; an input that is not given holds anything, other than in all other cycles."""
        by = {bits.term: state[name] for name, bits in self._circuit.states.items()}
        for port, bits in self._circuit.inputs.items():
            by[bits.term] = (inputs[port] if port in inputs else self.anything(bits.width)).term
        for bits in self._circuit.anything:
            by[bits.term] = self.anything(bits.width).term
            self.undefined.add(by[bits.term])
        return Cycle(self._circuit, Folding(self._terms.manager, by))

    def anything(self, width: int) -> Bits:
        """A variable that nothing else depends on."""
        self._fresh += 1
        return self._terms.free(f"any {self._fresh}", width)
