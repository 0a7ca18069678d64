"""Boundary rows: golden, the second implementation, the native engine and the specification give the recorded results."""

import pytest

from golden import FORMATS, OPERATIONS
from studies.golden_mutants.boundary_rows import FILE, UNITS, BoundaryUnit, boundary_units, text_of
from studies.golden_mutants.choose import NAMED
from studies.golden_mutants.witnesses import (
    SPECIFYING,
    Specified,
    golden_results,
    native_results,
    operation_or_none,
    twin_agrees,
)
from studies.symbolic.model_copy import copied, unchanged
from tests.golden.native.native_rows import needs_native
from tests.studies.symbolic.changes import UNNOTICED, replaced

UNIT = pytest.mark.parametrize("unit", boundary_units(), ids=lambda unit: unit.name)

MODULES = copied(unchanged, *SPECIFYING)


def test_rows_are_those_of_every_operation_and_format() -> None:
    assert [unit.keys for unit in boundary_units()] == list(UNITS)
    operations = [unit.operation for unit in boundary_units()]
    assert {operation.name for operation in operations} == set(OPERATIONS)
    used = {fmt.name for o in operations for fmt in (o.a, o.b, o.c, o.d, o.scale_format) if fmt is not None}
    assert used == set(FORMATS)


def test_the_file_is_as_it_is_written() -> None:
    assert FILE.read_text(encoding="utf-8") == text_of(boundary_units())


def test_every_named_limit_has_its_row() -> None:
    assert {rule for rule, _, _ in NAMED} <= {row.rule for unit in boundary_units() for row in unit.rows}


@UNIT
def test_golden_and_twin(unit: BoundaryUnit) -> None:
    assert list(golden_results(unit.operation, unit)) == [row.d for row in unit.rows]
    assert all(twin_agrees(unit, row, row.d) for row in unit.rows)


@needs_native
@UNIT
def test_native(unit: BoundaryUnit) -> None:
    assert native_results(unit) == [row.d for row in unit.rows]


@pytest.mark.slow
@UNIT
def test_specification(unit: BoundaryUnit) -> None:
    specified = Specified(MODULES, unit, operation_or_none(MODULES, unit))
    assert [specified.d(row) for row in unit.rows] == [row.d for row in unit.rows]


@pytest.mark.parametrize("name", UNNOTICED)
def test_a_changed_golden_gives_other_results(name: str) -> None:
    """Rules that comparisons with random rows do not hold."""
    modules = copied(replaced(*UNNOTICED[name]))
    units = [unit for unit in boundary_units() if unit.keys["operation"] == name.partition(":")[0]]
    differing = [
        row.rule
        for unit in units
        for row, d in zip(unit.rows, golden_results(operation_or_none(modules, unit), unit), strict=True)
        if d != row.d
    ]
    assert differing
