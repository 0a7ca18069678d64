"""The intended values of a pipeline's datapaths for one token: terms of its operands, step by step.

The combinational datapath itself is the specification, read from its Verilog with every module without registers opaque. For
each step its ports hold operands of the token, variables here, and each opaque module gives an output, a variable too, for
inputs that are terms of these.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from bitwuzla import Term

from mmau.prove.datapath.unit_questions import NotProvable
from mmau.prove.netlist.flat_netlist import FlatNetlist
from mmau.prove.netlist.syntax import Module
from mmau.prove.netlist.terms import Bits, Terms
from rtl.designs.ports import CONTROL_INPUTS


@dataclass(frozen=True)
class Reference:
    """A combinational netlist that defines the intended values: its wires, and the modules of its file."""

    netlist: FlatNetlist
    modules: Mapping[str, Module]


@dataclass(frozen=True)
class Element:
    """A datapath in a pipeline.

    Attributes:
        path: the path of its instance, with a dot; "" if it is the whole design.
        operands: the values of its input ports at the first step. c of a further step is the result of the step before.
        converters: the opaque modules that convert operands, by path, and the code that each takes.
        adder: first part of the names of the modules that add `addend` to the last result; "" if nothing is added.
        at_edge: the paths of opaque modules that it shares with others, by their names in the datapath.
    """

    path: str
    operands: Mapping[str, Bits]
    converters: Mapping[str, Bits] = field(default_factory=dict)
    adder: str = ""
    addend: Bits | None = None
    at_edge: Mapping[str, str] = field(default_factory=dict)

    def path_of(self, name: str) -> str:
        """The path in the pipeline of an opaque module of the datapath."""
        return self.at_edge.get(name, f"{self.path}{name}")


@dataclass(frozen=True)
class Call:
    """An opaque module of a datapath in one step: its inputs by port, and its output for each variable of the pipeline that
    represents one."""

    inputs: Mapping[str, Bits]
    outputs: Mapping[Term, Bits]


class Intended:
    """The values of a token.

    Args:
        pipeline, modules: its netlist, and the modules of its file. elements: its datapaths, in the order of their results
            in d. datapath: the combinational datapath. addition: what adds to its results, if anything does; its modules'
            names begin with `add`. steps: number of transfers for one result.

    Attributes:
        operands: for each step, from 1, a variable for each operand port of the pipeline.
        calls: the calls of opaque modules, by path and step. result: the value of d.
        variables: all variables here; they are the same in every cycle.

    Raises:
        NotProvable: an opaque module is missing in the pipeline, or is another module there.
    """

    def __init__(
        self,
        terms: Terms,
        pipeline: FlatNetlist,
        modules: Mapping[str, Module],
        elements: Sequence[Element],
        datapath: Reference,
        steps: int,
        addition: Reference | None = None,
    ) -> None:
        self._terms, self._pipeline, self._modules = terms, pipeline, modules
        self._datapath, self._addition = datapath, addition
        ports = {name: bits for name, bits in pipeline.inputs.items() if name not in ("clk", *CONTROL_INPUTS)}
        self.operands = {
            step: {name: terms.free(f"{name} of step {step}", bits.width) for name, bits in ports.items()}
            for step in range(1, steps + 1)
        }
        self.variables = {bits.term for of_step in self.operands.values() for bits in of_step.values()}
        self.calls: dict[tuple[str, int], Call] = {}
        self._made: dict[tuple[str, int], Term] = {}
        self._outputs = {name: _outputs(pipeline, name) for name in pipeline.opaque}
        self.result = terms.joined([self._result(element, steps) for element in reversed(elements)])

    def _result(self, element: Element, steps: int) -> Bits:
        """The result of an element's last step."""
        result: Bits | None = None
        for step in range(1, steps + 1):
            given = {self._pipeline.inputs[name].term: bits.term for name, bits in self.operands[step].items()}
            for path, code in element.converters.items():
                given |= self._converted(path, self._substituted(code, given), step)
            operands = {name: self._substituted(bits, given) for name, bits in element.operands.items()}
            if result is not None:
                operands["c"] = result
            result = self._value(self._datapath, operands, element.path_of, step)
        assert result is not None
        if element.addend is None:
            return result
        if self._addition is None:
            raise NotProvable(f"what adds to the result of {element.path or 'the datapath'} has no specification")
        operands = {"x": result, "y": self._substituted(element.addend, given)}
        return self._value(self._addition, operands, lambda name: f"{element.adder}{name.removeprefix('add')}", steps)

    def _converted(self, path: str, code: Bits, step: int) -> dict[Term, Term]:
        """Terms for the outputs of a converter."""
        if path not in self._pipeline.opaque:
            raise NotProvable(f"the pipeline has no {path}")
        (port,) = self._pipeline.opaque[path].inputs
        outputs = {variable: self._output(wire, step, variable) for wire, variable in self._outputs[path].items()}
        self._call(path, step, Call({port: code}, {v: Bits(term, v.sort().bv_size()) for v, term in outputs.items()}))
        return outputs

    def _call(self, path: str, step: int, call: Call) -> None:
        """Note what an opaque module is given: once, or the same again."""
        if self.calls.setdefault((path, step), call) != call:
            raise NotProvable(f"{path} is to have two inputs at once in step {step}")

    def _value(self, of: Reference, operands: Mapping[str, Bits], path_of: Callable[[str], str], step: int) -> Bits:
        """d of a reference, and the calls of its opaque modules.

        Args:
            operands: the operands of its ports. path_of: the path in the pipeline for an opaque module of the reference.
        """
        given: dict[Term, Term] = {}
        for variable, source in of.netlist.source.items():
            if source.kind == "input":
                given[variable] = operands[source.name].term
            else:
                port = str(variable.symbol()).removeprefix(f"{source.name}.")
                given[variable] = self._output(f"{path_of(source.name)}.{port}", step, variable)
        for name, opaque in of.netlist.opaque.items():
            path = path_of(name)
            mine = self._pipeline.opaque.get(path)
            if mine is None:
                raise NotProvable(f"the pipeline has no {path}")
            if not alike(self._modules, mine.module, of.modules, opaque.module):
                raise NotProvable(f"{path} is another module in the pipeline")
            if set(mine.inputs) != set(opaque.inputs):
                raise NotProvable(f"{path} has other inputs in the pipeline")
            outputs = {
                variable: Bits(self._output(wire, step, variable), variable.sort().bv_size())
                for wire, variable in self._outputs[path].items()
            }
            inputs = {port: self._substituted(bits, given) for port, bits in opaque.inputs.items()}
            self._call(path, step, Call(inputs, outputs))
        return self._substituted(of.netlist.outputs["d"], given)

    def _output(self, wire: str, step: int, like: Term) -> Term:
        """The variable of an opaque module's output in a step, as wide as another variable."""
        if (wire, step) not in self._made:
            self._made[wire, step] = self._terms.free(f"{wire} of step {step}", like.sort().bv_size()).term
            self.variables.add(self._made[wire, step])
        return self._made[wire, step]

    def _substituted(self, bits: Bits, by: Mapping[Term, Term]) -> Bits:
        return Bits(self._terms.manager.substitute_term(bits.term, dict(by)), bits.width)


def _outputs(pipeline: FlatNetlist, path: str) -> dict[str, Term]:
    """The variables of an opaque module's outputs, by path and port."""
    return {
        str(variable.symbol()): variable
        for variable, source in pipeline.source.items()
        if source.kind == "opaque" and source.name == path
    }


def alike(modules: Mapping[str, Module], name: str, others: Mapping[str, Module], other: str) -> bool:
    """Whether two modules have the same text but for names of modules and lines, and so have the modules inside them."""
    mine, its = modules[name], others[other]

    def assigned(module: Module) -> list[tuple[object, object]]:
        return [(each.target, each.expression) for each in module.assignments]

    same = (
        mine.ports == its.ports
        and mine.directions == its.directions
        and mine.ranges == its.ranges
        and mine.signed == its.signed
        and assigned(mine) == assigned(its)
        and not mine.registers and not its.registers
        and len(mine.instances) == len(its.instances)
    )  # fmt: skip
    return same and all(
        one.name == another.name
        and [(each.port, each.operand) for each in one.connections] == [(e.port, e.operand) for e in another.connections]
        and alike(modules, one.module, others, another.module)
        for one, another in zip(mine.instances, its.instances, strict=True)
    )
