"""The committed outcome of the campaign: complete, in every encoding, and without a mismatch."""

import json
from typing import Any

import pytest

from cosim.campaign.outcome import page
from cosim.campaign.tasks import SEEDS_A_UNIT, VECTORS
from golden import OPERATIONS
from golden.unit import ENCODINGS
from jobs.provenance import ROOT

OUTCOME = ROOT / "docs" / "campaign-cosim.json"


@pytest.fixture
def outcome() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(OUTCOME.read_text(encoding="utf-8"))
    return found


def test_it_is_complete_and_nothing_differed(outcome: dict[str, Any]) -> None:
    assert (outcome["complete"], outcome["passed"], outcome["mismatches"], outcome["failures"]) == (True, True, 0, {})
    assert all(run["passed"] and run["mismatches"] == 0 for run in outcome["runs"])


def test_it_has_the_vectors_of_every_operation_in_every_encoding_and_with_stages(outcome: dict[str, Any]) -> None:
    for name in OPERATIONS:
        runs = [run for run in outcome["runs"] if run["operation"] == name]
        assert sum(run["vectors"] for run in runs) == outcome["operations"][name]["vectors"] >= VECTORS
        assert {run["encoding"] for run in runs} == set(ENCODINGS)
        assert {run["stages"] > 0 for run in runs} == {False, True}
    seeds = [seed for run in outcome["runs"] for seed in run["seeds"]]
    assert len(seeds) == len(set(seeds)) == SEEDS_A_UNIT * len(outcome["runs"])
    assert sum(run["vectors"] for run in outcome["runs"]) == outcome["vectors"]


def test_it_says_what_was_run(outcome: dict[str, Any]) -> None:
    for row in outcome["operations"].values():
        made_with = row["made_with"]
        assert all(made_with[key] for key in ("commit", "sources", "library", "compiler", "isa", "python", "verilator"))
        assert not made_with["commit"].endswith("+")
        assert row["date"]


def test_page_is_that_of_the_outcome(outcome: dict[str, Any]) -> None:
    assert page(outcome) == OUTCOME.with_suffix(".md").read_text(encoding="utf-8")
