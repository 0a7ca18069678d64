"""Result records: what they must have, what may be said of their proofs, and their columns."""

import math
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mmau.explore.columns import columns, described
from mmau.explore.compared import fronts
from mmau.explore.records import (
    check_records,
    components,
    equal_work,
    flattened,
    front,
    histogram,
    is_candidate,
    is_number,
    missing_columns,
    numbers_of_products,
    verdict,
    workloads,
)
from mmau.explore.tasks import with_costs_per_product
from tests.mmau.explore import sample

GOOD: dict[str, Any] = {"name": "one", "kind": "point", "status": "done", "parameters": {"L": 4}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": 3}, "record 0 must have the string name, got 3"),
        ({"parameters": None}, "record 0 must have the table parameters, got None"),
        ({"kind": "unit"}, "record 0: kind must be one of point, reference, got 'unit'"),
        ({"status": "ok"}, "record 0: status must be one of done, unfinished, invalid, failed, timed out, got 'ok'"),
        ({"proof": {"proved": "almost"}}, "record 0: proof.proved must be true, false or null, got 'almost'"),
        ({"proof": {"proved": 1}}, "record 0: proof.proved must be true, false or null, got 1"),
        (
            {"parameters": {"a.b": 1, "a": {"b": 2}}},
            "the values of a record must have distinct names, got parameters.a.b twice",
        ),
    ],
)
def test_record_that_is_none_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        check_records([GOOD | change])


def test_sample_is_accepted() -> None:
    check_records(sample.records())


def test_names_are_flat() -> None:
    flat = flattened({"cost": {"fpga": {"ecp5": {"luts": 7}}, "missing": {}}, "swept": ["L"]})
    assert flat == {"cost.fpga.ecp5.luts": 7, "swept": ["L"]}


@pytest.mark.parametrize(
    ("verified", "text", "state"),
    [
        ({}, "not co-simulated", "not compared"),
        ({"cosimulation": None, "proof": None}, "not co-simulated", "not compared"),
        ({"cosimulation": {}}, "not co-simulated", "not compared"),
        (sample.verified(0), "not co-simulated", "not compared"),
        ({"cosimulation": {"vectors": 10, "sent": 10, "received": 10}}, "not co-simulated", "not compared"),
        (sample.verified(1000), "1,000 vectors, no mismatch", "agrees"),
        (sample.verified(1000, proved=True), "1,000 vectors, no mismatch; proved", "agrees"),
        (sample.verified(1000, proved=False), "1,000 vectors, 0 mismatches; refuted", "differs"),
        (sample.verified(1000, reason="not decided"), "1,000 vectors, no mismatch; proof: not decided", "agrees"),
        (
            sample.verified(1000, proved=False, reason="refuted: a=0x1"),
            "1,000 vectors, 0 mismatches; proof: refuted: a=0x1",
            "differs",
        ),
        (sample.verified(1000, mismatches=2), "2 mismatches in 1,000 results", "differs"),
        (sample.verified(1000, received=999), "1,000 of 1,000 vectors sent, 999 results received", "differs"),
        (sample.verified(1000, received=900, sent=900), "900 of 1,000 vectors sent, 900 results received", "differs"),
        (sample.verified(1000, received=0), "co-simulation gave no result for 1,000 vectors", "differs"),
        ({"proof": {"proved": True}}, "not co-simulated; proved", "not compared"),
        ({"proof": {"vectors": 9, "sent": 9, "received": 9, "mismatches": 0}}, "not co-simulated", "not compared"),
    ],
)
def test_verdict_says_no_more_than_the_record(verified: dict[str, Any], text: str, state: str) -> None:
    assert verdict(GOOD | verified) == (text, state)


def test_missing_columns_have_their_reasons_and_points() -> None:
    found = missing_columns(sample.records())
    assert found == {
        (f"cost.{column}", sample.NO_STA): ["L=4 F=12 sign-magnitude"] for column in ("delay_ns", "power_mw", "energy_pj")
    }


ERROR = "accuracy.normal.relative_error.p99"


def test_front_holds_no_point_that_differs_or_is_not_done() -> None:
    records = sample.records()
    for record in records:  # the smallest area: on the front, if it may be
        smallest = {"status": record["status"], "cosimulation": record["cosimulation"], "cost": {"area_um2": 1.0}}
        others = [other for other in records if other is not record]
        changed = [record | smallest | {"accuracy": records[4]["accuracy"]}, *others]
        found = {number for each in fronts(changed, "cost.area_um2", ERROR) for number in each}
        differs = record["status"] != "done" or bool((record["cosimulation"] or {}).get("mismatches"))
        differs |= record["kind"] == "reference"
        assert (0 in found) != differs, record["name"]
        assert is_candidate(record) != differs


def test_front_of_the_sample() -> None:
    records = sample.records()
    (front_of_all,) = fronts(records, "cost.area_um2", ERROR)
    found = [records[number]["parameters"]["F"] for number in front_of_all]
    assert found == [12, 14, 18, 22, 25]  # of F = 10 one circuit differs, and the other is as large as F = 12


def test_front_of_unequal_L_is_that_of_equal_work() -> None:
    """A unit of eight products that costs a little more than one of four does twice the work of that in a step."""
    four, eight = sample.records()[6], sample.records()[18]
    assert [one["parameters"]["L"] for one in (four, eight)] == [4, 8]
    four["cost"] = with_costs_per_product({"area_um2": 100.0}, 4)
    eight["cost"] = with_costs_per_product({"area_um2": 120.0}, 8)
    assert (four["cost"]["area_um2_per_product"], eight["cost"]["area_um2_per_product"]) == (25.0, 15.0)
    eight["accuracy"] = four["accuracy"]
    records = [four, eight]
    assert numbers_of_products(records) == [4, 8]
    assert equal_work(records, "cost.area_um2") == "cost.area_um2_per_product"
    assert fronts(records, equal_work(records, "cost.area_um2"), ERROR) == [[1]]
    assert fronts(records, "cost.area_um2", ERROR) == [[0]]  # what a step costs alone says the contrary


def test_equal_L_and_costs_that_no_products_share_are_compared_by_the_step() -> None:
    records = [{"cost": with_costs_per_product({"area_um2": area, "delay_ns": 5.0}, 4)} for area in (100.0, 120.0)]
    assert equal_work(records, "cost.area_um2") == "cost.area_um2"
    records[1] = {"cost": with_costs_per_product({"area_um2": 120.0, "delay_ns": 5.0}, 8)}
    assert equal_work(records, "cost.delay_ns") == "cost.delay_ns"


def test_cost_that_is_missing_is_missing_per_product() -> None:
    assert with_costs_per_product({"energy_pj": None, "cells": 12}, 4) == {
        "energy_pj": None, "cells": 12, "products": 4, "cells_per_product": 3.0, "energy_pj_per_product": None,
        "tops_per_mm2": None, "tops_per_watt": None,
    }  # fmt: skip


@pytest.mark.parametrize(("meets", "wanted"), [(None, 16 / 2), (True, 16 / 4), (False, None)])
def test_throughput_is_that_of_the_clock(meets: bool | None, wanted: float | None) -> None:
    """8 products in 1,000 µm²: in 2 ns, the shortest period, 8 TOPS/mm²; in 4 ns, the wanted one, half as many."""
    cost = {"area_um2": 1000.0, "delay_ns": 2.0, "energy_pj": 4.0, "meets_clock": meets, "wanted": {"clock_ns": 4.0}}
    found = with_costs_per_product(cost, 8)
    assert found["tops_per_mm2"] == wanted
    assert found["tops_per_watt"] == (None if meets is False else 4.0)  # 16 operations, 4 pJ


def test_what_is_missing_is_empty() -> None:
    record = {"name": "x", "accuracy": None, "cost": None}
    assert (workloads([record]), histogram(record, "normal"), components(record)) == ([], [], {})


Pair = tuple[float | None, float | None]

VALUES = st.one_of(
    st.none(),
    st.integers(-3, 3),  # ties are the rule
    st.sampled_from([math.nan, math.inf, -math.inf, 0.0, -0.0, 0.1 + 0.2, 0.3, 2**53, 2**53 + 1, 2.0**53]),
    st.floats(allow_nan=True, allow_infinity=True),
)


def by_definition(pairs: list[Pair]) -> list[int]:
    """Every pair that no other one dominates, by comparing each with each."""

    def known(pair: Pair) -> bool:
        return all(value is not None and not math.isnan(value) for value in pair)

    def dominates(p: Pair, q: Pair) -> bool:
        two = [(a, b) for a, b in zip(p, q, strict=True) if a is not None and b is not None]
        return known(p) and all(a <= b for a, b in two) and any(a < b for a, b in two)

    return [n for n, pair in enumerate(pairs) if known(pair) and not any(dominates(other, pair) for other in pairs)]


@pytest.mark.slow
@given(st.lists(st.tuples(VALUES, VALUES), max_size=12))
@example([(1, 5), (2, 3), (2, 3), (2, 4), (3, 3), (None, 0)])
@example([(math.inf, math.inf)])
@example([(1, math.inf), (1, math.inf), (2, math.inf)])
@example([(2**53, 1), (2**53 + 1, 0), (2.0**53, 1)])
@example([(0.0, 1), (-0.0, 1), (math.nan, 0), (0, math.nan)])
def test_front_is_what_nothing_dominates(pairs: list[Pair]) -> None:
    assert front(pairs) == by_definition(pairs)


@pytest.mark.parametrize(
    ("key", "title", "better"),
    [
        ("cost.area_um2", "area (µm²)", "low"),
        ("cost.area_by_component.align", "area of align (µm²)", "low"),
        ("cost.delay_by_stages.3", "delay with 3 stages (ns)", "low"),
        ("cost.fpga.ecp5.luts", "ecp5: LUTs", "low"),
        ("cost.fpga.ecp5.fmax_mhz", "ecp5: clock (MHz)", "high"),
        ("accuracy.normal.relative_error.p99", "normal: relative error, 99th percentile", "low"),
        ("accuracy.normal.bias.mean_ulp", "normal: bias (ulp of the magnitude)", "zero"),
        ("accuracy.normal.magnitude_bias.mean_ulp", "normal: bias of the magnitude (ulp of the magnitude)", "zero"),
        ("accuracy.my.data.arithmetic_snr_db", "my.data: SNR of arithmetic alone (dB)", "high"),
        ("accuracy.normal.agreement.sm_90:mma.m16n8k16", "normal: agreement with sm_90:mma.m16n8k16 (share)", "high"),
        ("accuracy.network.loss_fp32", "network: loss fp32", None),
        ("parameters.implementation.encoding", "encoding", None),
        ("cosimulation.mismatches", "mismatches", None),
        ("proof.proved", "proved for every input", None),
        ("seconds.cost", "time for cost (s)", None),
    ],
)
def test_column_has_a_title_and_a_better_value(key: str, title: str, better: str | None) -> None:
    column = described(key, True)
    assert (column.title, column.better) == (title, better)


def test_columns_are_those_with_a_value_in_a_fixed_order() -> None:
    keys = [column.key for column in columns(sample.records())]
    assert keys[:8] == [
        "axes.L",
        "axes.F",
        "axes.encoding",
        "parameters.operation",
        "parameters.L",
        "parameters.F",
        "parameters.implementation.encoding",
        "cost.cells",
    ]
    tops = [key.partition(".")[0] for key in keys]
    assert list(dict.fromkeys(tops)) == ["axes", "parameters", "cost", "accuracy", "cosimulation", "proof", "seconds"]
    assert not [key for key in keys if "missing" in key or "tools" in key or "histogram" in key]


def test_text_and_truth_values_are_no_numbers() -> None:
    numbers = {column.key: column.number for column in columns(sample.records())}
    assert not numbers["parameters.operation"]
    assert not numbers["proof.proved"]
    assert numbers["parameters.L"]
    assert not is_number(True)
