"""The specification of datapaths of several formats held to golden, row by row."""

from random import Random
from typing import Any

import pytest
from bitwuzla import TermManager

from formal.counterexample import golden_result
from formal.evaluation import evaluate
from formal.specification.multi_format import LaneKeep, multi_format
from golden import Unit
from golden.operations import TFDPA
from rtl.designs.multi_format import check_operations
from rtl.verilog.terms import Terms
from tests.formal.units import random_inputs

KEYS: dict[str, Any] = {"c": "fp32", "F": 13, "rho": "RZ-FP32", "e_zero": -133}

OPERATIONS = check_operations(
    [TFDPA(**{"a": name, "b": name, "L": L, **KEYS}) for name, L in (("fp16", 2), ("e5m2", 4), ("e2m1", 8))]
)

UNUSED = 3


@pytest.mark.parametrize("number", range(4))
def test_the_specification_is_goldens(number: int) -> None:
    terms, random = Terms(TermManager()), Random(number)
    ports = {"a": terms.free("a", 32), "b": terms.free("b", 32), "c": terms.free("c", 32)}
    d = multi_format(terms, OPERATIONS, number, ports, LaneKeep())
    operation = OPERATIONS[number % UNUSED]
    for _ in range(60):
        inputs = random_inputs(random, operation)
        expected = inputs if number < UNUSED else inputs | {"a": 0, "b": 0}  # nothing is multiplied
        found = evaluate([d.term], {ports[name].term: inputs[name] for name in ports})[d.term]
        assert found == golden_result(Unit(name="unit", operation=operation), expected), inputs
