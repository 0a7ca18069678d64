"""Of which stage of a pipeline a result is: the enables through which all that it is made of has come from the operands.

Only where it has such a stage is it made of the operands of one transfer: every wire in it depends on registers of one stage,
and every register takes what comes under one enable and keeps it otherwise. A register that does not keep its value has no
stage, nor has a wire that reads past a register.
"""

from collections.abc import Collection, Mapping

from cosim.mutation.connections import names_of
from cosim.mutation.mutations import RESET
from cosim.mutation.wires import Wires
from rtl.verilog.syntax import Assignment, Binary, Choice, Constant, Copy, Expression, Module, Operand, Slice

Stage = tuple[str, ...]
"""The enables from the operands on: () before the first register."""

CONTROL_INPUTS = frozenset({RESET, "in_valid", "out_ready"})

IDEMPOTENT = ("&", "|")
"""Operators that, with a constant, change a value the first time alone: what a register keeps may go through them again."""


class NoStage(ValueError):
    """Something that is of no stage."""


class Stages:
    """The stages of a pipeline with one of its mutants.

    Args:
        modules: of the file with all mutants. top: its top module. mutant: the number of the active one, 0 for none.
        valid: the registers that tell valid from empty.
        sound: the pipeline without a mutation: a register that a mutation leaves with a constant is of the stage that it has
            there.
    """

    def __init__(
        self, modules: Mapping[str, Module], top: str, mutant: int, valid: Collection[str], sound: "Stages | None" = None
    ) -> None:
        self._wires = Wires(modules, top, mutant)
        self._valid, self._control, self._sound = frozenset(valid), CONTROL_INPUTS | set(valid), sound
        self._has_inner_registers = any(module.registers for name, module in modules.items() if name != top)
        self._found: dict[str, Stage | None] = {}
        self._under_way: set[str] = set()
        self._whole: dict[str, Assignment] = {
            assignment.target.name: assignment
            for assignment in self._wires.module.assignments
            if isinstance(assignment.target, Slice) and assignment.target.whole
        }

    def of_wire(self, wire: str) -> Stage | None:
        """The stage of a wire; None where it is constant.

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
        """Raise NoStage where one of these wires, or a valid register, depends on anything but control signals."""
        registers = self._wires.registers
        for wire in (*controls, *(name for valid in self._valid for name in self._wires.read(registers[valid]))):
            if others := self._wires.sources(wire) - self._control:
                raise NoStage(f"{wire} depends on {min(others)}")

    def of_register(self, name: str) -> Stage | None:
        """The stage of a register, as `of_wire`."""
        if name in self._under_way:
            raise NoStage(f"{name} depends on itself")
        if name not in self._found:
            self._under_way.add(name)
            self._found[name] = self._of_what_it_takes(name)
            self._under_way.discard(name)
        return self._found[name]

    def _of_source(self, name: str) -> Stage | None:
        if name in self._control:
            raise NoStage(f"what is computed depends on {name}")
        return self.of_register(name) if name in self._wires.registers else ()

    def _of_what_it_takes(self, name: str) -> Stage | None:
        enable, taken = self._held(name)
        stages = {stage for each in names_of(taken) if (stage := self.of_wire(each)) is not None}
        if len(stages) > 1:
            raise NoStage(f"{name} takes what is of {len(stages)} stages")
        if not stages:
            return self._with_constant(name, enable)
        stage = stages.pop()
        if enable in stage:
            raise NoStage(f"{name} takes what {enable} has let through before")
        return (*stage, enable)

    def _with_constant(self, name: str, enable: str) -> Stage:
        """A constant is what any transfer gives; but before the enable the register holds something else."""
        stage = self._sound.of_register(name) if self._sound else None
        if not stage or stage[-1] != enable:
            raise NoStage(f"{name} takes a constant")
        return stage

    def _held(self, name: str) -> tuple[str, Operand]:
        """The enable of a register, and what it takes."""
        width = self._wires.module.width(name)
        expression = self._behind(self._wires.registers[name], width)
        if isinstance(expression, Binary) and expression.operator in IDEMPOTENT:
            value, constant = expression.left, expression.right
            if isinstance(value, Slice) and isinstance(constant, Constant):
                expression = self._behind(Copy(value), width)
        if isinstance(expression, Choice):
            enable, kept = expression.condition, expression.no
            is_kept = isinstance(kept, Slice) and kept.whole and kept.name == name
            if is_kept and isinstance(enable, Slice) and enable.whole and enable.width == 1:
                return enable.name, expression.yes
        raise NoStage(f"{name} does not keep its value")

    def _behind(self, expression: Expression, width: int) -> Expression | None:
        """What an expression copies, through wires of a width and the choices of a mutant; None where part of a wire is
        copied, or one that nothing drives as a whole."""
        while True:
            chosen = self._wires.chosen(expression)
            copied = expression.operand if isinstance(expression, Copy) else chosen
            if copied is None or isinstance(copied, Constant):
                return expression
            if not isinstance(copied, Slice) or not copied.whole or copied.width != width or copied.name not in self._whole:
                return None
            expression = self._whole[copied.name].expression
