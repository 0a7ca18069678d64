"""The specification of datapaths of several formats held to golden, row by row."""

from random import Random
from typing import Any

import pytest
from bitwuzla import TermManager

from golden import Unit
from golden.operations import TFDPA
from mmau.prove.counterexample import golden_result
from mmau.prove.evaluation import Evaluation
from mmau.prove.netlist.terms import Terms
from mmau.prove.specification.multi_format import LaneObserver, multi_format
from rtl.designs.multi_format import check_operations
from tests.mmau.prove.provable_units import random_inputs

KEYS: dict[str, Any] = {"c": "fp32", "F": 13, "rho": "RZ-FP32", "e_zero": -133}

OPERATIONS = check_operations(
    [TFDPA(**{"a": name, "b": name, "L": L, **KEYS}) for name, L in (("fp16", 2), ("e5m2", 4), ("e2m1", 8))]
)

UNUSED = 3


@pytest.mark.parametrize("number", range(4))
def test_the_specification_is_goldens(number: int) -> None:
    terms, random = Terms(TermManager()), Random(number)
    ports = {"a": terms.free("a", 32), "b": terms.free("b", 32), "c": terms.free("c", 32)}
    d = Evaluation([multi_format(terms, OPERATIONS, number, ports, LaneObserver()).term])
    operation = OPERATIONS[number % UNUSED]
    for _ in range(60):
        inputs = random_inputs(random, operation)
        expected = inputs if number < UNUSED else inputs | {"a": 0, "b": 0}  # nothing is multiplied
        (found,) = d.of({ports[name].term: inputs[name] for name in ports})
        assert found == golden_result(Unit(name="unit", operation=operation), expected), inputs
