"""Datapaths with the keys of units of one's own: golden's results, above all where a key matters, and no neighbour's."""

from typing import Any

import numpy as np
import pytest

from golden import Implementation, Unit
from golden.arithmetic.formats import FP32
from golden.arrays import bits_dtype
from golden.operations import OPERATIONS
from golden.operations.fused import FusedOperation
from golden.operations.headroom_fdpa import HeadroomFDPA
from golden.stimulus import OperandShape, generate
from golden.units.unit import CIRCUIT_CHOICES, ENCODINGS
from rtl import unit_datapath
from rtl.designs.sample_units import OWN_KEYS, of_kind
from tests.rtl.edge_rows import Row, edge_rows
from tests.rtl.operations.test_datapaths import Inputs, assert_equal, check, streamed
from tests.rtl.random_units import WITH_OWN_KEYS, random_unit_of_ones_own
from tests.rtl.simulate import outputs, packed

SAMPLES = [(name, number) for name, kind in OPERATIONS.items() for number in range(len(of_kind(kind, OWN_KEYS)))]
ROWS, ROWS_A_WAY = 100, 60
"""Of a sample, and of a sample built in one way of many."""

BUILT_IN_EVERY_WAY = ("T-FDPA", "GST-FDPA", "TR-FDPA")

QUICK = {("FMA", 0), ("FMA", 2), ("T-FDPA", 0), ("T-FDPA", 1), ("T-FDPA", 3), ("TR-FDPA", 2)}
"""Of the samples, those that every run of the tests simulates."""


def sample(name: str, number: int) -> Any:
    """An operation of that name, with keys of its own."""
    return of_kind(OPERATIONS[name], OWN_KEYS)[number]


def ports(operation: FusedOperation, row: Row) -> Inputs:
    """A row as the ports take it."""
    codes = {"a": (row.a, operation.a), "b": (row.b, operation.b)}
    taken = {name: each for name, each in codes.items() if name in operation.operands}
    if operation.scale_format is not None:
        taken |= {"scale_a": (row.scale_a, operation.scale_format), "scale_b": (row.scale_b, operation.scale_format)}
    c = {"c": row.c} if "c" in operation.operands else {}
    return {name: packed(each, operand.width) for name, (each, operand) in taken.items()} | c


def golden_of(operation: FusedOperation, rows: list[Row]) -> list[int]:
    return [operation.step(row.a, row.b, row.c, row.scale_a, row.scale_b) for row in rows]


def simulated(unit: Unit, operation: FusedOperation, rows: list[Row]) -> list[int]:
    """The results of the unit's datapath for rows of an operation."""
    component = unit_datapath(unit)
    return outputs(component, [ports(operation, row) for row in rows], lambda get: get(component.d))


def check_edges(unit: Unit, vectors: int) -> None:
    operation: Any = unit.operation
    rows = edge_rows(operation, vectors)
    inputs = [ports(operation, row) for row in rows]
    assert_equal(unit, inputs, simulated(unit, operation, rows), golden_of(operation, rows))


def implementations(number: int) -> Implementation:
    """One way to build a unit; three in a row show every encoding, four every choice."""
    ways: dict[str, Any] = {
        key: choices[(number >> k) % len(choices)] for k, (key, choices) in enumerate(CIRCUIT_CHOICES.items())
    }
    return Implementation(encoding=ENCODINGS[number % len(ENCODINGS)], **ways)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "number"),
    [pytest.param(*which, marks=[] if which in QUICK else [pytest.mark.long]) for which in SAMPLES],
)
def test_datapath_equals_golden_where_the_keys_matter(name: str, number: int) -> None:
    unit = Unit(name="u", operation=sample(name, number), implementation=implementations(SAMPLES.index((name, number))))
    check_edges(unit, 80 if (name, number) in QUICK else ROWS)


@pytest.mark.long
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("leading_zeros", CIRCUIT_CHOICES["leading_zeros"])
@pytest.mark.parametrize(("name", "number"), [which for which in SAMPLES if which[0] in BUILT_IN_EVERY_WAY])
def test_no_way_to_build_changes_a_result_where_the_keys_matter(
    name: str, number: int, leading_zeros: str, encoding: str
) -> None:
    ways = Implementation(encoding=encoding, leading_zeros=leading_zeros)
    check_edges(Unit(name="u", operation=sample(name, number), implementation=ways), ROWS_A_WAY)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", WITH_OWN_KEYS)
def test_random_datapath_equals_golden(name: str, seed: int) -> None:
    unit = random_unit_of_ones_own(name, seed)
    check(unit, 20 if name == "E-FDPA" else 60, seed)
    check_edges(unit, 30 if name == "E-FDPA" else 60)


@pytest.mark.long
@pytest.mark.parametrize("stages", [1, 3, 8])
@pytest.mark.parametrize("name", WITH_OWN_KEYS)
def test_random_datapath_pipelines(name: str, stages: int) -> None:
    unit = random_unit_of_ones_own(name, 100 + stages, stages)
    operation: Any = unit.operation
    rows = edge_rows(operation, 25)
    inputs = [ports(operation, row) for row in rows]
    results, _ = streamed(unit_datapath(unit), inputs, 0.2, 0.3)
    assert_equal(unit, inputs, results, golden_of(operation, rows))


def neighbours(operation: FusedOperation) -> list[dict[str, Any]]:
    """Changes of one key each, to the value of published units: a datapath could lack the key."""
    own = {key for key in operation.own_keys if key in operation.parameters()}
    if isinstance(operation, HeadroomFDPA) and FP32.e_min not in (operation.a.e_min, operation.b.e_min, operation.c.e_min):
        own -= {"flush_inputs"}  # it flushes what is subnormal in fp32, and no operand is
    found: list[dict[str, Any]] = [{key: False} for key in ("sticky", "flush_inputs", "flush_results") if key in own]
    if "overflow" in own and operation.d.specials != "finite":
        found.append({"overflow": "infinity"})
    mode, d = operation.conversion.mode, operation.conversion.d.name.upper()
    if mode in ("RO", "RNA"):
        found.append({"rho": f"{'RZ' if mode == 'RO' else 'RNE'}-{d}"})
    if operation.parameters().get("truncation") == "RO":
        found.append({"truncation": "RZ"})
    return found


def is_shown(operation: FusedOperation, change: dict[str, Any]) -> bool:
    """Whether a change shows in the conversion of any code, or of many where a has more than 16 bits."""
    if operation.a.width <= 16:
        a = np.arange(operation.a.codes).astype(bits_dtype(operation.a))[:, None]
    else:
        a = generate(OperandShape.of_operation(operation), 50_000, seed=1).operands.a
    d, other = (Unit(name="u", operation=each).dot(a) for each in (operation, operation.changed(**change)))
    return bool((d != other).any())


def test_every_key_of_every_sample_changes_the_result_of_its_default() -> None:
    """Else the rows would pass a datapath that lacks the key."""
    changed = set()
    for name, number in SAMPLES:
        operation = sample(name, number)
        rows = edge_rows(operation, ROWS_A_WAY if name in BUILT_IN_EVERY_WAY else ROWS)
        expected = golden_of(operation, rows)
        for change in neighbours(operation):
            if "b" not in operation.operands and not is_shown(operation, change):
                continue
            assert golden_of(operation.changed(**change), rows) != expected, (name, number, change)
            changed |= set(change)
    assert changed == {"sticky", "truncation", "flush_inputs", "flush_results", "overflow", "rho"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "number", "change"),
    [
        ("T-FDPA", 1, {"sticky": False}),
        ("T-FDPA", 2, {"truncation": "RZ"}),
        ("FMA", 0, {"rho": "RZ-FP16"}),
        ("FMA", 3, {"flush_results": False}),
        ("FMA", 1, {"overflow": "by-mode"}),
        pytest.param("FMA", 1, {"rho": "RNE-BF16"}, marks=pytest.mark.long),
        pytest.param("FMA", 3, {"flush_inputs": False}, marks=pytest.mark.long),
        pytest.param("FMA", 0, {"overflow": "infinity"}, marks=pytest.mark.long),
        pytest.param("PS-FDPA", 2, {"flush_inputs": False}, marks=pytest.mark.long),
    ],
)
def test_datapath_that_lacks_a_key_differs(name: str, number: int, change: dict[str, Any]) -> None:
    operation = sample(name, number)
    rows = edge_rows(operation, 150)
    lacking = Unit(name="lacking", operation=operation.changed(**change))
    assert simulated(lacking, operation, rows) != golden_of(operation, rows)
