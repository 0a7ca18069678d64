"""The stages after the self-test: without an engine that passed it nothing is compared."""

from pathlib import Path
from typing import Any

import pytest

from golden import recording
from studies.h200.job_stages import Job, Stages
from tests.studies.h200.stand_in import ModelDevice, right

TF32 = "mma.m16n8k8.f32.tf32.tf32.f32"


class Comparing(ModelDevice):
    """Refuses to compute the model."""

    def dot(self, *_: Any) -> Any:
        raise AssertionError("the engine computes")

    def compare(self, *_: Any) -> Any:
        raise AssertionError("the engine compares")


def run(folder: Path, stages: tuple[str, ...], engine: str, **budgets: float) -> dict[str, dict[str, Any]]:
    """The state of the instruction afterwards, by stage."""
    tested = {"engine": {"status": engine, "detail": "why"}, TF32: {"status": "done", "detail": ""}}
    state: dict[str, Any] = {
        "planned": {"self-test": ["engine", TF32], **{stage: [TF32] for stage in stages}},
        "done": {"self-test": tested},
    }
    job = Job(results=str(folder), ends=float("inf"), budgets=budgets, targets=(10,), state=state)
    found = Stages(Comparing(right), job, lambda **content: None)
    found.run()
    return {stage: found.state.entry(stage, TF32) for stage in stages}


@pytest.mark.parametrize("status", ["failed", "hung", "crashed"])
def test_volume_does_not_run_on_an_engine_that_did_not_pass(status: str, tmp_path: Path) -> None:
    entry = run(tmp_path, ("volume",), status)["volume"]
    assert entry == {"status": "failed", "detail": f"not run: self-test of the engine {status}: why"}


def test_nothing_is_compared_before_the_engine_was_tested(tmp_path: Path) -> None:
    """Its test did not have its turn: what compares stays open for the next call."""
    found = run(tmp_path, ("recordings", "volume"), "", **{"self-test": 0.0})
    assert [entry["status"] for entry in found.values()] == ["", ""]


@pytest.mark.slow
def test_recording_is_made_and_not_compared_with_an_engine_that_did_not_pass(tmp_path: Path) -> None:
    entry = run(tmp_path, ("recordings",), "crashed")["recordings"]
    assert (entry["status"], entry["vectors"], entry["mismatches"], entry["rows_done"]) == ("done", {}, {}, False)
    assert entry["detail"] == "recorded and not compared: self-test of the engine crashed"
    assert len(recording.read(tmp_path / "recordings" / recording.file_name("sm_90", TF32))) >= recording.MIN_ROWS
