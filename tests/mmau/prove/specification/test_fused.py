"""Whole specifications against golden: the terms that datapaths are proved to equal, evaluated row by row."""

from random import Random

import pytest
from bitwuzla import TermManager

from golden import Operation
from mmau.prove.counterexample import golden_result
from mmau.prove.datapath.unit_questions import SPECIFICATIONS
from mmau.prove.evaluation import Evaluation
from mmau.prove.netlist.terms import Terms
from mmau.prove.specification.observer import Observer
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
