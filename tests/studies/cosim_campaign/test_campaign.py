"""The campaign: its tasks reach every operation, and whatever a run does is counted, told and done again or kept."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import golden
from golden import Implementation, Unit
from golden.arithmetic.formats import E4M3, E5M2, FP32
from golden.operations import TFDPA
from golden.units.unit import ENCODINGS
from mmau.jobs import CRASHED, FAILED, TIMED_OUT, Record, Store, Task, run
from studies.cosim_campaign.__main__ import merged, outcome_of, page, read_outcome
from studies.cosim_campaign.tasks import (
    REPORT,
    SEEDS_A_UNIT,
    VECTORS,
    WAVE,
    campaign_units,
    seeds_of,
    simulate,
    tasks,
)
from tests.studies.cosim_campaign.works import CRASHING, HANGING, KILLING, simulate_badly, simulate_wrong

SMALL = Unit(name="small", operation=TFDPA(a=E4M3, b=E5M2, c=FP32, L=2, F=13, rho="RZ-FP32", e_zero=-133))
MADE_WITH = dict.fromkeys(
    ("commit", "sources", "verilator", "amaranth", "cocotb", "python", "numpy", "compiler", "isa", "processor"), "1"
)


def small_tasks(*seeds: int) -> list[Task]:
    """Tasks of few vectors."""
    (first, *_) = tasks(MADE_WITH, 1, [SMALL])
    return [Task(f"seed {seed}", {**first.content, "seed": seed, "vectors": 300}) for seed in seeds]


def campaign(folder: Path, work: Any, wanted: list[Task], **options: Any) -> list[Record]:
    with Store(folder, "campaign-cosim") as store:
        return run(wanted, work, store, workers=2, retry=True, **options)


def test_every_operation_has_its_vectors_in_every_encoding_and_in_stages() -> None:
    units = campaign_units()
    wanted = tasks(MADE_WITH, VECTORS)
    assert len(wanted) == SEEDS_A_UNIT * len(units)
    assert len({task.content["seed"] for task in wanted}) == len(wanted)
    of_unit = [wanted[number : number + SEEDS_A_UNIT] for number in range(0, len(wanted), SEEDS_A_UNIT)]
    for name in {i.operation.name for i in golden.instructions()}:
        mine = [(unit, each) for unit, each in zip(units, of_unit, strict=True) if unit.operation.name == name]
        assert sum(task.content["vectors"] for _, each in mine for task in each) >= VECTORS
        assert {unit.implementation.encoding for unit, _ in mine} == set(ENCODINGS)
        assert {unit.implementation.stages > 0 for unit, _ in mine} == {False, True}
        assert len({unit.operation for unit, _ in mine}) >= 2


def test_seeds_of_a_unit_do_not_depend_on_the_others() -> None:
    other = replace(SMALL, implementation=Implementation(stages=1))
    alone, beside = tasks(MADE_WITH, VECTORS, [SMALL]), tasks(MADE_WITH, VECTORS, [other, SMALL])
    seeds = [task.content["seed"] for task in beside]
    assert seeds == [*seeds_of(other), *seeds_of(SMALL)]
    assert [task.content["seed"] for task in alone] == seeds_of(SMALL)
    assert len(set(seeds)) == 2 * SEEDS_A_UNIT


def test_task_is_another_with_other_sources_and_the_same_with_another_commit() -> None:
    (first, *_) = tasks(MADE_WITH, VECTORS, [SMALL])
    assert tasks(MADE_WITH | {"commit": "2", "processor": "2"}, VECTORS, [SMALL])[0].key == first.key
    for key in ("verilator", "isa"):
        assert tasks(MADE_WITH | {key: "2"}, VECTORS, [SMALL])[0].key != first.key
    assert tasks(MADE_WITH, VECTORS, [replace(SMALL, implementation=Implementation(stages=1))])[0].key != first.key


def done(task: Task) -> Record:
    """The record of a task all of whose vectors are right."""
    result = {"passed": True, "received": task.content["vectors"], "mismatches": 0, "failures": [], "verilog": "0" * 64}
    return Record(task, "done", result, "", 1.0, None, None)


@pytest.mark.slow
def test_an_operation_that_is_run_again_takes_its_own_place_alone() -> None:
    first = outcome_of([done(task) for task in tasks(MADE_WITH, 10**6, only=["FMA", "IDPA"])], MADE_WITH)
    again = outcome_of([done(task) for task in tasks(MADE_WITH, 10**7, only=["IDPA"])], MADE_WITH | {"commit": "2"})
    both = merged(first, again)
    assert list(both["operations"]) == ["FMA", "IDPA"]
    assert both["operations"]["FMA"] == first["operations"]["FMA"]
    assert both["operations"]["IDPA"]["made_with"]["commit"] == "2"
    assert [run for run in both["runs"] if run["operation"] == "FMA"] == [
        run for run in first["runs"] if run["operation"] == "FMA"
    ]
    assert [run for run in both["runs"] if run["operation"] == "IDPA"] == again["runs"]
    assert both["vectors"] == sum(run["vectors"] for run in both["runs"]) > again["vectors"] >= 10**7
    assert "| `1` |" in page(both)
    assert "| `2` |" in page(both)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"operations": {}}'])
def test_a_file_that_is_no_outcome_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "outcome.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"outcome.json must hold the outcome of a campaign, to which --operation adds: "):
        read_outcome(path)


@pytest.mark.simulator
@pytest.mark.long
def test_simulator_that_crashes_or_never_ends_is_counted_and_the_rest_goes_on(tmp_path: Path) -> None:
    wanted = small_tasks(0, CRASHING, HANGING, KILLING, 4)
    run_before = campaign(tmp_path, simulate_badly, wanted, seconds=30.0)
    assert [record.status for record in run_before] == ["done", FAILED, TIMED_OUT, CRASHED, "done"]
    assert "SIGSEGV" in run_before[CRASHING].message
    outcome = outcome_of(run_before, MADE_WITH)
    assert (outcome["complete"], outcome["passed"], outcome["vectors"]) == (False, False, 600)
    assert "**Not every run passed.**" in page(outcome)
    new: list[Record] = []
    outcome = outcome_of(campaign(tmp_path, simulate, wanted, on_record=new.append), MADE_WITH)
    assert (outcome["complete"], outcome["passed"], outcome["vectors"]) == (True, True, 1500)
    assert sorted(record.task.name for record in new) == ["seed 1", "seed 2", "seed 3"]
    assert "Every result was right. 1,500 vectors, 0 mismatches" in page(outcome)


@pytest.mark.simulator
@pytest.mark.long
def test_wrong_datapath_is_reported_and_its_first_mismatch_written_with_a_wave(tmp_path: Path) -> None:
    (record,) = records = campaign(tmp_path, simulate_wrong, small_tasks(0))
    assert record.done
    assert record.result["mismatches"] > 0
    assert record.folder is not None
    report = json.loads((record.folder / REPORT).read_text())
    assert report["explanation"]["first"]["reproduced"]
    assert (record.folder / WAVE).stat().st_size > 0
    outcome = outcome_of(records, MADE_WITH)
    assert (outcome["complete"], outcome["passed"]) == (True, False)
    row = outcome["operations"]["T-FDPA"]
    assert (row["vectors"], row["mismatches"]) == (300, record.result["mismatches"])
    with pytest.raises(ValueError, match=r"^an outcome in which a run failed must be made again as a whole"):
        merged(outcome, outcome)
    assert "| **failed** |" in page(outcome)
