"""The committed outcome of the campaign: complete, in every encoding, and without a mismatch."""

import re
from typing import Any

import pytest

import golden
from golden.units.unit import ENCODINGS
from mmau.jobs.provenance import ROOT
from rtl.designs.identity import unit_key
from studies.cosim_campaign.__main__ import not_run, page, read_outcome
from studies.cosim_campaign.tasks import SEEDS_A_UNIT, VECTORS, campaign_units

OUTCOME = ROOT / "mmau" / "prove" / "simulations.json"
PAGE = ROOT / "docs" / "evidence" / "campaign-cosim.md"

OF_PARTS = sorted({i.operation.name for i in golden.instructions()})

NEWER: set[tuple[str, str, int]] = set()
"""Unit, encoding and stages of what joined the campaign after the committed run: the page says so. A run of the operation
empties this."""


@pytest.fixture
def outcome() -> dict[str, Any]:
    return read_outcome(OUTCOME)


def test_it_is_complete_and_nothing_differed(outcome: dict[str, Any]) -> None:
    assert (outcome["complete"], outcome["passed"], outcome["mismatches"], outcome["failures"]) == (True, True, 0, {})
    assert all(run["passed"] and run["mismatches"] == 0 for run in outcome["runs"])


def test_it_has_the_vectors_of_every_operation_in_every_encoding_and_with_stages(outcome: dict[str, Any]) -> None:
    for name in OF_PARTS:
        runs = [run for run in outcome["runs"] if run["operation"] == name]
        assert sum(run["vectors"] for run in runs) == outcome["operations"][name]["vectors"] >= VECTORS
        assert {run["encoding"] for run in runs} == set(ENCODINGS)
        assert {run["stages"] > 0 for run in runs} == {False, True}
    seeds = [seed for run in outcome["runs"] for seed in run["seeds"]]
    assert len(seeds) == len(set(seeds)) == SEEDS_A_UNIT * len(outcome["runs"])
    assert sum(run["vectors"] for run in outcome["runs"]) == outcome["vectors"]


def test_it_has_every_unit_of_the_campaign_but_those_that_are_newer(outcome: dict[str, Any]) -> None:
    units = {(u.name, u.implementation.encoding, u.implementation.stages) for u in campaign_units()}
    runs = {(run["unit"], run["encoding"], run["stages"]) for run in outcome["runs"]}
    assert len(units) == len(campaign_units())
    assert len(runs) == len(outcome["runs"])
    assert units - runs == NEWER
    assert runs - units == set()
    assert {(u.name, u.implementation.encoding, u.implementation.stages) for u in not_run(outcome)} == NEWER
    assert all(
        f"{unit}, {encoding}, stages: {stages}\n" in page(outcome, not_run(outcome)) for unit, encoding, stages in NEWER
    )


def test_every_run_says_of_which_verilog_it_is(outcome: dict[str, Any]) -> None:
    units = {(u.name, u.implementation.encoding, u.implementation.stages): u for u in campaign_units()}
    for run in outcome["runs"]:
        assert run["design"] == unit_key(units[run["unit"], run["encoding"], run["stages"]])
        assert re.fullmatch(r"[0-9a-f]{64}", run["verilog"])
    assert len({run["verilog"] for run in outcome["runs"]}) == len(outcome["runs"])


def test_page_is_that_of_the_outcome(outcome: dict[str, Any]) -> None:
    assert page(outcome, not_run(outcome)) == PAGE.read_text(encoding="utf-8")
