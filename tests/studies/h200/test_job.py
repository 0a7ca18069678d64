"""The whole job, rehearsed in processes of its own on a stand-in that runs the model: to its end in several calls, and with
faults put in: hung, killed, crashed, out of memory, a wrong layout, a wrong operand route, wrong arithmetic and engine."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from golden import recording, recording_index
from studies.h200 import job as jobs
from studies.h200 import state as states
from studies.h200.job import Call, finished, run_call
from studies.h200.job_stages import PREBUILD, Stages
from studies.h200.job_stages import Job as StageJob
from studies.h200.state import RESULTS, State
from studies.h200.summary import agreed, summary
from studies.h200.unpack import main as unpacked
from studies.microbenchmarks.run import read_points
from studies.sparse_and_integer.hypotheses import outcomes_of
from tests.studies.h200.stand_in import ModelDevice, right

ROOT = Path(__file__).resolve().parents[3]
BF16, TF32 = "mma.m16n8k8.f32.bf16.bf16.f32", "mma.m16n8k8.f32.tf32.tf32.f32"
PATTERN = "mma*.m16n8k8.f32.[bt]f*"
"""bf16, tf32, sparse tf32, and their timed loops."""

TARGETS = (4_000, 9_000)


@pytest.fixture(autouse=True)
def _from_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def worker(fault: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "tests.studies.h200.stand_in", fault)


def call(folder: Path, number: int = 1, **changes: Any) -> Call:
    request: dict[str, Any] = {"seconds": 300.0, "pattern": PATTERN, "targets": TARGETS} | changes
    return Call(state=folder / "state", out=folder / f"out-{number}", **request)


def run(folder: Path, fault: str = "none", number: int = 1, hang: float = 60.0, **changes: Any) -> tuple[State, list[str]]:
    shown: list[str] = []
    state = run_call(call(folder, number, **changes), shown.append, worker(fault), hang)
    return state, shown


def status(state: State, name: str) -> list[str]:
    """Of an instruction, in self-test, recordings and volume."""
    return [state.done[stage][name]["status"] for stage in ("self-test", "recordings", "volume")]


@pytest.mark.slow
def test_whole_job_in_one_call(tmp_path: Path) -> None:
    state, shown = run(tmp_path)
    assert finished(call(tmp_path), state)
    assert agreed(state)
    assert shown[0] == "golden model, not a device (sm_90), driver none, model on native"
    assert shown[1:4:2] == ["0 kernels compiled or found", f"first results after {state.runs[0]['first_results']}"]
    assert float(state.runs[0]["first_results"].removesuffix(" s")) < jobs.BUDGETS[PREBUILD] + 15
    assert [status(state, name) for name in (BF16, TF32)] == [["done"] * 3] * 2
    volume = state.done["volume"][BF16]
    assert TARGETS[-1] <= sum(volume["vectors"].values()) < 2 * TARGETS[-1]
    assert volume["e_zero_results"] > 0
    into = tmp_path / "all"
    unpacked([tmp_path / "out-1"], into)
    index = recording_index.read_index(into / "recordings")
    assert sorted(entry["instruction"] for entry in index.values()) == [BF16, TF32]
    assert all(entry["rows"] >= recording.MIN_ROWS for entry in index.values())
    explained = outcomes_of(into / "tiles")["mma.sp.m16n8k8.f32.tf32.tf32.f32"]["explained_by"]
    assert "L=4 over the selected products" in explained
    points = read_points(into / "microbenchmarks" / "points.csv")
    assert {bool(point.note) for point in points} == {True, False}
    assert (into / "summary.txt").read_text() == summary(state) + "\n"


@pytest.mark.parametrize(("held", "unexpected"), [("HMMA.SP.1688.F32.TF32", {}), ("HMMA.SP", {"HMMA.SP": 1})])
def test_machine_code_of_an_instruction_outside_the_catalogue_is_compared(
    held: str, unexpected: dict[str, int], tmp_path: Path
) -> None:
    device = ModelDevice(right)
    run = device.run
    device.run = lambda *arguments: run(*arguments)._replace(machine_code={held: 1})  # type: ignore[method-assign]
    name = "mma.sp.m16n8k8.f32.tf32.tf32.f32"
    entry = Stages(device, StageJob(results=str(tmp_path), ends=float("inf")), lambda **content: None).tiles(name)
    assert (entry["machine_code"], entry["unexpected_code"]) == ({held: 1}, unexpected)
    state = State(done={"sparse and integers": {name: entry}})
    assert agreed(state) == (not unexpected)
    assert (
        "  the kernel lacks the expected machine instructions; it contains {'HMMA.SP': 1}" in summary(state).splitlines()
    ) == bool(unexpected)


@pytest.mark.long
def test_calls_go_on_where_the_last_one_stopped(tmp_path: Path) -> None:
    """The same command again and again, each stopped after a few seconds' work: together they give what one call gives, each
    item once."""
    shown: list[str] = []
    calls = 0
    while calls < 30 and not finished(call(tmp_path), states.load(tmp_path / "state")):
        state, lines = run(tmp_path, "slow", seconds=jobs.HAND_OVER_SECONDS + 2.5)
        shown, calls = shown + lines, calls + 1
    assert finished(call(tmp_path), state)
    assert calls > 1
    assert shown.count(f"self-test: {BF16}: done") == 1
    unpacked([tmp_path / "out-1"], tmp_path / "all")
    assert len(recording_index.read_index(tmp_path / "all" / "recordings")) == 2
    whole, _ = run(tmp_path / "whole")
    for name in (BF16, TF32):
        assert state.done["volume"][name]["vectors"] == whole.done["volume"][name]["vectors"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("fault", "stopped", "reason"),
    [
        ("hang", "hung", "no output for 120 s"),
        ("killed", "crashed", "its process was ended by SIGKILL; is there too little memory?"),
        ("crash", "crashed", "RuntimeError: an illegal instruction was encountered"),
    ],
)
def test_worker_that_stops_costs_one_instruction(
    fault: str, stopped: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The self-test meets it first; the others go on, and what it would have done later is not run."""
    monkeypatch.setattr("studies.h200.job_stages.COLD_SECONDS", 4.0)
    shorter = (sys.executable, "-c", SHORT_PATIENCE, fault)
    shown: list[str] = []
    state = run_call(call(tmp_path), shown.append, shorter, 4.0)
    assert status(state, BF16) == [stopped, "failed", "failed"]
    assert state.done["self-test"][BF16]["detail"] == reason.replace("120", "4")
    assert state.done["volume"][BF16]["detail"] == f"not run: self-test {stopped}: {reason.replace('120', '4')}"
    assert status(state, TF32) == ["done"] * 3
    assert not agreed(state)
    assert finished(call(tmp_path), state)


SHORT_PATIENCE = """
import sys
from studies.h200 import job_stages, job_worker
job_stages.COLD_SECONDS = 4.0
job_worker.COLD_SECONDS = 4.0
from tests.studies.h200.stand_in import DEVICES
sys.exit(job_worker.main(DEVICES[sys.argv[1]]))
"""


@pytest.mark.long
def test_what_hung_is_tried_again_on_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MMAU_ONCE", str(tmp_path / "mark"))
    shorter = (sys.executable, "-c", SHORT_PATIENCE, "hang-once")
    state = run_call(call(tmp_path), lambda line: None, shorter, 4.0)
    assert status(state, BF16)[0] == "hung"
    state = run_call(call(tmp_path, 2), lambda line: None, shorter, 4.0)
    assert status(state, BF16)[0] == "hung"
    state = run_call(call(tmp_path, 3, retry=True), lambda line: None, shorter, 4.0)
    assert status(state, BF16) == ["done"] * 3
    assert agreed(state)


@pytest.mark.long
def test_killed_call_loses_nothing_that_was_done(tmp_path: Path) -> None:
    """The whole call is killed while it measures; the next one goes on, and hands over what the first one had made."""
    script = f"""
import sys
from pathlib import Path
from studies.h200.job import Call, run_call
run_call(Call(state=Path(sys.argv[1]) / "state", out=Path(sys.argv[1]) / "out-1", seconds=300.0, pattern={PATTERN!r},
              targets={TARGETS}), lambda line: print(line, flush=True), {worker("slow")!r})
"""
    with subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("microbenchmarks:"):
                time.sleep(1.2 * jobs.SAVE_SECONDS)
                os.kill(process.pid, signal.SIGKILL)
                break
    before = states.load(tmp_path / "state")
    assert before.done["recordings"][BF16]["status"] == "done"
    assert not list((tmp_path / "out-1").glob("*.tar"))
    state, shown = run(tmp_path, number=2)
    assert finished(call(tmp_path), state)
    assert f"recordings: {BF16}" not in "\n".join(shown)
    unpacked([tmp_path / "out-2"], tmp_path / "all")
    assert len(recording_index.read_index(tmp_path / "all" / "recordings")) == 2


@pytest.mark.long
def test_memory_that_fits_few_tiles_is_enough(tmp_path: Path) -> None:
    state, _ = run(tmp_path, "memory")
    assert finished(call(tmp_path), state)
    assert agreed(state)


@pytest.mark.long
def test_memory_for_no_tile_is_that_instructions_status(tmp_path: Path) -> None:
    state, _ = run(tmp_path, "no-memory")
    assert status(state, TF32) == ["done", "done", "failed"]
    assert state.done["volume"][TF32]["detail"] == "out of memory: out of memory allocating 1,024 bytes"


@pytest.mark.long
def test_wrong_layout_shows_itself_apart_from_arithmetic(tmp_path: Path) -> None:
    state, _ = run(tmp_path, "layout")
    assert status(state, BF16) == ["failed"] * 3
    assert re.fullmatch(
        r"wrong layout: \d+ of 1024 elements of small-integer tiles, first \[0, \d+, \d\], 0x\w+ in place of 0x\w+",
        state.done["self-test"][BF16]["detail"],
    )
    assert state.done["recordings"][BF16]["detail"].startswith("not run: self-test failed: wrong layout: ")
    assert status(state, TF32) == ["done"] * 3


@pytest.mark.long
def test_wrong_layout_of_one_operand_route_is_named(tmp_path: Path) -> None:
    name = "wgmma.m64n8k16.f32.bf16.bf16"
    state, _ = run(tmp_path, "route", pattern=name)
    assert state.done["self-test"][name]["detail"].startswith("wrong layout (A from registers): ")


@pytest.mark.slow
def test_wrong_arithmetic_passes_the_self_test_and_is_found(tmp_path: Path) -> None:
    """The rows that differ are kept, and the recording is handed over but is no evidence."""
    state, _ = run(tmp_path, "arithmetic")
    assert status(state, BF16) == ["done"] * 3
    assert not agreed(state)
    entry = state.done["recordings"][BF16]
    wrong = sum(entry["mismatches"].values())
    assert 0 < wrong < sum(entry["vectors"].values())
    assert entry["kept"] == min(wrong, 4096)
    assert sum(state.done["volume"][BF16]["mismatches"].values()) > 0
    assert f"recordings: {BF16}: done, " in summary(state)
    unpacked([tmp_path / "out-1"], tmp_path / "all")
    names = [path.name for path in (tmp_path / "all" / "mismatches").iterdir()]
    assert names == [recording.file_name("sm_90", BF16)]


@pytest.mark.long
def test_wrong_engine_is_found_before_anything_is_compared_at_volume(tmp_path: Path) -> None:
    state, _ = run(tmp_path, "engine")
    assert state.done["self-test"]["engine"]["status"] == "failed"
    assert state.done["volume"][TF32]["detail"] == (
        "not run: self-test of the engine failed: engine native differs from the reference"
    )
    assert state.done["self-test"][TF32]["status"] == "done"


def test_state_that_is_none_is_refused_and_kept(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    path = tmp_path / "state" / "state.json"
    path.write_text("[]")
    with pytest.raises(ValueError, match=r"state\.json is no state of this job: .*; name another folder or remove it$"):
        run(tmp_path)
    assert path.read_text() == "[]"


def test_state_is_handed_over_too(tmp_path: Path) -> None:
    """A machine that starts afresh is given the state that the last call handed over."""
    request = call(tmp_path)
    request.out.mkdir(parents=True)
    (request.state / RESULTS).mkdir(parents=True)
    jobs.hand_over(request, State(device={"device": "x"}))
    assert json.loads((request.out / "state.json").read_text())["device"] == {"device": "x"}
