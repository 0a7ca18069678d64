"""Faults of the sign of an exact zero, E-FDPA with `zero = "ieee"`: the default vectors show each of them."""

import pytest

from golden.operations import EFDPA, Operation
from golden.stimulus import OperandShape, generate
from golden.variants.faults import ZERO_SIGNS, fault_variants
from golden.variants.keys import one_off
from mmau.mutation.unit_work import SEED, VECTORS

UNITS = [
    EFDPA(a="fp16", b="fp16", c="fp32", L=2, zero="ieee"),  # type: ignore[arg-type]
    EFDPA(a="bf16", b="bf16", c="fp32", L=2, zero="ieee"),  # type: ignore[arg-type]
    EFDPA(a="e4m3", b="e5m2", c="fp16", L=3, rho="RD-FP16", zero="ieee"),  # type: ignore[arg-type]
]


def of_zero(operation: EFDPA) -> dict[str, Operation]:
    """The faults of a zero's sign, and the key with its other value."""
    found = {
        fault.words: fault.operation
        for fault in fault_variants(operation)
        if fault.words.startswith("sign of a zero") and fault.operation is not None
    }
    return found | {name: changed for name, changed in one_off(operation) if name.startswith("zero = ")}


def unseen(operation: EFDPA) -> set[str]:
    """The faults that no default vector shows."""
    live = of_zero(operation)
    a, b, c, *_ = generate(OperandShape.of_operation(operation), VECTORS, SEED).operands
    for row in zip(a.tolist(), b.tolist(), c.tolist(), strict=True):
        d = operation.step(*row)
        live = {name: model for name, model in live.items() if model.step(*row) == d}
        if not live:
            break
    return set(live)


@pytest.mark.slow
@pytest.mark.attack("model")
@pytest.mark.parametrize("operation", UNITS, ids=lambda o: f"{o.a}-{o.rho}")
def test_every_fault_of_a_zeros_sign_is_shown_by_the_default_vectors(operation: EFDPA) -> None:
    assert len(of_zero(operation)) == len(ZERO_SIGNS) + 1
    assert unseen(operation) == set()


def test_zeros_that_are_always_positive_have_no_such_faults() -> None:
    positive = UNITS[0].changed(zero="positive")
    assert not [fault.words for fault in fault_variants(positive) if "zero" in fault.words]
    assert [name for name, _ in one_off(positive) if name.startswith("zero")] == ["zero = ieee for positive"]
