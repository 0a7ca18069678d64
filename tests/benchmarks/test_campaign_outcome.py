"""The committed outcome of the campaign: complete, over the whole catalogue, and without a difference."""

import json
from typing import Any

import pytest

import golden
from benchmarks.campaign_native import ROWS_A_CHUNK, VECTORS
from golden import OPERATIONS
from golden.stimulus import CLASSES
from jobs.provenance import ROOT
from tests.golden.rows import distinct_arithmetic

OUTCOME = ROOT / "docs" / "campaign-native.json"


@pytest.fixture
def outcome() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(OUTCOME.read_text(encoding="utf-8"))
    return found


def test_it_is_complete_and_nothing_differed(outcome: dict[str, Any]) -> None:
    assert (outcome["complete"], outcome["rows_differing"], outcome["differences"]) == (True, 0, [])
    assert outcome["rows"] >= VECTORS


def test_it_counts_every_operation_class_and_arithmetic(outcome: dict[str, Any]) -> None:
    by_class = outcome["rows_by_operation_and_class"]
    # An operation that joins waits for the next campaign (CONTRIBUTING.md); those of GPUs are all there.
    of_gpus = {i.operation.name for i in golden.instructions() if i.arch.startswith(("sm_", "gfx"))}
    assert of_gpus <= by_class.keys() == outcome["random_units"].keys() <= OPERATIONS.keys()
    assert all(rows.keys() == CLASSES.keys() for rows in by_class.values())
    assert sum(sum(rows.values()) for rows in by_class.values()) == outcome["rows"]
    by_arithmetic = outcome["rows_by_arithmetic"]
    # An arithmetic that joins the catalogue waits for the next campaign (CONTRIBUTING.md).
    assert by_arithmetic.keys() <= {f"{i.arch} {i.name}" for i in distinct_arithmetic()}
    assert sum(by_arithmetic.values()) + ROWS_A_CHUNK * sum(outcome["random_units"].values()) == outcome["rows"]


def test_it_says_what_was_run(outcome: dict[str, Any]) -> None:
    made_with = outcome["made_with"]
    assert all(made_with[key] for key in ("commit", "sources", "library", "compiler", "isa", "python", "numpy", "processor"))
    assert not made_with["commit"].endswith("+")
