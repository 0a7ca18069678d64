"""A netlist cut at chosen wires, which become variables with known drivers."""

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType

from bitwuzla import Kind, Term

from mmau.prove.netlist.circuit import Circuit, Setting
from mmau.prove.netlist.expressions import NoTerm
from mmau.prove.netlist.syntax import Module
from mmau.prove.netlist.terms import Bits, Terms

WIRING = {Kind.BV_CONCAT, Kind.BV_EXTRACT, Kind.BV_ZERO_EXTEND, Kind.BV_SIGN_EXTEND}

IsCut = Callable[[str], bool]
"""Whether the wire with that path and name is cut."""


class CutNetlist:
    """A combinational top module whose cut wires are variables.

    Args:
        terms: makes terms. modules: the modules of the file. top: the top module.
        cut_instances: the instances of the top module whose outputs are cut.
        cut_wire: which further wires are cut, by path and name.
        fixed: input ports with a constant value.
        before: what the path of each wire begins with that is asked for; it is left out of all names here.

    Attributes:
        inputs: variables of the input ports. outputs: the drivers of the output ports.
        definitions: the driver of each cut wire, by its variable. Together with `outputs` these are the whole netlist: terms
            of inputs and cut wires alone.

    Raises:
        NoTerm: a statement that has no term, a register among them.
    """

    def __init__(
        self,
        terms: Terms,
        modules: Mapping[str, Module],
        top: str,
        cut_instances: Collection[str],
        cut_wire: IsCut,
        fixed: Mapping[str, int] = MappingProxyType({}),
        before: str = "",
    ) -> None:
        self.terms, self.inputs = terms, dict[str, Bits]()
        self.definitions: dict[Term, Bits] = {}
        self._cuts: dict[str, Bits] = {}
        self._sums: dict[str, Bits] = {}
        #: The two rows of each sum that `join` made a variable of.
        self.rows: dict[Term, tuple[Bits, Bits]] = {}
        self._instances, self._is_cut, self._before = set(cut_instances), cut_wire, before
        module = modules[top]
        if module.registers:
            raise NoTerm(f"{top} has registers, where a combinational circuit must be")
        for name, direction in module.directions.items():
            if direction == "input":
                width = module.width(name)
                self.inputs[name] = terms.number(fixed[name], width) if name in fixed else terms.free(name, width)
        setting = Setting(terms, modules, seen=self._seen, driven=self._driven)
        self._circuit = Circuit.of_top(setting, module, self.inputs)
        self.outputs = self._circuit.outputs()

    def cut(self, name: str) -> Bits:
        """The variable of an instance's output, `instance.port`.

        Raises:
            NoTerm: it is no cut wire.
        """
        if name in self._sums:
            return self._sums[name]
        if name not in self._cuts:
            raise NoTerm(f"{name} is no wire that is cut")
        return self._cuts[name]

    def join(self, name: str, carry: str) -> Bits:
        """A variable for the sum of two rows, modulo 2**(bits of the first): what `cut` gives for the first one's name.

        Args:
            name, carry: names of the outputs that hold the rows.

        Raises:
            NoTerm: one of them is no cut wire.
        """
        first, second = self.cut(name), self.cut(carry)
        variable = self.terms.free(f"{name} + {carry}", first.width)
        driver = self.terms.apply(Kind.BV_ADD, [first, self.terms.extended(second, first.width)], first.width)
        self._sums[name] = variable
        self.definitions[variable.term] = driver
        self.rows[variable.term] = (first, second)
        return variable

    def has(self, name: str) -> bool:
        """Whether there is a cut wire of that name."""
        return name in self._cuts

    def wire(self, instance: str, name: str) -> Bits:
        """A wire of an instance, in terms of cut wires.

        Raises:
            NoTerm: there is none of that name, or it is not driven.
        """
        circuit = self._circuit.inside(f"{self._before}{instance}")
        try:
            return circuit.wire(name)
        except KeyError as error:
            raise NoTerm(f"{instance} has no wire {name}") from error

    def wire_or_none(self, instance: str, name: str) -> Bits | None:
        """The bits of an output of an instance; None if there is no such wire."""
        try:
            return self.wire(instance, name)
        except NoTerm:
            return None

    def name_of(self, variable: Term) -> str:
        """The netlist's name of a variable's wire."""
        return str(variable.symbol())

    def _seen(self, module: str, name: str, bits: Bits) -> Bits:
        return self._variable(name, bits) if name.split(".")[0] in self._instances and name.count(".") == 1 else bits

    def _driven(self, name: str, bits: Bits) -> Bits:
        cut = self._is_cut(name.removeprefix(self._before).split("[")[0])
        return self._variable(name, bits) if cut and not is_wiring(bits.term) else bits

    def _variable(self, name: str, bits: Bits) -> Bits:
        name = name.removeprefix(self._before)
        if name not in self._cuts:
            variable = self.terms.free(name, bits.width)
            self._cuts[name] = variable
            self.definitions[variable.term] = bits
        return self._cuts[name]


def is_wiring(term: Term) -> bool:
    """Whether a term only concatenates bits of variables and constants, without logic."""
    if term.is_value() or term.is_const():
        return True
    return term.kind() in WIRING and all(is_wiring(child) for child in term.children())
