"""Rows of operands through the reference engine."""

from collections.abc import Sequence

import numpy as np

import golden
from golden.catalogue import representatives
from tests.golden.inputs import Operands


def reference(model: golden.Unit | golden.Instruction, rows: Sequence[Operands]) -> list[int]:
    """The reference engine's codes of d, one a row."""
    operation = model.operation
    a, b = (model.a, model.b) if isinstance(model, golden.Instruction) else (operation.a, operation.b)
    kinds = (a, b, operation.c, operation.scale_format, operation.scale_format)
    x, y, z, scale_a, scale_b = (
        None if kind is None else np.array(column, f"uint{kind.storage_bits}")
        for kind, column in zip(kinds, zip(*rows, strict=True), strict=True)
    )
    return [int(code) for code in model.dot(x, y, z, scale_a, scale_b, engine="reference")]


def unit(operation: golden.Operation) -> golden.Unit:
    """The operation as a unit."""
    return golden.Unit(name="unit", operation=operation)


def distinct_instructions() -> list[golden.Instruction]:
    """One instruction, the first, for each distinct arithmetic of every architecture, of those with a unit of their own."""
    seen: dict[object, golden.Instruction] = {}
    for instruction in representatives():
        seen.setdefault((instruction.arch, instruction.operation, instruction.chain, instruction.k), instruction)
    return list(seen.values())


def family(instruction: golden.Instruction) -> tuple[object, ...]:
    """All that its arithmetic depends on but the formats of A and B and how many steps it takes."""
    parameters = {key: value for key, value in instruction.operation.parameters().items() if key not in ("a", "b")}
    order = getattr(instruction.chain, "order", None)
    return (type(instruction.chain), order, instruction.operation.name, instruction.operation.d, *sorted(parameters.items()))
