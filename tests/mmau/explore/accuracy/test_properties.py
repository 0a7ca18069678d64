"""Results of the searches on units that are known to be good or bad."""

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

import golden
from golden.arithmetic.format import power_of_two
from golden.arithmetic.formats import FP16 as HALF
from golden.chains.chain import ChainTable
from golden.stimulus import Row
from golden.units.unit import Unit
from mmau.analysis.error_bound import Bounded
from mmau.explore.accuracy import measure
from mmau.explore.accuracy.error_measures import arithmetic_of, magnitude_lead, properties, ulp_of
from tests.mmau.explore.accuracy.measured_units import FP16, UNITS

SMALL = replace(FP16, name="small", operation=FP16.operation.changed(L=4))


def changed(**keys: Any) -> Unit:
    return replace(SMALL, operation=SMALL.operation.changed(**keys))


@pytest.mark.slow
def test_worst_row_has_the_reported_error_within_the_bound() -> None:
    found = properties(SMALL, 0)["worst"]
    codes = found["row"]
    row = Row(a=tuple(codes["a"]), b=tuple(codes["b"]), c=codes["c"])
    arithmetic = arithmetic_of(SMALL)
    errors = Bounded(arithmetic).error(row)
    assert errors is not None
    ulp = ulp_of(arithmetic.d, magnitude_lead(arithmetic, row))
    assert found["ulp"] == float(errors[0] / ulp)
    assert found["bound_ulp"] == float(errors[1] / ulp)
    assert 0.5 < found["share"] <= 1


@pytest.mark.slow
def test_fewer_fraction_bits_have_a_larger_worst_error() -> None:
    coarse, fine = (properties(changed(F=F), 0)["worst"] for F in (10, 25))
    assert coarse["ulp"] > 100 * fine["ulp"]
    assert coarse["bound_ulp"] > 100 * fine["bound_ulp"]


@pytest.mark.slow
def test_volta_is_not_monotonic_and_exact_sums_are() -> None:
    volta = golden.instruction("sm_70", "mma.m8n8k4.f32.f16.f16.f32")
    assert properties(Unit(name="volta", operation=volta.operation), 0)["monotonicity"]["violations"] > 0
    exact = properties(UNITS["E-FDPA e4m3ieee e4m3ieee"], 0)["monotonicity"]
    assert exact["violations"] == 0
    assert exact["of"] > 1000


@pytest.mark.slow
def test_rounding_down_is_not_symmetric_and_toward_zero_is() -> None:
    down, toward_zero = (properties(changed(truncation=mode), 0)["symmetry"] for mode in ("RD", "RZ"))
    assert down["violations"] > 0
    assert toward_zero["violations"] == 0
    assert toward_zero["of"] == down["of"] > 300


@pytest.mark.long
@pytest.mark.parametrize("unit", UNITS.values(), ids=lambda unit: unit.name)
def test_every_unit_has_properties(unit: Unit) -> None:
    found = measure(unit, "properties", 10, 0)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    if unit.operation.name == "IDPA":
        assert found == {"worst": None, "monotonicity": None, "symmetry": None}
        return
    assert 0 <= found["worst"]["share"] <= 1
    assert found["monotonicity"]["of"] > 0
    assert found["symmetry"]["of"] > 0


def test_integers_have_no_properties() -> None:
    assert properties(UNITS["IDPA int8 uint8"], 0) == {"worst": None, "monotonicity": None, "symmetry": None}


def test_a_chain_that_adds_is_searched_as_its_step() -> None:
    chained = replace(SMALL, chain=ChainTable(order="even-and-odd", add_c="last"))
    assert arithmetic_of(chained) == arithmetic_of(SMALL)


def test_magnitude_and_ulp_are_those_of_fractions() -> None:
    arithmetic = arithmetic_of(SMALL)
    one, minus = HALF.encode(1), HALF.encode(-1)
    row = Row(a=(one, minus, one, 0), b=(one, one, one, 0), c=0)
    assert magnitude_lead(arithmetic, row) == 1
    assert magnitude_lead(arithmetic, Row(a=(0,) * 4, b=(0,) * 4, c=0)) == arithmetic.d.e_min
    assert ulp_of(arithmetic.d, 1) == Fraction(1, 2**22)
    assert ulp_of(arithmetic.d, -1000) == power_of_two(-149)
