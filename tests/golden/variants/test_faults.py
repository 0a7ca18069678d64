"""Faults that the stimulus finds: models of every operation with one fault each, all of them seen within a default run."""

from typing import Any

import pytest

import golden
from golden.arithmetic.formats import FP32
from golden.arithmetic.steps import align, exact_sum, flushed
from golden.arrays import BitArray
from golden.operations import Operation
from golden.operations.flushed_fma import FlushedFMA
from golden.stimulus import Operands, OperandShape, complete_rows, generate
from golden.units.unit_file import operation_from_table
from golden.variants.faults import fault_variants
from golden.variants.faulty_steps import correct, rounding_of, with_adder, with_align, with_exact_sum, with_rounding
from golden.variants.processor_faults import ONE, multiply_add
from rtl.designs.sample_units import mutated_units
from tests.volume import one_in

DEFAULT_VECTORS, DEFAULT_SEED = 20000, 0
"""Of `mmau cosim`."""

TRUNCATED: dict[str, Any] = {"operation": "T-FDPA", "c": "fp32", "F": 25, "rho": "RZ-FP32", "e_zero": -133}

HEADROOM: dict[str, Any] = {"L": 2, "F": 26, "h": 2, "rho": "RNE-FP16", "e_zero": -14}
UNITS: dict[str, dict[str, Any]] = {
    "FMA fp32": {"operation": "FMA", "a": "fp32", "b": "fp32", "c": "fp32"},
    "FMA fp32 RU": {"operation": "FMA", "a": "fp32", "b": "fp32", "c": "fp32", "rho": "RU-FP32"},
    "FMA fp32 RO": {"operation": "FMA", "a": "fp32", "b": "fp32", "c": "fp32", "rho": "RO-FP32"},
    "FMA fp16": {"operation": "FMA", "a": "fp16", "b": "fp16", "c": "fp16"},
    "E-FDPA": {"operation": "E-FDPA", "a": "fp16", "b": "fp16", "c": "fp32", "L": 4},
    "T-FDPA fp16": {**TRUNCATED, "a": "fp16", "b": "fp16", "L": 16},
    "T-FDPA fp16 to fp16": {
        **TRUNCATED, "a": "fp16", "b": "fp16", "c": "fp16", "L": 8, "rho": "RNE-FP16", "e_zero": -21,
    },
    "T-FDPA sticky": {
        **TRUNCATED, "a": "fp16", "b": "fp16", "L": 4, "F": 24, "rho": "RNE-FP32", "e_zero": -126, "sticky": True,
        "flush_results": True,
    },
    "T-FDPA one product": {**TRUNCATED, "a": "bf16", "b": "bf16", "L": 1, "F": 24, "rho": "RU-FP32", "e_zero": -132},
    "ST-FDPA": {**TRUNCATED, "operation": "ST-FDPA", "a": "e5m2", "b": "e4m3", "L": 32},
    "FTZ-AddMul of two products": {"operation": "FTZ-AddMul", "a": "fp16", "b": "fp16", "c": "fp32", "P": 2},
    "TR-FDPA": {"operation": "TR-FDPA", "a": "bf16", "b": "bf16", "c": "fp32", "L": 8, "F": 24, "F2": 31},
    "OC-FDPA fp16": {**HEADROOM, "operation": "OC-FDPA", "a": "fp16", "b": "fp16", "c": "fp16"},
    "OC-FDPA bf16": {
        **HEADROOM, "operation": "OC-FDPA", "a": "bf16", "b": "bf16", "c": "fp32", "rho": "RNE-FP32", "e_zero": -126,
        "flush_inputs": True, "flush_results": True,
    },
    "PS-FDPA fp16": {**HEADROOM, "operation": "PS-FDPA", "P": 2, "a": "fp16", "b": "fp16", "c": "fp16"},
    "PS-FDPA bf16": {
        **HEADROOM, "operation": "PS-FDPA", "P": 2, "L": 4, "a": "bf16", "b": "bf16", "c": "fp32", "rho": "RNE-FP32",
        "e_zero": -126,
    },
    "E-FDPA ieee fp16": {"operation": "E-FDPA", "a": "fp16", "b": "fp16", "c": "fp32", "L": 2, "zero": "ieee"},
    "E-FDPA ieee bf16": {"operation": "E-FDPA", "a": "bf16", "b": "bf16", "c": "fp32", "L": 2, "zero": "ieee"},
    "E-FDPA ieee fp8": {
        "operation": "E-FDPA", "a": "e4m3", "b": "e5m2", "c": "fp16", "L": 3, "rho": "RD-FP16", "zero": "ieee",
    },
}  # fmt: skip

SLOW_UNITS: dict[str, dict[str, Any]] = {
    "FTZ-AddMul": {"operation": "FTZ-AddMul", "a": "fp16", "b": "fp16", "c": "fp32", "P": 4},
    "GTR-FDPA": {"operation": "GTR-FDPA", "a": "e4m3fnuz", "b": "e5m2fnuz", "c": "fp32", "L": 16, "F": 24, "F2": 31},
    "FMA fp64": {"operation": "FMA", "a": "fp64", "b": "fp64", "c": "fp64"},
    "T-FDPA fp4": {**TRUNCATED, "a": "e2m1", "b": "e2m1", "L": 64},
    "GST-FDPA": {
        **TRUNCATED, "operation": "GST-FDPA", "a": "e2m1", "b": "e2m1", "L": 64, "F": 35, "G": 16, "K_block": 16,
        "scale": "ue4m3", "e_zero": -139,
    },
}  # fmt: skip

EVERY_UNIT = [
    *(pytest.param(operation_from_table(table), id=name) for name, table in UNITS.items()),
    *(pytest.param(operation_from_table(table), id=name, marks=pytest.mark.long) for name, table in SLOW_UNITS.items()),
]

PROCESSORS = {
    unit.name: unit.operation for unit in mutated_units() if unit.operation.name in ("FTZ-FMA", "FTZ-EO-FMA", "IDPA")
}
SOME_IN_SHORT = [
    *(
        pytest.param(*each.values, id=each.id, marks=pytest.mark.long if number % 2 else each.marks)
        for number, each in enumerate(EVERY_UNIT)
    ),
    *(
        pytest.param(operation, id=name, marks=pytest.mark.long if "FMA bf16" in name else ())
        for name, operation in PROCESSORS.items()
    ),
]
"""Every unit; of those of the short run every other one."""


def step(operation: Operation, operands: Operands, row: int) -> int:
    """The operation's d of one row."""
    a, b, c, *scales = operands
    return operation.step(
        a[row].tolist(), b[row].tolist(), int(c[row]), *(part[row].tolist() for part in scales if part is not None)
    )


def unseen(operation: Operation, rows: int) -> list[str]:
    """The faults that no row shows, each held against the native engine's results."""
    operands = generate(OperandShape.of_operation(operation), rows, DEFAULT_SEED).operands
    expected: BitArray = golden.Unit(name="unit", operation=operation).dot(*operands)
    live = {fault.words: fault.operation for fault in fault_variants(operation) if fault.operation is not None}
    for row, d in enumerate(expected.tolist()):
        live = {name: model for name, model in live.items() if step(model, operands, row) == d}
        if not live:
            break
    return list(live)


@pytest.mark.slow
@pytest.mark.parametrize("operation", SOME_IN_SHORT)
@pytest.mark.attack("faults of a model, in the default stimulus")
def test_default_run_sees_every_fault(operation: Operation) -> None:
    """From a sticky bit lost and a wrong tie to a carry lost at one bit, in every adder and rounding."""
    assert len(list(fault_variants(operation))) > 30
    assert unseen(operation, DEFAULT_VECTORS) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", one_in(2, ["FMA fp32", "FMA fp16", "E-FDPA", "T-FDPA fp16 to fp16", "T-FDPA sticky", "TR-FDPA"])
)
def test_level_1_sees_ties_carries_and_stickies_at_fault(name: str) -> None:
    """The first rows are enough for them, though not for every single bit of a sticky."""
    operation = operation_from_table(UNITS[name])
    missed = unseen(operation, complete_rows(OperandShape.of_operation(operation), 1))
    seen_at_once = (
        "sticky lost",
        "sticky of the",
        "sticky of c",
        "half lost",
        "carry",
        "RZ for",
        "RNA for",
        "RU for",
        "RD for",
    )
    assert [fault for fault in missed if fault.startswith(seen_at_once)] == []


@pytest.mark.parametrize("operation", EVERY_UNIT)
def test_steps_put_in_without_a_fault_change_nothing(operation: Operation) -> None:
    """Without a fault the model agrees with the unit, so that only a fault makes them differ."""
    models = [
        with_rounding(operation, correct(rounding_of(operation).mode)),
        with_adder(operation, lambda parts, top: sum(parts)),
    ]
    if operation.name in ("FMA", "E-FDPA", "FTZ-AddMul"):
        models.append(with_exact_sum(operation, exact_sum))
    if operation.name in ("T-FDPA", "ST-FDPA", "GST-FDPA"):
        models.append(with_align(operation, lambda number, count, *aligned: align(*aligned)))
    operands = generate(OperandShape.of_operation(operation), 300, seed=1).operands
    for row in range(300):
        assert {step(model, operands, row) for model in models} == {step(operation, operands, row)}


@pytest.mark.parametrize("operation", [each for each in PROCESSORS.values() if isinstance(each, FlushedFMA)], ids=str)
def test_multiply_add_without_a_fault_is_the_models(operation: FlushedFMA) -> None:
    assert FP32.value(ONE) == 1
    operands = generate(OperandShape.of_operation(operation), 600, 0).operands
    for a, b, c in zip(operands.a.tolist(), operands.b.tolist(), operands.c.tolist(), strict=True):
        x, y = operation.widened(operation.a, a[0]), operation.widened(operation.b, b[0])
        assert multiply_add(x, y, c, (flushed,) * 3) == operation.fma(x, y, c)
        assert multiply_add(ONE, x, c, (flushed,) * 3) == operation.add(x, c)
