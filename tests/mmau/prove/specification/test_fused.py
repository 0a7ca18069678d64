"""Whole specifications, also of several formats, against golden: terms that datapaths are proved to equal, row by row."""

from random import Random
from typing import Any

import pytest
from bitwuzla import TermManager

from golden import Operation, Unit
from golden.operations import TFDPA
from mmau.prove.counterexample import golden_result
from mmau.prove.datapath.unit_questions import SPECIFICATIONS
from mmau.prove.evaluation import Evaluation
from mmau.prove.netlist.terms import Terms
from mmau.prove.specification.multi_format import LaneObserver, multi_format
from mmau.prove.specification.observer import Observer
from rtl.designs.multi_format_design import check_operations
from tests.mmau.prove.provable_units import OPERATIONS, random_inputs, unit_of


@pytest.mark.slow
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: f"{operation.name} {operation.a} {operation.b}")
def test_rows_agree_with_golden(operation: Operation) -> None:
    terms, random, unit = Terms(TermManager()), Random(0), unit_of(operation)
    ports = {
        name: terms.free(name, width)
        for name, width in (
            ("a", operation.length * operation.a.width),
            ("b", operation.length * operation.b.width),
            ("c", operation.c.width),
        )
    }
    if operation.scale_format is not None:
        width = operation.scales_per_step * operation.scale_format.width
        ports |= {name: terms.free(name, width) for name in ("scale_a", "scale_b")}
    d = Evaluation([SPECIFICATIONS[type(operation)](terms, operation, ports, Observer()).term])
    results = set()
    for _ in range(80):
        inputs = random_inputs(random, operation)
        (found,) = d.of({ports[name].term: value for name, value in inputs.items()})
        assert found == golden_result(unit, inputs), inputs
        results.add(found)
    assert len(results) > 25


KEYS: dict[str, Any] = {"c": "fp32", "F": 13, "rho": "RZ-FP32", "e_zero": -133}

OF_FORMATS = check_operations(
    [TFDPA(**{"a": name, "b": name, "L": L, **KEYS}) for name, L in (("fp16", 2), ("e5m2", 4), ("e2m1", 8))]
)

UNUSED = 3


@pytest.mark.parametrize("number", range(4))
def test_the_specification_is_goldens(number: int) -> None:
    terms, random = Terms(TermManager()), Random(number)
    ports = {"a": terms.free("a", 32), "b": terms.free("b", 32), "c": terms.free("c", 32)}
    d = Evaluation([multi_format(terms, OF_FORMATS, number, ports, LaneObserver()).term])
    operation = OF_FORMATS[number % UNUSED]
    for _ in range(60):
        inputs = random_inputs(random, operation)
        expected = inputs if number < UNUSED else inputs | {"a": 0, "b": 0}  # nothing is multiplied
        (found,) = d.of({ports[name].term: inputs[name] for name in ports})
        assert found == golden_result(Unit(name="unit", operation=operation), expected), inputs
