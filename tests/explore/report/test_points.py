"""What plots and page take of the points."""

from explore.report.points import components, front_of, histogram, is_candidate, number_of, workloads
from tests.explore.report import sample

ERROR = "accuracy.normal.relative_error.p99"


def test_front_holds_no_point_that_differs_or_is_not_done() -> None:
    records = sample.records()
    for record in records:  # the smallest area: on the front, if it may be
        smallest = {"status": record["status"], "proof": record["proof"], "cost": {"area_um2": 1.0}}
        others = [other for other in records if other is not record]
        found = front_of([record | smallest | {"accuracy": records[4]["accuracy"]}, *others], "cost.area_um2", ERROR)
        differs = record["status"] != "done" or bool(record["proof"].get("mismatches"))
        assert (0 in found) != differs, record["name"]
        assert is_candidate(record) != differs


def test_front_of_the_sample() -> None:
    records = sample.records()
    found = [records[number]["parameters"]["F"] for number in front_of(records, "cost.area_um2", ERROR)]
    assert found == [12, 14, 18, 22, 25]  # of F = 10 one circuit differs, and the other is as large as F = 12


def test_truth_values_and_text_are_no_numbers() -> None:
    record = {"proof": {"proved": True, "note": "3"}}
    assert number_of(record, "proof.proved") is None
    assert number_of(record, "proof.note") is None


def test_what_is_missing_is_empty() -> None:
    record = {"name": "x", "accuracy": None, "cost": None}
    assert (workloads([record]), histogram(record, "normal"), components(record)) == ([], [], {})
