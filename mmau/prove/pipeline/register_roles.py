"""The roles of a pipeline's registers: some mark valid stages or count steps, all others hold values.

The *intended* value of a register, for a transfer of operands, is read from the netlist itself: the value that it takes if
nothing stalls. The proof is that it holds no other value while it is read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bitwuzla import Term

from mmau.prove.datapath.kernel import supports
from mmau.prove.datapath.unit_questions import NotProvable
from mmau.prove.evaluation import evaluate
from mmau.prove.netlist.flat_netlist import FlatNetlist, is_choice
from mmau.prove.netlist.terms import Bits
from rtl.designs.ports import CONTROL_INPUTS

IN_STEP, OUT_STEP = "in_step", "out_step"
"""The counters of a tile: the step that enters next, and the step whose result leaves the datapaths next."""


@dataclass(frozen=True)
class Shape:
    """The intended structure of a pipeline.

    Attributes:
        stages: registers between operands and result. steps: transfers of operands for one result.
    """

    stages: int
    steps: int = 1


class Registers:
    """The registers of a netlist by role.

    Attributes:
        control: registers that no operand reaches, by name. data: all others.
        valid: the control registers that mark valid stages, stage by stage: one for each datapath.

    Raises:
        NotProvable: a handshake that depends on operands, or registers of unknown purpose.
    """

    def __init__(self, netlist: FlatNetlist, shape: Shape) -> None:
        self.netlist, self.shape = netlist, shape
        self._control_terms = {netlist.inputs[name].term for name in ("clk", *CONTROL_INPUTS)}
        self._flows: dict[int, dict[Term, int]] = {}
        self._held: dict[tuple[Term, int], bool] = {}
        self.data = self._holding_values()
        self.control = {name: bits for name, bits in netlist.registers.items() if name not in self.data}
        self._control_terms |= {bits.term for bits in self.control.values()}
        for name in ("in_ready", "out_valid"):
            self._check_control(name, netlist.outputs[name].term)
        for name in self.control:
            self._check_control(name, netlist.after[name].term)
        self.valid = self._stages()

    def is_control(self, term: Term) -> bool:
        """Whether a term depends on the handshake alone."""
        return supports([term]) <= self._control_terms

    def is_chosen(self, condition: Term, step: int) -> bool:
        """Whether a condition holds if nothing stalls and the transfer is that step (from 1)."""
        key = (condition, step)
        if key not in self._held:
            self._held[key] = bool(evaluate([condition], self._flow(step))[condition])
        return self._held[key]

    def leaf(self, term: Term, step: int) -> Term:
        """A term under the choices that the handshake makes if nothing stalls."""
        while is_choice(term) and self.is_control(term.children()[0]):
            condition, yes, no = term.children()
            term = yes if self.is_chosen(condition, step) else no
        return term

    def takes(self, name: str, step: int) -> Term | None:
        """The next value of a register if it takes one with that step; None if it holds its value."""
        taken = self.leaf(self.netlist.after[name].term, step)
        return None if taken == self.netlist.registers[name].term else taken

    def _holding_values(self) -> set[str]:
        """The registers that an operand reaches, and those that are read together with them."""
        netlist, data = self.netlist, set[str]()
        reached = {name: netlist.reached(bits.term) for name, bits in netlist.after.items()}
        operands = {bits.term for name, bits in netlist.inputs.items() if name not in ("clk", *CONTROL_INPUTS)}
        variables = {name: bits.term for name, bits in netlist.registers.items()}
        while True:
            beyond = operands | {variables[name] for name in data}
            read = self._read_as_values([netlist.outputs["d"].term, *(netlist.after[name].term for name in data)], beyond)
            more = {
                name for name, term in variables.items() if name not in data and (reached[name] & beyond or term in read)
            }
            if not more:
                return data
            data |= more

    def _read_as_values(self, terms: Sequence[Term], beyond: set[Term]) -> set[Term]:
        """The variables in terms, through opaque modules, that do more than select one of two others."""
        found, waiting = set[Term](), list(terms)
        while waiting:
            term = waiting.pop()
            if term in found:
                continue
            found.add(term)
            if term.is_const() and self.netlist.source[term].kind == "opaque":
                waiting += [bits.term for bits in self.netlist.behind(term)]
            children = list(term.children())
            if is_choice(term) and not self.netlist.reached(children[0]) & beyond:
                children = children[1:]
            waiting += children
        return found

    def _check_control(self, name: str, term: Term) -> None:
        if not self.is_control(term):
            raise NotProvable(f"{name} must depend on the handshake alone, and depends on other signals too")

    def _stages(self) -> list[list[str]]:
        """The valid bits: the first ones take a value that depends on `in_valid`, the others one that depends on the valid
        bits before them."""
        counters = (IN_STEP, OUT_STEP) if self.shape.steps > 1 else ()
        left = {name: self._taken_from(name) for name in self.control if name not in counters}
        before, stages = {self.netlist.inputs["in_valid"].term}, list[list[str]]()
        while found := sorted(name for name, sources in left.items() if sources & before):
            stages.append(found)
            before = {self.netlist.registers[name].term for name in found}
            left = {name: sources for name, sources in left.items() if name not in found}
        if len(stages) != self.shape.stages or left:
            raise NotProvable(
                f"{len(stages)} registers in a row are valid bits, of {self.shape.stages} stages; "
                f"registers of unknown purpose: {', '.join(left) or 'none'}"
            )
        return stages

    def _taken_from(self, name: str) -> set[Term]:
        """The dependencies of a register if nothing stalls; all its dependencies if it takes no value then."""
        taken = self.takes(name, 1)
        return supports([self.netlist.after[name].term if taken is None else taken])

    def _flow(self, step: int) -> dict[Term, int]:
        """The handshake when every stage is full and takes its input: the result in front belongs to the step before."""
        if step not in self._flows:
            inputs = {"clk": 0, "rst": 0, "in_valid": 1, "out_ready": 1}
            values = {self.netlist.inputs[name].term: value for name, value in inputs.items()}
            values |= {bits.term: 1 for bits in self.control.values()}
            counts = {IN_STEP: step - 1, OUT_STEP: (step - 2) % self.shape.steps}
            values |= {self.control[name].term: count for name, count in counts.items() if name in self.control}
            self._flows[step] = values
        return self._flows[step]


def counters(registers: Registers) -> Mapping[str, Bits]:
    """The counters of steps, if there are any.

    Raises:
        NotProvable: a tile of several steps without them.
    """
    wanted: Sequence[str] = (IN_STEP, OUT_STEP) if registers.shape.steps > 1 else ()
    missing = [name for name in wanted if name not in registers.control]
    if missing:
        raise NotProvable(f"there is no counter {missing[0]} of the steps")
    return {name: registers.control[name] for name in wanted}
