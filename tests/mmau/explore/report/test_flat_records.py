"""Result records: what they must have, and what may be said of their proofs."""

import re
from typing import Any

import pytest

from mmau.explore.report.flat_records import check_records, flattened, missing_columns, verdict
from tests.mmau.explore.report import sample

GOOD: dict[str, Any] = {"name": "one", "kind": "point", "status": "done", "parameters": {"L": 4}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": 3}, "record 0 must have the string name, got 3"),
        ({"parameters": None}, "record 0 must have the table parameters, got None"),
        ({"kind": "unit"}, "record 0: kind must be one of point, reference, got 'unit'"),
        ({"status": "ok"}, "record 0: status must be one of done, invalid, failed, timed out, got 'ok'"),
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


def test_no_record_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^a report needs at least one result record, got none$"):
        check_records([])


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
