"""The reference against its exact-rational twin: random operations on and off the catalogue, random and hostile operands."""

import random
from typing import Any

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

import golden
from golden.stimulus import OperandShape, generate
from tests.golden.converted_twin import fp8_as_fp16_work
from tests.golden.inputs import Operands, operands
from tests.golden.rows import distinct_instructions, reference, unit
from tests.golden.strategies import cases, operations
from tests.twin import twin
from tests.volume import one_of_each


@pytest.mark.slow
@pytest.mark.parametrize("name", golden.OPERATIONS)
@settings(max_examples=50)
@given(data=st.data())
def test_reference_equals_twin_on_random_operations(name: str, data: st.DataObject) -> None:
    compare(name, data)


@pytest.mark.long
@pytest.mark.parametrize("name", golden.OPERATIONS)
@settings(max_examples=600)
@given(data=st.data())
def test_reference_equals_twin_on_many_more(name: str, data: st.DataObject) -> None:
    compare(name, data)


def compare(name: str, data: st.DataObject) -> None:
    """One case, both ways."""
    operation, drawn = data.draw(cases(name))
    note(f"{operation.name} {operation.parameters()}\n{drawn}")
    expected = twin.dot(operation, *drawn)
    got = reference(unit(operation), [drawn])[0]
    note(f"got      {operation.d.describe(got)}\nexpected {operation.d.describe(expected)}")
    assert twin.same(operation, got, expected)


def in_order_of_wave32(drawn: Operands, run: int) -> Operands:
    """The products as RDNA4 takes them: of each 2·run neighbours the lower half first (numerics.md, section 9)."""
    lower, upper = ([k for k in range(len(drawn.a)) if k // run % 2 == half] for half in (0, 1))
    return drawn._replace(a=[drawn.a[k] for k in lower + upper], b=[drawn.b[k] for k in lower + upper])


def twin_of(instruction: golden.Instruction, drawn: Operands) -> int:
    if instruction.fp16_order is not None:
        return fp8_as_fp16_work(instruction.operation, instruction.a.name, instruction.b.name, drawn.a, drawn.b, drawn.c)
    if instruction.arch == "gfx1201" and instruction.name.startswith("v_wmma") and "_w32" in instruction.name:
        drawn = in_order_of_wave32(drawn, 8 if instruction.c.name == "int32" else 4)
    return twin.dot(instruction.operation, *drawn)


@pytest.mark.slow
@pytest.mark.parametrize(
    "instruction", one_of_each(distinct_instructions(), lambda i: (i.chain, i.k)), ids=lambda i: f"{i.arch}:{i.name}"
)
@pytest.mark.parametrize("rows", [12, pytest.param(30, marks=pytest.mark.long)])
def test_catalogue_equals_twin(instruction: golden.Instruction, rows: int) -> None:
    rng = random.Random(f"{instruction.arch}:{instruction.name}")
    drawn = [
        operands(rng, instruction.operation, instruction.k, instruction.a.name, instruction.b.name) for _ in range(rows)
    ]
    for row, got in zip(drawn, reference(instruction, drawn), strict=True):
        expected = twin_of(instruction, row)
        assert twin.same(instruction.operation, got, expected), (
            f"{row}\ngot      {instruction.d.describe(got)}\nexpected {instruction.d.describe(expected)}"
        )


def rows_of(columns: tuple[Any, ...]) -> list[Operands]:
    """The rows of golden's stimulus, a, b, c and the scales, as the twin takes them."""
    lists = [[[]] * len(columns[2]) if column is None else column.tolist() for column in columns]
    return [Operands(*row) for row in zip(*lists, strict=True)]


@pytest.mark.slow
@pytest.mark.parametrize("name", golden.OPERATIONS)
@settings(max_examples=4)
@given(data=st.data())
def test_reference_equals_twin_on_corners(name: str, data: st.DataObject) -> None:
    compare_corners(name, data)


@pytest.mark.long
@pytest.mark.parametrize("name", golden.OPERATIONS)
@settings(max_examples=20)
@given(data=st.data())
def test_reference_equals_twin_on_more_corners(name: str, data: st.DataObject) -> None:
    compare_corners(name, data)


def compare_corners(name: str, data: st.DataObject) -> None:
    """On rows such as those that reference and native engine are compared on."""
    operation = data.draw(operations(name))
    shape = OperandShape.of_operation(operation)
    drawn = rows_of(generate(shape, 48, seed=data.draw(st.integers(0, 2**32 - 1))).operands)
    note(f"{operation.name} {operation.parameters()}")
    for row, got in zip(drawn, reference(unit(operation), drawn), strict=True):
        expected = twin.dot(operation, *row)
        assert twin.same(operation, got, expected), (
            f"{row}\ngot      {operation.d.describe(got)}\nexpected {operation.d.describe(expected)}"
        )
