"""Comparison of a solver's counter-examples with the golden model."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from golden import Unit
from golden.arrays import BitArray, bits_dtype
from golden.comparison import differing
from mmau.formal.netlist.equivalence import DIFFERENT, UNDECIDED
from mmau.mutation.surviving_mutants import Settlement
from rtl.designs.ports import step_operands


def confirmed(unit: Unit, settlement: Settlement) -> Settlement:
    """The settlement; undecided if the golden model contradicts the solver's result for the sound unit."""
    if settlement.verdict != DIFFERENT:
        return settlement
    right, wrong = settlement.outputs["d"]
    expected = expected_result(unit, settlement.inputs)
    if differing(expected, right, unit.operation) or not differing(expected, wrong, unit.operation):
        reason = f"the solver says d is {right:#x} and with the mutation {wrong:#x}, the model {expected:#x}"
        return replace(settlement, verdict=UNDECIDED, how=reason)
    return settlement


def expected_result(unit: Unit, ports: Mapping[str, int]) -> int:
    """The model's d for the codes at the operand ports."""
    operands = operands_of_ports(unit, ports)
    return int(
        unit.dot(operands["a"], operands["b"], operands["c"][:, 0], operands.get("scale_a"), operands.get("scale_b"))[0]
    )


def operands_of_ports(unit: Unit, ports: Mapping[str, int]) -> dict[str, BitArray]:
    """The codes in each operand port, [1, elements]."""
    found = {}
    for name, elements in step_operands(unit.operation).items():
        if name != "d":
            width, count = elements.format.width, elements.count
            codes = [ports[name] >> k * width & ((1 << width) - 1) for k in range(count)]
            found[name] = np.array([codes], bits_dtype(elements.format))
    return found
