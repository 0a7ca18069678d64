"""Golden's own step as a term: what golden gives, what the specification is, and what a changed golden is not."""

from random import Random
from typing import Any

import pytest

from golden import Operation
from golden.operations import GTRFDPA, IDPA, TFDPA, TRFDPA
from mmau.prove.counterexample import golden_result
from mmau.prove.decision import OPEN, PROVED, REFUTED
from mmau.prove.evaluation import Evaluation
from mmau.prove.netlist.terms import Terms, deep_stack
from studies.specification_proofs import agreement, free_ports
from studies.symbolic.model_copy import copied, operation_in
from studies.symbolic.model_term import model_term, symbolic_golden
from tests.mmau.prove.provable_units import OPERATIONS, random_inputs, unit_of
from tests.studies.symbolic.changes import UNNOTICED, replaced

SMALL = TFDPA(a="e2m1", b="e2m1", c="fp16", L=1, F=4, rho="RZ-FP16", e_zero=-20)  # type: ignore[arg-type]


FIRST_OF_EACH = {operation.name: operation for operation in reversed(OPERATIONS)}

LIKE_ANOTHER = ("ST-FDPA", "GTR-FDPA", "FTZ-FMA")
"""Operations whose branches GST-FDPA, TR-FDPA and FTZ-EO-FMA have too."""

QUICK = [operation for name, operation in FIRST_OF_EACH.items() if name not in LIKE_ANOTHER]


@pytest.mark.slow
@pytest.mark.parametrize(
    "operation",
    [each if each in QUICK else pytest.param(each, marks=pytest.mark.long) for each in OPERATIONS],
    ids=lambda operation: f"{operation.name} {operation.a} {operation.b}",
)
def test_the_term_gives_what_golden_gives(operation: Operation) -> None:
    with deep_stack() as manager:
        terms, random, unit = Terms(manager), Random(1), unit_of(operation)
        ports = free_ports(terms, operation)
        d, error = model_term(terms, operation, ports, symbolic_golden())
        evaluation = Evaluation([d.term, error.bits.term])
        for _ in range(25):
            inputs = random_inputs(random, operation)
            found = evaluation.of({ports[name].term: value for name, value in inputs.items()})
            assert found == [golden_result(unit, inputs), 0], inputs


@pytest.mark.slow
@pytest.mark.parametrize("operation", [SMALL, IDPA(a="uint8", b="int8", c="int32", L=2)], ids=str)  # type: ignore[arg-type]
def test_the_specification_is_golden(operation: Operation) -> None:
    assert agreement(operation, 600).verdict == PROVED


TR: dict[str, Any] = {"a": "bf16", "b": "bf16", "c": "fp32", "L": 1, "F": 4, "F2": 5, "rho": "RZ-BF16"}

TINY: dict[str, Any] = {"a": "e5m2", "b": "e5m2", "c": "fp16", "L": 1, "F": 8, "rho": "RNE-FP16", "e_zero": -40}
"""Its products may be smaller than the smallest fp16."""

CHANGED: dict[str, Operation] = {
    "TR-FDPA: a product of 2^128 is a number": TRFDPA(**TR),
    "TR-FDPA: a negative sum that RZ cuts to nothing is +0": TRFDPA(**TR, truncation="RZ"),
    "GTR-FDPA: c is dropped at F + 1": GTRFDPA(**TR),
    "T-FDPA: a negative result that rounds to zero is -0": TFDPA(**TINY),
}


HARD = "TR-FDPA: a negative sum that RZ cuts to nothing is +0"
"""Of `UNNOTICED`: solvers need many minutes for operands that show it; the boundary rows have such operands."""


@pytest.mark.parametrize(
    "name",
    [name if name.startswith("T-") else pytest.param(name, marks=pytest.mark.long) for name in UNNOTICED if name != HARD],
)
@pytest.mark.attack("faults of a netlist or a specification, in prove")
def test_a_changed_golden_is_refuted(name: str) -> None:
    operation, change = CHANGED[name], replaced(*UNNOTICED[name])
    found = agreement(operation, 600, change)
    assert found.verdict == REFUTED
    a, b, c = (found.inputs[port] for port in ("a", "b", "c"))
    assert operation_in(copied(change), operation).step([a], [b], c) != operation.step([a], [b], c)


@pytest.mark.long
@pytest.mark.attack("faults of a netlist or a specification, in prove")
def test_a_change_that_solvers_do_not_find_in_time_is_not_proved() -> None:
    assert agreement(CHANGED[HARD], 60, replaced(*UNNOTICED[HARD])).verdict in (OPEN, REFUTED)
