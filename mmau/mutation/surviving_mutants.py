"""The fate of a mutant that no vector killed: proved equal, or inputs found for which it differs.

First its module alone is compared with the original for all inputs, which proves most mutants; then the whole unit. The
registers of a pipeline become wires if its result depends on one transfer's operands alone, with the mutation too
(pipeline_stage.py), and if the mutation does not change the cycles in which registers take their inputs: each result is then
the composition of the stages. Otherwise outputs and next states are compared from every state, which can only prove
equality.
"""

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from golden import Operation
from mmau.formal.netlist.equivalence import (
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
from mmau.formal.netlist.expressions import NoTerm
from mmau.formal.netlist.syntax import Module
from mmau.mutation.pipeline_stage import NoStage, Stages
from mmau.mutation.sample import Mutant
from mmau.mutation.schemata import SELECT

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
