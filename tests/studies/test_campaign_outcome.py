"""The committed outcome of the campaign: complete, over the whole catalogue, and without a difference."""

import json
from typing import Any

import pytest

from golden import OPERATIONS
from golden.stimulus import CLASSES
from mmau.jobs.provenance import ROOT
from studies.analysis.distinct_arithmetics import distinct_arithmetic
from studies.native_campaign import ROWS_A_CHUNK, VECTORS

OUTCOME = ROOT / "docs" / "evidence" / "campaign-native.json"


@pytest.fixture
def outcome() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(OUTCOME.read_text(encoding="utf-8"))
    return found


def test_it_is_complete_and_nothing_differed(outcome: dict[str, Any]) -> None:
    assert (outcome["complete"], outcome["rows_differing"], outcome["differences"]) == (True, 0, [])
    assert outcome["rows"] >= VECTORS


def test_it_counts_every_operation_class_and_arithmetic(outcome: dict[str, Any]) -> None:
    operations = outcome["operations"]
    assert operations.keys() == OPERATIONS.keys()
    for row in operations.values():
        assert row["rows_by_class"].keys() == CLASSES.keys()
        assert sum(row["rows_by_class"].values()) == row["rows"] >= 600_000
        assert sum(row["rows_by_arithmetic"].values()) + ROWS_A_CHUNK * row["random_units"] == row["rows"]
        assert row["random_units"] > 100
    assert sum(row["rows"] for row in operations.values()) == outcome["rows"] == outcome["wanted"]
    # An arithmetic that joins the catalogue waits for the next campaign (CONTRIBUTING.md).
    by_arithmetic = {name for row in operations.values() for name in row["rows_by_arithmetic"]}
    assert by_arithmetic <= {f"{i.arch} {i.name}" for i in distinct_arithmetic()}


def test_it_says_what_was_run(outcome: dict[str, Any]) -> None:
    for row in outcome["operations"].values():
        made_with = row["made_with"]
        assert all(
            made_with[key] for key in ("commit", "sources", "library", "compiler", "isa", "python", "numpy", "processor")
        )
        assert not made_with["commit"].endswith("+")
        assert row["updated"]
