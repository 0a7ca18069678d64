"""What became of a mutant that no vector killed: proved to compute the same, or inputs found for which it does not.

First its module alone is compared with what it was, whatever comes in; that proves most. Then the whole unit. A pipeline's
registers are taken away where its result is made of one transfer's operands alone, with the mutation too (`stages.py`), and
where the mutation changes nothing of when registers take what comes: each result is then what the stages compute one after
another. Everywhere else outputs and next states are compared from every state, which decides for equal or not at all.
"""

import sys
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from cosim.mutation.sample import Mutant
from cosim.mutation.schemata import SELECT
from cosim.mutation.stages import NoStage, Stages
from golden import Operation
from rtl.verilog.equivalence import (
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
from rtl.verilog.expressions import NoTerm
from rtl.verilog.syntax import Module

MODULE_SECONDS, UNIT_SECONDS = 10.0, 120.0
"""Longest search in the module alone and in the whole unit (seconds of this process)."""

DEPTH = 100_000
"""Python's stack while terms are made: a wire is worked out from those before it."""

CONTROLS = ("in_ready", "out_valid")

FLOWS = {"out_ready": 1, "rst": 0, "in_valid": 1}
"""Inputs of a pipeline in which every stage takes what comes."""


@dataclass(frozen=True)
class Settlement:
    """What became of a survivor.

    Attributes:
        verdict: `EQUAL`, `DIFFERENT`, `UNDECIDED`.
        how: in which way it was proved, or why it was not.
        inputs, outputs: where it differs: operands by port, and d without and with the mutation.
        seconds: it took.
    """

    verdict: str
    how: str
    inputs: Mapping[str, int] = field(default_factory=dict)
    outputs: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    seconds: float = 0.0


def settle(
    plain: Mapping[str, Module], modules: Mapping[str, Module], top: str, mutant: Mutant, operation: Operation
) -> Settlement:
    """Settle one survivor.

    Args:
        plain: modules of the file. modules: of the file with all mutants in it.
    """
    started = time.perf_counter()
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, DEPTH))
    try:
        verdict, how, found = _settled(plain[top], modules, top, mutant, operation)
    except NoTerm as error:
        verdict, how, found = UNDECIDED, str(error), None
    finally:
        sys.setrecursionlimit(limit)
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
    """The enables through which a result comes from the operands, where they are the same with a mutant as without and it is
    made of one transfer's operands alone; None where that is not known.

    Args:
        valid: the registers that tell valid from empty.
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
    """When two codes of d are as good as equal (numerics.md, section 3)."""
    d = operation.d
    if operation.nan_is_fixed() or d.infinity is None:
        return {}
    return {"d": either_nan(d.infinity, (d.codes >> 1) - 1)}
