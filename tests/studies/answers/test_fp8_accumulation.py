"""The page on FP8's fraction bits: what it says follows from the trainings, and it is that of the committed ones."""

import copy
import json
from importlib.metadata import version
from typing import Any

import pytest

import golden
from golden.native.library import isa
from mmau.explore.network import measure
from mmau.jobs.provenance import processor
from studies.answers.fp8_accumulation import enough, findings, group_of, means, page, unchanged
from tests.docs.documents import ROOT
from tests.mmau.explore.network.network_units import t_fdpa

FOLDER = ROOT / "docs/evidence/explore"

OUTCOME: dict[str, Any] = json.loads((FOLDER / "fp8-accumulation.json").read_text(encoding="utf-8"))


@pytest.mark.slow
def test_page_is_that_of_its_trainings() -> None:
    files = page(OUTCOME)
    assert {"fp8-accumulation.md", "fp8-accumulation.svg"} == set(files)
    assert files["fp8-accumulation.md"] == (FOLDER / "fp8-accumulation.md").read_bytes(), "run make answers-fp8"
    changed = copy.deepcopy(OUTCOME)
    changed["trainings"][0]["loss"] += 1
    assert page(changed)["fp8-accumulation.md"] != files["fp8-accumulation.md"]


def test_every_training_of_the_space_was_done() -> None:
    rows = OUTCOME["trainings"]
    assert OUTCOME["not_done"] == {}
    assert OUTCOME["space"] == (ROOT / "examples/spaces/fp8-accumulation.toml").read_text(encoding="utf-8")
    keys = [(row["unit"], row["settings"]["promote_every"], row["seed"]) for row in rows]
    units, orders, seeds = ({key[place] for key in keys} for place in range(3))
    assert len(keys) == len(set(keys)) == len(units) * len(orders) * len(seeds)
    assert orders == {0, 4}
    assert all(row["longest_sum"]["forward"] == 4096 for row in rows)


def training(F: int, loss: float | None, error: float, seed: int = 0) -> dict[str, Any]:
    return {
        "unit": f"F={F}", "L": 16, "F": F, "seed": seed, "loss": loss, "loss_fp32": 0.5, "sum_error": error,
        "quantisation_error": 0.03, "settings": {"promote_every": 0},
    }  # fmt: skip


def test_enough_bits_are_those_from_which_on_all_suffice() -> None:
    assert enough({8: 0.4, 9: 0.0, 10: 0.3, 11: 0.1, 12: 0.05}, 0.1) == 11  # not 9, though it would do by itself
    assert enough({8: 0.0, 9: 0.0}, 0.1) == 8
    assert enough({8: 0.0, 9: 0.2}, 0.1) is None


def test_diverged_training_is_no_mean() -> None:
    rows = [training(8, 1.0, 0.1), training(8, None, 0.1, seed=1), training(9, 0.5, 0.1), training(9, 0.7, 0.1, seed=1)]
    assert means(rows, lambda row: row["loss"]) == {9: pytest.approx(0.6, abs=1e-15)}


def test_bits_that_change_nothing_are_reported() -> None:
    rows = [training(F, loss, 0.1, seed) for F, loss in ((8, 0.9), (9, 0.7), (10, 0.7)) for seed in (0, 1)]
    assert unchanged(rows) == 9
    assert unchanged(rows[:4]) is None
    rows[-1]["loss"] = 0.6  # of one seed
    assert unchanged(rows) is None


def test_findings_tell_all_thresholds() -> None:
    rows = [training(8, 1.0, 0.3), training(9, 0.55, 0.05), training(10, 0.5, 0.01), training(11, 0.5, 0.0)]
    assert findings(rows, [group_of(rows[0])], spread=0.1) == [
        "L = 16, in the unit: Δ loss is within one standard deviation of seeds from F = 9 on, and the sum's error below "
        "that of quantisation from F = 10 on. Trainings are the same, bit for bit, from F = 10 on."
    ]
    assert findings(rows[:1], [(16, 0)], spread=0.1) == [
        "L = 16, in the unit: Δ loss is within one standard deviation of seeds for no F here, and the sum's error below "
        "that of quantisation for no F here. Trainings are the same, bit for bit, for no F here."
    ]


@pytest.mark.peer
def test_committed_training_repeats() -> None:
    """With today's sources, where processor, instruction set and PyTorch are those of the outcome."""
    pytest.importorskip("torch", reason="PyTorch (extra `torch`) is not installed")
    made_with = OUTCOME["made_with"]
    here = {"processor": processor(), "isa": str(isa()), "torch": version("torch")}
    if here != {name: made_with[name] for name in here}:
        pytest.skip(f"trained on {made_with['processor']}, {made_with['isa']}, with PyTorch {made_with['torch']}")
    row = next(row for row in OUTCOME["trainings"] if row["unit"] == "L=32 F=12" and row["settings"]["promote_every"] == 0)
    golden.set_threads(1)
    try:
        found = measure(t_fdpa(L=32, F=12), row["settings"], row["seed"])
    finally:
        golden.set_threads(0)
    assert found == {key: row[key] for key in found}
