"""The coverage job contains every option that its docstrings list."""

import re
from itertools import product
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

import cosim
import golden
from cosim.regressions.coverage_job import (
    STAGES,
    adder_units,
    coverage_units,
    cut_units,
    further_units,
    multiplier_units,
    published_units,
    unpublished_key_units,
)
from golden.arithmetic.rounding import MODES
from golden.catalogue import parameter_set, representatives
from golden.operations import OPERATIONS, Operation
from golden.operations.base import MAX_FRACTION, MULTIPLICANDS
from golden.units.unit import ADDERS, CIRCUIT_CHOICES, ENCODINGS, MULTIPLIERS
from rtl import MultiFormatDesign, TileDesign
from rtl.designs.sample_units import slice_of
from rtl.operations.lengths import check_range

VECTORS_AN_OPERATION = 1_000_000
ROOT = Path(__file__).parents[3]


def test_every_unit_has_a_datapath_and_a_unique_name() -> None:
    units = coverage_units()
    for unit in units:
        check_range(unit.operation)
    names = {unit.name for unit in units}
    assert len(names) == len(units)
    assert {unit.name for unit in (*adder_units(), *multiplier_units(), *cut_units())} <= names


@pytest.mark.slow
def test_every_published_parameter_set_is_there() -> None:
    published = {parameter_set(entry.operation) for entry in representatives()}
    assert {parameter_set(unit.operation) for unit in published_units()} == published
    F_and_e_zero = {(p["F"], p["e_zero"]) for u in published_units() if "e_zero" in (p := u.operation.parameters())}
    # numerics.md, section 6: Volta, Turing to Ada, Hopper and later; FP8 with 13 bits; ST-FDPA as Hopper; GST-FDPA; RDNA
    assert F_and_e_zero == {
        *((23, e) for e in (-19, -131)), *((24, e) for e in (-20, -132)), *((25, e) for e in (-21, -133)),
        *((13, e) for e in (-20, -132, -21, -133)), (35, -139),
        (26, -14), (26, -126),
    }  # fmt: skip


def test_every_adder_and_multiplier_in_every_kind_of_sum() -> None:
    found = {(unit.operation.name, unit.implementation.adder) for unit in adder_units()}
    assert found == set(product(("T-FDPA", "FMA", "TR-FDPA", "OC-FDPA"), ADDERS[1:]))
    found = {(unit.operation.name, unit.implementation.multiplier) for unit in multiplier_units()}
    assert found == set(product(("T-FDPA", "FMA", "TR-FDPA", "FTZ-FMA"), MULTIPLIERS[1:]))
    assert {unit.implementation.encoding for unit in multiplier_units()} == set(ENCODINGS)


def test_registers_inside_of_steps_with_every_multiplier_in_every_encoding() -> None:
    built = [unit.implementation for unit in cut_units()]
    assert {(each.encoding, each.multiplier) for each in built} == set(zip(ENCODINGS, MULTIPLIERS, strict=True))
    assert all({"multiply_rows", "accumulate_rows", "normalise_count"} < {*each.registers} for each in built)


@pytest.mark.parametrize("kind", OPERATIONS.values(), ids=list(OPERATIONS))
def test_each_operation_has_every_way_to_build_every_odd_length_and_every_format(kind: type[Operation]) -> None:
    units = further_units(kind)
    parameters = [unit.operation.parameters() for unit in units]
    built = [unit.implementation for unit in units]
    assert {implementation.stages for implementation in built} == set(STAGES) == {0, 1, 3, 8}
    assert {implementation.encoding for implementation in built} == set(ENCODINGS)
    for key, choices in CIRCUIT_CHOICES.items():
        assert {getattr(implementation, key) for implementation in built} == set(choices), key
    keys = kind.unit_keys()
    if "truncation" in keys:
        found = {(unit.implementation.encoding, p["truncation"]) for unit, p in zip(units, parameters, strict=True)}
        assert found == set(product(ENCODINGS, ["RZ", "RD"]))
    if "L" in keys:
        lengths = {"FTZ-FMA": {1, 2, 3, 5}, "FTZ-EO-FMA": {2, 4, 6}}  # even, and a chain as long as L
        assert {p["L"] for p in parameters} >= lengths.get(kind.name, {1, 3, 5, 7})
    for key in ("F", "F2"):
        if key in keys:
            assert {p[key] for p in parameters} >= {1, MAX_FRACTION}, key
    published = set(MULTIPLICANDS) - {"e4m3ieee"}
    scalar = {"fp16", "bf16", "fp32", "fp64"}
    formats = {"FMA": {"fp32", "fp64"}, "IDPA": {"int8", "uint8"}, "MUL": scalar, "ADD": scalar, "CVT": scalar}.get(
        kind.name, published
    )
    formats = {"fp16", "bf16"} if kind.name in ("FTZ-AddMul", "FTZ-FMA", "FTZ-EO-FMA") else formats
    assert {p[side] for p in parameters for side in p.keys() & {"a", "b"}} == formats


@pytest.mark.parametrize("kind", OPERATIONS.values(), ids=list(OPERATIONS))
def test_each_operation_has_every_key_that_no_published_unit_has(kind: type[Operation]) -> None:
    units = unpublished_key_units(kind)
    if not kind.own_keys or kind.name == "IDPA":  # whose one own key published units have
        assert kind.name in ("FTZ-AddMul", "FTZ-FMA", "FTZ-EO-FMA", "IDPA")
        assert not units
        return
    operations: list[Any] = [unit.operation for unit in units]
    assert {operation.overflow for operation in operations} >= {"saturate", "by-mode"}
    for key in ("flush_inputs", "flush_results"):
        assert any(getattr(operation, key) for operation in operations), key
    assert {operation.conversion.mode for operation in operations} >= {"RO", "RNA"}
    if kind.name == "FMA":
        assert {operation.a.name for operation in operations} == {"fp16", "bf16", "fp32", "fp64"}
        assert {operation.conversion.mode for operation in operations} == set(MODES)
        assert {operation.nan for operation in operations} == {"quiet", "first"}
    elif kind.name in ("MUL", "ADD"):
        assert {operation.a.name for operation in operations} == {"fp16", "bf16", "fp32"}
        assert {operation.nan for operation in operations} == {"quiet", "first"}
    elif kind.name == "CVT":
        assert {operation.d.name for operation in operations} >= {"fp16", "e4m3fnuz", "e5m2", "e2m1"}
        assert {operation.nan for operation in operations} == {"quiet", "first"}
    else:
        assert "e4m3ieee" in {operand.name for operation in operations for operand in (operation.a, operation.b)}
    if "sticky" in kind.unit_keys():
        assert {(o.truncation, o.sticky) for o in operations} == {("RZ", True), ("RD", True), ("RO", False)}
    assert {unit.implementation.encoding for unit in units} == set(ENCODINGS)
    assert len({unit.implementation.stages for unit in units}) >= 3


def test_every_sticky_truncation_comes_in_every_encoding() -> None:
    units = [unit for unit in cosim.coverage_units() if unit.operation.parameters().get("sticky")]
    found = {(unit.operation.parameters()["truncation"], unit.implementation.encoding) for unit in units}
    assert found == set(product(["RZ", "RD"], ENCODINGS))


def test_every_format_of_c_and_d_and_every_scale_is_there() -> None:
    units = cosim.coverage_units()
    truncated = [u.operation for u in units if u.operation.name in ("T-FDPA", "ST-FDPA", "GST-FDPA")]
    for side in ("c", "d"):
        assert {getattr(operation, side).name for operation in truncated} == {"fp32", "fp16", "bf16"}
    assert {u.operation.scale_format.name for u in units if u.operation.scale_format} == {"ue8m0", "ue4m3"}


@pytest.mark.slow
def test_datapaths_of_several_formats_and_tiles_of_every_kind_are_there() -> None:
    job = cosim.coverage_job()
    shared = [design for design in job if isinstance(design, MultiFormatDesign)]
    tiles = [design for design in job if isinstance(design, TileDesign)]
    assert job == [*cosim.coverage_units(), *shared, *tiles]
    assert {design.implementation.encoding for design in shared} == set(ENCODINGS)
    for design in shared:
        assert [str(unit.operation.a) for unit in design.units] == ["fp16", "bf16", "e4m3", "e5m2", "e2m1"]
    instructions = [tile.instruction for tile in tiles]
    assert {i.k == i.operation.length for i in instructions} == {True, False}
    assert any(i.scale is not None for i in instructions)
    assert any(i.fp16_order is not None for i in instructions)
    assert {i.operation.name for i in instructions} == {i.operation.name for i in golden.instructions()}
    assert {i.operation.scales_per_step for i in instructions if i.scale is not None} >= {1, 4}
    assert any(i.m > 1 and i.n > 1 for i in instructions)


@pytest.mark.slow
def test_page_of_evidence_counts_the_designs_of_the_job() -> None:
    page = " ".join((ROOT / "docs/evidence/README.md").read_text(encoding="utf-8").split())
    job = cosim.coverage_job()
    shared, tiles = (sum(isinstance(design, kind) for design in job) for kind in (MultiFormatDesign, TileDesign))
    assert f"`make coverage` runs {len(cosim.coverage_units())} units with over {VECTORS_AN_OPERATION:,} vectors" in page
    assert (shared, f", three datapaths of several formats, and {tiles} tiles, " in page) == (3, True)


def test_each_operation_gets_its_vectors_in_ci() -> None:
    makefile, steps = (ROOT / "Makefile").read_text(), (ROOT / ".ci/run").read_text()
    command = re.search(r"mmau cosim --coverage --mode volume --vectors (\d+) \$\(if \$\(SLICE\),--slice", makefile)
    assert command is not None
    vectors = int(command[1])
    assert 'step make coverage "$(slice 3)"' in steps.splitlines()  # the whole job over three commits
    names = [unit.operation.name for unit in cosim.coverage_units()]
    for name in OPERATIONS:
        assert names.count(name) * vectors >= VECTORS_AN_OPERATION, name


def test_slices_of_a_job_hold_each_design_once() -> None:
    job = cosim.coverage_job()
    slices = [slice_of(job, f"{part}/3", attrgetter("name")) for part in range(3)]
    assert sorted(design.name for one in slices for design in one) == sorted(design.name for design in job)
    assert min(map(len, slices)) > len(job) / 4
