"""The limits of a call of the whole job: its seconds, how many workers may stop in a row, how much it hands over."""

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hwtests.conform.process import DeadlinePassed, WorkerStopped
from studies.h200 import job as jobs
from studies.h200 import state as states
from studies.h200.job import run_call
from studies.h200.state import RESULTS, State
from studies.h200.summary import agreed
from tests.studies.h200.test_job import ROOT, TF32, call


@pytest.fixture(autouse=True)
def _from_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


OVERRUNS = """
import sys, time
from studies.h200 import job_worker
from tests.studies.h200.stand_in import ModelDevice, right

class Overrunning(ModelDevice):
    def __init__(self):
        time.sleep(60.0 if sys.argv[1] == "cold start" else 0.5)
        super().__init__(right)

    def prebuild(self, seconds):
        time.sleep(60.0 if sys.argv[1] == "compiling ahead" else seconds)
        return 1

sys.exit(job_worker.main(Overrunning))
"""


@pytest.mark.slow
@pytest.mark.parametrize("where", ["cold start", "compiling ahead"])
def test_call_is_over_in_its_seconds_whatever_the_worker_is_at(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It starts slowly, or compiles for longer than it may."""
    monkeypatch.setattr(jobs, "HAND_OVER_SECONDS", 4.0)
    monkeypatch.setattr(jobs, "GRACE_SECONDS", 1.0)
    for seconds in (8.0, 24.0, 72.0):  # a machine that is busy with other things needs long to begin
        shown, folder = list[str](), tmp_path / str(seconds)
        folder.mkdir()
        started = time.monotonic()
        state = run_call(call(folder, seconds=seconds), shown.append, (sys.executable, "-c", OVERRUNS, where))
        assert seconds - 4.0 < time.monotonic() - started < seconds
        if not any(line.startswith("no time is left") for line in shown):
            break
    assert "the worker: still at work when the time was up, and cut off" in shown
    assert agreed(state)
    assert (folder / "out-1" / "state.json").exists()


DEVICE = {"device": "x", "arch": "sm_90", "driver": "", "runtime": "", "compiler": "", "engine": ""}


def test_item_that_is_cut_off_at_the_end_is_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It hangs perhaps, but nobody knows: it is not held against it."""
    ended_at: list[float] = []

    def cut_off(command: object, job: dict[str, Any], hang: float, *, deadline: float) -> Iterator[dict[str, Any]]:
        ended_at.append(deadline - job["ends"])
        yield {"event": "device", **DEVICE, "run": {}}
        for entry in ({"status": ""}, {"status": "running", "detail": ""}):
            yield {"event": "item", "stage": "volume", "name": TF32, "entry": entry}
        raise DeadlinePassed

    monkeypatch.setattr(jobs, "watched", cut_off)
    shown: list[str] = []
    state = run_call(call(tmp_path), shown.append)
    assert ended_at == [jobs.GRACE_SECONDS]
    assert TF32 in state.open_items("volume")
    assert agreed(state)
    assert f"volume: {TF32}: still at work when the time was up, and cut off" in shown
    assert (tmp_path / "out-1" / "state.json").exists()


def test_stage_in_which_every_worker_crashes_is_closed_for_the_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five times in a row; the other stages have their turn, and a stage pays for what its workers took."""
    clock, begun = [0.0], list[str]()

    def crashing(command: object, job: dict[str, Any], *limits: float, **more: float) -> Iterator[dict[str, Any]]:
        yield {"event": "device", **DEVICE, "run": {}}
        state = State(**job["state"])
        for stage in (stage for stage in states.STAGES if job["budgets"].get(stage, 1.0) > 0):
            for name in state.open_items(stage):
                begun.append(stage)
                yield {"event": "item", "stage": stage, "name": name, "entry": {"status": ""}}
                clock[0] += 11.0
                raise WorkerStopped("crashed", "an illegal address")

    monkeypatch.setattr(jobs, "watched", crashing)
    monkeypatch.setattr(jobs, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    shown: list[str] = []
    request = call(tmp_path, seconds=1000.0, pattern="wgmma.m64n[18]*", budgets={"self-test": 100.0, "recordings": 25.0})
    state = run_call(request, shown.append)
    assert {stage: begun.count(stage) for stage in begun} == {"self-test": 5, "recordings": 3, "volume": 5}
    assert "self-test: 5 workers in a row hung or crashed: no more of it in this call" in shown
    assert not state.complete()


def test_state_knows_what_waits_for_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "CALL_BYTES", 1 << 20)
    request = call(tmp_path)
    request.out.mkdir(parents=True)
    (request.state / RESULTS).mkdir(parents=True)
    (request.state / RESULTS / "large").write_bytes(bytes(1 << 20))
    jobs.hand_over(request, State())
    assert json.loads((request.out / "state.json").read_text())["waiting"] == ["large"]
