"""The points that plots and page show."""

from mmau.explore.report.plotted_points import (
    components,
    equal_work,
    front_of,
    histogram,
    is_candidate,
    number_of,
    numbers_of_products,
    workloads,
)
from mmau.explore.run.result_records import with_costs_per_product
from tests.mmau.explore.report import sample

ERROR = "accuracy.normal.relative_error.p99"


def test_front_holds_no_point_that_differs_or_is_not_done() -> None:
    records = sample.records()
    for record in records:  # the smallest area: on the front, if it may be
        smallest = {"status": record["status"], "cosimulation": record["cosimulation"], "cost": {"area_um2": 1.0}}
        others = [other for other in records if other is not record]
        found = front_of([record | smallest | {"accuracy": records[4]["accuracy"]}, *others], "cost.area_um2", ERROR)
        differs = record["status"] != "done" or bool((record["cosimulation"] or {}).get("mismatches"))
        assert (0 in found) != differs, record["name"]
        assert is_candidate(record) != differs


def test_front_of_the_sample() -> None:
    records = sample.records()
    found = [records[number]["parameters"]["F"] for number in front_of(records, "cost.area_um2", ERROR)]
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
    assert front_of(records, equal_work(records, "cost.area_um2"), ERROR) == [1]
    assert front_of(records, "cost.area_um2", ERROR) == [0]  # what a step costs alone says the contrary


def test_equal_L_and_costs_that_no_products_share_are_compared_by_the_step() -> None:
    records = [{"cost": with_costs_per_product({"area_um2": area, "delay_ns": 5.0}, 4)} for area in (100.0, 120.0)]
    assert equal_work(records, "cost.area_um2") == "cost.area_um2"
    records[1] = {"cost": with_costs_per_product({"area_um2": 120.0, "delay_ns": 5.0}, 8)}
    assert equal_work(records, "cost.delay_ns") == "cost.delay_ns"


def test_cost_that_is_missing_is_missing_per_product() -> None:
    assert with_costs_per_product({"energy_pj": None, "cells": 12}, 4) == {
        "energy_pj": None, "cells": 12, "products": 4, "cells_per_product": 3.0, "energy_pj_per_product": None,
    }  # fmt: skip


def test_truth_values_and_text_are_no_numbers() -> None:
    record = {"proof": {"proved": True, "note": "3"}}
    assert number_of(record, "proof.proved") is None
    assert number_of(record, "proof.note") is None


def test_what_is_missing_is_empty() -> None:
    record = {"name": "x", "accuracy": None, "cost": None}
    assert (workloads([record]), histogram(record, "normal"), components(record)) == ([], [], {})
