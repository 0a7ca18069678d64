"""The records of steps from the native engine against golden.trace, of units off the catalogue and of chains."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import golden
from golden.chains.chain import Chain, steps_for
from golden.native.engine import computes
from golden.native.observe import observe
from golden.stimulus import OperandShape, generate
from golden.trace.trace import trace_of
from tests.golden.native.native_rows import needs_native
from tests.golden.native.traced import first_difference, records_of
from tests.golden.strategies import operations, products

pytestmark = needs_native

ROWS = 24


@pytest.mark.slow
@pytest.mark.parametrize("name", golden.OPERATIONS)
@settings(max_examples=5)
@given(data=st.data())
def test_records_of_a_unit_off_the_catalogue_equal_those_of_its_traces(name: str, data: st.DataObject) -> None:
    operation = data.draw(operations(name).filter(computes))
    K = data.draw(st.composite(products)(operation))
    assert difference_from_traces(operation, K, ROWS, data.draw(st.integers(0, 2**32 - 1))) == ""


@pytest.mark.long
@pytest.mark.parametrize("name", golden.OPERATIONS)
@settings(max_examples=50)
@given(data=st.data())
def test_records_of_many_units_equal_those_of_their_traces(name: str, data: st.DataObject) -> None:
    operation = data.draw(operations(name).filter(computes))
    K = data.draw(st.composite(products)(operation))
    assert difference_from_traces(operation, K, 3 * ROWS, data.draw(st.integers(0, 2**32 - 1))) == ""


def difference_from_traces(operation: golden.Operation, K: int, rows: int, seed: int) -> str:
    """The first record, code of c or code of d that differs from the trace; empty if none does."""
    chain = Chain(steps_for(operation, K))
    operands = generate(OperandShape.of_operation(operation, K), rows, seed).operands
    seen = observe(chain, *operands)
    shape = (seen.terms.shape[2], seen.sums.shape[2], seen.roundings.shape[2])
    for row in range(rows):
        lists = [[] if codes is None else np.atleast_1d(codes[row]).tolist() for codes in operands]
        trace = trace_of("", chain, lists[0], lists[1], lists[2][0], lists[3], lists[4])
        for number, step in enumerate(trace.steps):
            c = next(
                (operand.code for operand in step.operands if operand.name == "c"), lists[2][0]
            )  # MUL and ADD read none
            of_step = chain.operation if number == 0 else chain.operation.accumulating()
            expected = records_of(step, of_step, shape)
            codes = [(c, step.d.code)], [(int(seen.c[row, number]), int(seen.d[row, number]))]
            pairs: list[tuple[Any, Any]] = [
                codes,
                (expected.terms, seen.terms[row, number].tolist()),
                (expected.sums, seen.sums[row, number].tolist()),
                (expected.roundings, seen.roundings[row, number].tolist()),
            ]
            for what, (want, got) in zip(("codes", "terms", "sums", "roundings"), pairs, strict=True):
                difference = first_difference(want, got)
                if difference:
                    return f"{operation}, row {row}, step {number}, {what}: {difference}"
    return ""
