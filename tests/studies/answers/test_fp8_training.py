"""The campaign of trainings: its tasks are the space's, and a run that was interrupted goes on."""

from pathlib import Path
from typing import Any

import pytest

from golden.operations import OPERATIONS
from mmau.explore.design_space import Space
from mmau.explore.space_file import space_from_table
from mmau.jobs import Store, run
from studies.answers.fp8_training import outcome, tasks, work, workloads

TABLE: dict[str, Any] = {
    "name": "small",
    "fixed": {"operation": "T-FDPA", "a": "e4m3", "b": "e4m3", "c": "fp32", "rho": "RZ-FP32", "e_zero": -133, "L": 32},
    "sweep": {"F": [8, 25]},
    "reference": {"instructions": ["sm_90:wgmma.m64n8k32.f32.e4m3.e4m3"]},
    "accuracy": {
        "workloads": [
            "normal",
            {"kind": "network", "steps": 2, "batch": 2, "tests": 2},
            {"kind": "network", "promote_every": 4},
        ]
    },
}


def small(**changes: Any) -> Space:
    return space_from_table({**TABLE, **changes}, Path())


def test_tasks_are_every_unit_with_every_network_seed_after_seed() -> None:
    made = list(tasks(small(), 2, 3, {}))
    assert [task.name for task in made][:5] == [
        "fp32, seed 0", "fp32, seed 1", "fp32, seed 2", "F=8, promote_every=0, seed 0", "F=8, promote_every=4, seed 0",
    ]  # fmt: skip
    assert len(made) == 3 + 2 * 3 * 2
    assert len({task.key for task in made}) == len(made)
    assert [one["steps"] for one in workloads(small())] == [2, 50]


def test_table_that_is_no_unit_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"^F=0 is no unit: F must be an integer from 1 to 128, got 0$"):
        list(tasks(small(sweep={"F": [0]}), 1, 0, {}))


@pytest.mark.peer
def test_campaign_goes_on_where_it_was(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="PyTorch (extra `torch`) is not installed")
    space = small(accuracy={"workloads": [{"kind": "network", "steps": 2, "batch": 2, "tests": 2}]}, reference={})
    made = list(tasks(space, 1, 0, {}))
    with Store(tmp_path, "small") as store:
        first = run(made[:1], work, store, workers=1)
    with Store(tmp_path, "small") as store:
        again: list[str] = []
        records = run(made, work, store, workers=1, on_record=lambda record: again.append(record.task.name))
    assert again == ["F=25, promote_every=0, seed 0"]
    assert records[0].result == first[0].result
    found = outcome(space, records, {"commit": "none"})
    assert [(row["unit"], row["F"]) for row in found["trainings"]] == [("F=8", 8), ("F=25", 25)]
    assert found["not_done"] == {}
    assert set(OPERATIONS["T-FDPA"].unit_keys()) & set(found["trainings"][0]) >= {"L", "F", "rho"}
