"""The stage of a value in a pipeline: the enables of the registers on every path from the operands to it.

A value with a stage depends on the operands of one transfer only: every wire before it depends on registers of one stage,
and every register takes its input under one enable and keeps its value otherwise. A register that does not keep its value
has no stage, nor has a wire that reads past a register.
"""

from collections.abc import Collection, Mapping

from mmau.formal.netlist.syntax import Assignment, Binary, Choice, Constant, Copy, Expression, Module, Operand, Slice
from mmau.mutation.connections import names_of
from mmau.mutation.wires import Wires
from rtl.designs.ports import CONTROL_INPUTS

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
