"""Units with formats of their own: the model equals exact rational arithmetic written apart, on every engine, and text and
unit are one."""

import json
import tomllib
from dataclasses import replace
from typing import Any

import pytest

from golden.native.library import library
from golden.stimulus import OperandShape, generate
from golden.units.unit_file import unit_from_table, unit_to_toml
from golden.variants.keys import one_off
from tests.golden.units.own_formats import TEXTS, own_unit
from tests.twin import twin

ENGINES = ("reference", "native") if library() is not None else ("reference",)


@pytest.mark.parametrize("name", TEXTS)
def test_every_engine_gives_the_results_of_the_twin(name: str) -> None:
    compare(name, 60)


@pytest.mark.long
@pytest.mark.parametrize("name", TEXTS)
def test_many_rows_give_the_results_of_the_twin(name: str) -> None:
    compare(name, 20_000)


def compare(name: str, count: int) -> None:
    unit = own_unit(name)
    operation = unit.operation
    rows = generate(OperandShape.of_operation(operation), count, seed=3).operands
    given = (rows.a, rows.b, rows.c if "c" in operation.operands else None, rows.scale_a, rows.scale_b)
    results = {engine: unit.dot(*given, engine=engine) for engine in ENGINES}
    for row in range(len(rows.c)):
        scales = [() if s is None else s[row].tolist() for s in (rows.scale_a, rows.scale_b)]
        expected = twin.dot(operation, rows.a[row].tolist(), rows.b[row].tolist(), int(rows.c[row]), *scales)
        for engine, d in results.items():
            said = f"{engine}, row {row}: {operation.d.describe(int(d[row]))}, twin {operation.d.describe(expected)}"
            assert twin.same(operation, int(d[row]), expected), said


@pytest.mark.parametrize("name", TEXTS)
def test_text_of_a_unit_reads_back(name: str) -> None:
    unit = own_unit(name)
    assert unit_from_table(tomllib.loads(unit_to_toml(unit))) == unit


@pytest.mark.parametrize("name", TEXTS)
def test_trace_and_neighbours_of_a_unit(name: str) -> None:
    """The trace gives the model's result, and a model with one key changed gives another for some row."""
    unit = own_unit(name)
    rows = generate(OperandShape.of_operation(unit.operation), 300, seed=5).operands
    given: list[Any] = [rows.a, rows.b, rows.c if "c" in unit.operation.operands else None, rows.scale_a, rows.scale_b]
    d = unit.dot(*given)
    for row in range(0, 300, 60):
        trace = unit.explain(*(None if each is None else each[row] for each in given))
        assert trace.d == int(d[row])
        assert json.dumps(trace.as_dict())
    changed = [other for _, other in one_off(unit.operation)]
    differs = [(replace(unit, operation=other).dot(*given) != d).any() for other in changed]
    assert any(differs)
