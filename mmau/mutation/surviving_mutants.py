"""The fate of a mutant that no vector killed: proved equal, or inputs found for which it differs.

First its module alone is compared with the original for all inputs, which proves most mutants; then the whole unit. The
registers of a pipeline become wires if its result depends on one transfer's operands alone, with the mutation too
(pipeline_stage.py), and if the mutation does not change the cycles in which registers take their inputs: each result is then
the composition of the stages. Otherwise outputs and next states are compared from every state, which can only prove
equality.
"""

import time
from collections.abc import Collection, Iterator, Mapping, Set
from dataclasses import dataclass, field
from functools import cached_property

from golden import Operation
from mmau.mutation.sample import Mutant, names_of
from mmau.mutation.schemata import SELECT, number_of_active
from mmau.prove.netlist.equivalence import (
    DIFFERENT,
    EQUAL,
    UNDECIDED,
    Comparison,
    Same,
    Side,
    compare,
    either_nan,
    reset_registers,
)  # fmt: skip
from mmau.prove.netlist.expressions import NoTerm
from mmau.prove.netlist.syntax import (
    Assignment,
    Binary,
    Choice,
    Constant,
    Copy,
    Expression,
    Instance,
    Module,
    Operand,
    Slice,
)
from rtl.designs.ports import CONTROL_INPUTS

NOT_READ = frozenset({"clk", SELECT})
"""Inputs that are not data: the clock, and the selection, which is constant with one mutant active."""


class Wires:
    """The wires of a module.

    Args:
        modules: the modules of the file. name: the name of the module. mutant: the number of the active one, 0 for none.
    """

    def __init__(self, modules: Mapping[str, Module], name: str, mutant: int) -> None:
        self.module, self._modules, self._mutant = modules[name], modules, mutant
        self.registers = {register.target.text.strip(): register.expression for register in self.module.registers}
        self._parts: dict[str, Wires] = {}

    def sources(self, wire: str) -> Set[str]:
        """The inputs and registers on which a wire depends within a clock cycle."""
        reached, found, waiting = set[str](), set[str](), [wire]
        while waiting:
            name = waiting.pop()
            if name in reached or name in NOT_READ:
                continue
            reached.add(name)
            if name in self.registers or self.module.directions.get(name) == "input":
                found.add(name)
            else:
                waiting += self._drivers.get(name, ())
        return found

    def read(self, expression: Expression) -> Iterator[str]:
        """The wires that an expression depends on."""
        chosen = self.chosen(expression)
        for operand in (chosen,) if chosen else expression.operands:
            yield from names_of(operand)

    def chosen(self, expression: Expression) -> Operand | None:
        """The operand that the selection of a mutant chooses; None for every other expression."""
        if not isinstance(expression, Choice) or not isinstance(expression.condition, Slice):
            return None
        number = number_of_active(expression.condition.name)
        if number is None:
            return None
        return expression.yes if number == self._mutant else expression.no

    @cached_property
    def _drivers(self) -> dict[str, set[str]]:
        """The wires on which each wire directly depends."""
        found: dict[str, set[str]] = {}
        for assignment in self.module.assignments:
            for name in names_of(assignment.target):
                found.setdefault(name, set()).update(self.read(assignment.expression))
        for instance in self.module.instances:
            self._connect(instance, found)
        return found

    def _connect(self, instance: Instance, drivers: dict[str, set[str]]) -> None:
        """Record the dependencies of an instance's outputs on its inputs."""
        if instance.module not in self._parts:
            self._parts[instance.module] = Wires(self._modules, instance.module, self._mutant)
        part = self._parts[instance.module]
        given = {each.port: names_of(each.operand) for each in instance.connections if each.operand is not None}
        for port, names in given.items():
            if part.module.directions[port] != "input":
                made_of = {name for source in part.sources(port) for name in given.get(source, ())}
                for name in names:
                    drivers.setdefault(name, set()).update(made_of)


Stage = tuple[str, ...]
"""A stage: the enables of the registers from the operands on; () before the first register."""


IDEMPOTENT = ("&", "|")
"""Operators that, with a constant, are idempotent: the value that a register keeps may pass through them again."""


class NoStage(ValueError):
    """A value without a stage."""


class Stages:
    """The stages of a pipeline with one of its mutants.

    Args:
        modules: the modules of the file with all mutants. top: its top module.
        mutant: the number of the active one, 0 for none.
        valid: the valid bits of the stages.
    """

    def __init__(self, modules: Mapping[str, Module], top: str, mutant: int, valid: Collection[str]) -> None:
        self._wires = Wires(modules, top, mutant)
        self._valid, self._control = frozenset(valid), {*CONTROL_INPUTS, *valid}
        self._has_inner_registers = any(module.registers for name, module in modules.items() if name != top)
        self._found: dict[str, Stage | None] = {}
        self._under_way: set[str] = set()
        self._whole: dict[str, Assignment] = {
            assignment.target.name: assignment
            for assignment in self._wires.module.assignments
            if isinstance(assignment.target, Slice) and assignment.target.whole
        }

    def of_wire(self, wire: str) -> Stage | None:
        """The stage of a wire; None if it is constant.

        Raises:
            NoStage: it depends on wires of more than one, on control signals, or on a register that has none.
        """
        if self._has_inner_registers:
            raise NoStage("a module inside has registers")
        found = {self._of_source(name) for name in self._wires.sources(wire)} - {None}
        if len(found) > 1:
            raise NoStage(f"{wire} is made of {len(found)} stages")
        return next(iter(found), None)

    def check_controls(self, controls: Collection[str]) -> None:
        """Raise NoStage if one of these wires, or a valid bit, depends on anything but control signals."""
        registers = self._wires.registers
        for wire in (*controls, *(name for valid in self._valid for name in self._wires.read(registers[valid]))):
            if others := self._wires.sources(wire) - self._control:
                raise NoStage(f"{wire} depends on {min(others)}")

    def of_register(self, name: str) -> Stage | None:
        """The stage of a register; None and errors as for `of_wire`."""
        if name in self._under_way:
            raise NoStage(f"{name} depends on itself")
        if name not in self._found:
            self._under_way.add(name)
            try:
                self._found[name] = self._of_what_it_takes(name)
            finally:
                self._under_way.discard(name)
        return self._found[name]

    def _of_source(self, name: str) -> Stage | None:
        if name in self._control:
            raise NoStage(f"the datapath depends on the control signal {name}")
        return self.of_register(name) if name in self._wires.registers else ()

    def _of_what_it_takes(self, name: str) -> Stage | None:
        expression = self._behind(name)
        if isinstance(expression, Copy):  # of a constant
            return None
        enable, taken = self._held(name, expression)
        stages = {stage for each in names_of(taken) if (stage := self.of_wire(each)) is not None}
        if len(stages) > 1:
            raise NoStage(f"{name} takes values of {len(stages)} stages")
        if not stages:
            return self._of_constant(name, enable)
        stage = stages.pop()
        if enable in stage:
            raise NoStage(f"{name} takes a value that already passed a register with the enable {enable}")
        return (*stage, enable)

    def _of_constant(self, name: str, enable: str) -> Stage:
        """The stage of a register with a constant: that of the other registers with its enable. Before the enable its value
        differs."""
        for other in self._wires.registers:
            if other in self._valid | self._under_way:
                continue
            try:
                stage = self.of_register(other)
            except NoStage:
                continue
            if stage and stage[-1] == enable:
                return stage
        raise NoStage(f"{name} takes a constant under {enable}, and no other register has that enable")

    def _held(self, name: str, expression: Expression | None) -> tuple[str, Operand]:
        """The enable of a register, and its input."""
        if isinstance(expression, Binary) and expression.operator in IDEMPOTENT:
            value, constant = expression.left, expression.right
            if isinstance(value, Slice) and isinstance(constant, Constant):
                expression = self._behind(name, Copy(value))
        if isinstance(expression, Choice):
            enable, kept = expression.condition, expression.no
            is_kept = isinstance(kept, Slice) and kept.whole and kept.name == name
            if is_kept and isinstance(enable, Slice) and enable.whole and enable.width == 1:
                return enable.name, expression.yes
        raise NoStage(f"{name} does not keep its value")

    def _behind(self, name: str, expression: Expression | None = None) -> Expression | None:
        """The source that a register copies, or an expression in its place, through wires of its width and the
        choices of a mutant; None where part of a wire is copied, or one that nothing drives as a whole."""
        width, expression = self._wires.module.width(name), expression or self._wires.registers[name]
        while True:
            chosen = self._wires.chosen(expression)
            expression = expression if chosen is None else Copy(chosen)
            if not isinstance(expression, Copy) or isinstance(expression.operand, Constant):
                return expression
            copied = expression.operand
            if not isinstance(copied, Slice) or not copied.whole or copied.width != width or copied.name not in self._whole:
                return None
            expression = self._whole[copied.name].expression


MODULE_SECONDS, UNIT_SECONDS = 10.0, 120.0
"""Longest search in the module alone and in the whole unit (seconds of this process)."""

CONTROLS = ("in_ready", "out_valid")

FLOWS = {"out_ready": 1, "rst": 0, "in_valid": 1}
"""Inputs of a pipeline with which every stage takes its input."""


@dataclass(frozen=True)
class Settlement:
    """The verdict on a survivor.

    Attributes:
        verdict: `EQUAL`, `DIFFERENT`, `UNDECIDED`.
        how: the method of the proof, or why there is none.
        inputs, outputs: if it differs: operands by port, and d without and with the mutation.
        seconds: its duration.
    """

    verdict: str
    how: str
    inputs: Mapping[str, int] = field(default_factory=dict)
    outputs: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    seconds: float = 0.0


def settle(
    plain: Mapping[str, Module], modules: Mapping[str, Module], top: str, mutant: Mutant, operation: Operation
) -> Settlement:
    """Decide whether a surviving mutant computes the same as the unit.

    Args:
        plain: modules of the file. modules: the modules of the file with all mutants in it.
    """
    started = time.perf_counter()
    try:
        verdict, how, found = _settled(plain[top], modules, top, mutant, operation)
    except NoTerm as error:
        verdict, how, found = UNDECIDED, str(error), None
    inputs, outputs = (found.inputs, found.outputs) if found is not None and verdict == DIFFERENT else ({}, {})
    return Settlement(verdict, how, inputs, outputs, round(time.perf_counter() - started, 2))


def _settled(
    unit: Module, modules: Mapping[str, Module], top: str, mutant: Mutant, operation: Operation
) -> tuple[str, str, Comparison | None]:
    def both(name: str) -> tuple[Side, Side]:
        return Side(modules, name, {SELECT: 0}), Side(modules, name, {SELECT: mutant.number})

    if mutant.module != top and compare(*both(mutant.module), MODULE_SECONDS).verdict == EQUAL:
        return EQUAL, "its module alone", None
    same = same_results(operation)
    if not unit.registers:
        found = compare(*both(top), UNIT_SECONDS, same=same, within=mutant.module)
        return found.verdict, "the whole unit", found
    held = reset_registers(unit)
    enables = enables_of_one_transfer(modules, top, mutant.number, held)
    wires = None if enables is None else (*CONTROLS, *enables)
    if wires is None or compare(*both(top), MODULE_SECONDS, outputs=wires, states=tuple(held)).verdict != EQUAL:
        found = compare(*both(top), UNIT_SECONDS, same=same)
        return (EQUAL if found.verdict == EQUAL else UNDECIDED), "the whole unit, from every state", None
    first, second = (Side(side.modules, side.top, {**side.settings, **FLOWS}) for side in both(top))
    found = compare(
        first, second, UNIT_SECONDS, transparent=True, held=held, outputs=("d",), same=same, within=mutant.module
    )
    return found.verdict, "the unit without its registers", found


def enables_of_one_transfer(
    modules: Mapping[str, Module], top: str, mutant: int, valid: Collection[str]
) -> tuple[str, ...] | None:
    """The enables of the registers between operands and result, if they are the same with and without the mutant and the
    result depends on one transfer's operands alone; else None.

    Args:
        valid: the valid bits of the stages.
    """
    sound = Stages(modules, top, 0, valid)
    try:
        enables = sound.of_wire("d")
        with_mutant = Stages(modules, top, mutant, valid).of_wire("d")
        if enables is None or enables != with_mutant:
            return None
        sound.check_controls((*CONTROLS, *enables))
    except NoStage:
        return None
    return enables


def same_results(operation: Operation) -> dict[str, Same]:
    """The condition that two codes of d count as equal (numerics.md, section 3)."""
    d = operation.d
    if operation.nan_is_fixed() or d.infinity is None:
        return {}
    return {"d": either_nan(d.infinity, (d.codes >> 1) - 1)}
