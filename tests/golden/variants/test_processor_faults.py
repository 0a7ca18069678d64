"""Models of FTZ-FMA, FTZ-EO-FMA and IDPA with one fault each: the default vectors show every one."""

from collections.abc import Iterator

import pytest

from golden import Operation, Unit
from golden.arithmetic.formats import FP32
from golden.arithmetic.steps import flushed
from golden.operations.flushed_fma import FlushedFMA
from golden.stimulus import OperandShape, generate
from golden.variants.faults import fault_variants
from golden.variants.processor_faults import ONE, multiply_add
from rtl.designs.sample_units import mutated_units

OPERATIONS = {
    unit.name: unit.operation for unit in mutated_units() if unit.operation.name in ("FTZ-FMA", "FTZ-EO-FMA", "IDPA")
}

LONG = ("FTZ-FMA bf16", "FTZ-EO-FMA bf16")


def rows(operation: Operation, count: int) -> Iterator[tuple[list[int], list[int], int, int]]:
    """a, b, c and the right d."""
    a, b, c, *_ = operands = generate(OperandShape.of_operation(operation), count, 0).operands
    expected = Unit(name="unit", operation=operation).dot(*operands)
    return zip(a.tolist(), b.tolist(), c.tolist(), expected.tolist(), strict=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] if name in LONG else []) for name in OPERATIONS]
)
@pytest.mark.attack("faults of a model, in the default stimulus")
def test_default_vectors_show_every_fault(name: str) -> None:
    operation = OPERATIONS[name]
    live = {fault.words: fault.operation for fault in fault_variants(operation) if fault.operation is not None}
    assert len(live) > 30
    for a, b, c, d in rows(operation, 20000):
        live = {fault: model for fault, model in live.items() if model.step(a, b, c) == d}
        if not live:
            break
    assert list(live) == []


@pytest.mark.parametrize("name", [name for name, operation in OPERATIONS.items() if isinstance(operation, FlushedFMA)])
def test_multiply_add_without_a_fault_is_the_models(name: str) -> None:
    operation = OPERATIONS[name]
    assert isinstance(operation, FlushedFMA)
    for a, b, c, _ in rows(operation, 600):
        x, y = operation.widened(operation.a, a[0]), operation.widened(operation.b, b[0])
        assert multiply_add(x, y, c, (flushed,) * 3) == operation.fma(x, y, c)
        assert multiply_add(ONE, x, c, (flushed,) * 3) == operation.add(x, c)
    assert FP32.value(ONE) == 1
