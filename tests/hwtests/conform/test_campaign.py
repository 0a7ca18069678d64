"""Campaigns, each in a separate process as in use: reports, resuming, faults, hanging and crashing workers."""

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from golden.recordings.recording import MIN_ROWS
from golden.recordings.recording_index import read_index, read_listed
from hwtests.conform import campaign, campaign_worker
from hwtests.conform.campaign import Report, line_of, run_campaign, summary
from hwtests.conform.campaign_worker import Job
from hwtests.conform.instruction_progress import Progress
from hwtests.conform.process import WorkerStopped
from hwtests.device import DeviceError

PATTERN = "mma.m16n8k8.f32.*"
NAMES = ["mma.m16n8k8.f32.tf32.tf32.f32", "mma.m16n8k8.f32.bf16.bf16.f32", "mma.m16n8k8.f32.f16.f16.f32"]
VECTORS = 20_000


def stand_in(fault: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "tests.hwtests.conform.stand_in", fault)


@pytest.fixture(autouse=True, scope="module")
def _from_the_root() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(Path(__file__).resolve().parents[3])
        yield


def run(path: Path, fault: str = "none", hang_seconds: float = 60.0, **changes: object) -> tuple[Report, list[str]]:
    shown: list[str] = []
    request: dict[str, Any] = {"arch": None, "pattern": PATTERN, "vectors": VECTORS, "seed": 1} | changes
    report = run_campaign(Job(**request), path, shown.append, stand_in(fault), hang_seconds)
    return report, shown


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of one instruction, done."""
    path = tmp_path_factory.mktemp("finished") / "report.json"
    run(path, pattern=NAMES[0])
    return path


@pytest.fixture
def copied(finished: Path, tmp_path: Path) -> Path:
    """Another report like it, which a test may change."""
    path = tmp_path / "report.json"
    path.write_bytes(finished.read_bytes())
    return path


@pytest.mark.slow
def test_campaign_checks_every_instruction_of_the_pattern_and_then_has_nothing_to_do(tmp_path: Path) -> None:
    report, shown = run(tmp_path / "report.json")
    assert list(report.instructions) == NAMES
    assert all(p.status == "done" and p.total() >= VECTORS and not p.wrong() for p in report.instructions.values())
    assert report.complete()
    assert report.agreed()
    assert shown[0] == "stand-in, not a device (sm_90), driver none, model on stand-in"
    written = json.loads((tmp_path / "report.json").read_text())
    assert (written["complete"], written["agreed"], written["seed"]) == (True, True, 1)
    assert written["instructions"][NAMES[0]]["machine_code"] == {"STAND.IN": 1}
    (made,) = written["runs"]
    assert (made, made["uuid"], made["sources"]) == (report.runs[0], "none", campaign_worker.sources())
    assert re.fullmatch(r"[0-9a-f]{40}\+?|unknown", made["commit"])
    assert report.instructions[NAMES[0]].sha256 == {"": "0" * 64}
    again, shown = run(tmp_path / "report.json")
    assert again.instructions == report.instructions
    assert len(shown) == 1


@pytest.mark.slow
def test_more_vectors_go_on_from_there(copied: Path, tmp_path: Path) -> None:
    before = json.loads(copied.read_text())["instructions"][NAMES[0]]["next_tile"]
    more, at_once = (
        run(path, pattern=NAMES[0], vectors=2 * VECTORS)[0].instructions[NAMES[0]]
        for path in (copied, tmp_path / "other.json")
    )
    assert before < more.next_tile
    assert more.vectors == at_once.vectors


@pytest.mark.slow
def test_time_limit_stops_and_resumes(tmp_path: Path) -> None:
    one: dict[str, Any] = {"pattern": NAMES[0], "seconds": 0.0}
    report, _ = run(tmp_path / "report.json", **one)
    assert not report.complete()
    assert report.agreed()
    assert summary(report).endswith("\nnot complete: run the same command again to resume")
    for _ in range(3):  # a step each: the rows, the tiles, the end
        report, _ = run(tmp_path / "report.json", **one, record=str(tmp_path))
    assert report.complete()
    assert len(read_index(tmp_path)) == 1


@pytest.mark.slow
def test_fault_is_reported(tmp_path: Path) -> None:
    report, _ = run(tmp_path / "report.json", "negative-c")
    assert not report.agreed()
    assert report.complete()
    first = json.loads((tmp_path / "report.json").read_text())["instructions"][NAMES[0]]["first"]
    assert first["c"] == 0x80000000
    text = summary(report)
    assert re.search(rf"^{NAMES[0]}: [\d,]+ of [\d,]+ differ: [\d,]+ of [\d,]+ in bits, ", text, re.MULTILINE)
    assert "  expected fp32 0x80000000 1_00000000_00000000000000000000000 zero sign=1" in text
    assert re.search(
        r"^3 of 3 instructions done: [\d,]+ results compared, [\d,]+ differ; seed 1, stand-in, not a device$", text, re.M
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "status", "detail"),
    [
        ("fail", "failed", "NVRTC refuses a kernel for sm_90a:"),
        ("crash", "crashed", "RuntimeError: an illegal instruction was encountered"),
        ("hang", "hung", "no output for 6 s"),
    ],
    ids=["fail", "crash", "hang"],
)
def test_kernel_that_stops_costs_its_instruction_alone_until_it_is_asked_for_again(
    fault: str, status: str, detail: str, tmp_path: Path
) -> None:
    report, shown = run(tmp_path / "report.json", fault, hang_seconds=6.0)
    assert [report.instructions[name].status for name in NAMES] == ["done", status, "done"]
    assert report.instructions[NAMES[1]].detail == detail
    assert not report.agreed()
    assert f"{NAMES[1]}: {status}: {detail}" in summary(report)
    workers = [line for line in shown if "stand-in, not a device" in line]
    assert len(workers) == (1 if fault == "fail" else 2)
    again, _ = run(tmp_path / "report.json")
    assert again.instructions[NAMES[1]].status == status
    retried, _ = run(tmp_path / "report.json", retry=True)
    assert [retried.instructions[name].status for name in NAMES] == ["done"] * 3
    assert retried.agreed()


@pytest.mark.slow
def test_full_standard_error_stops_nothing(tmp_path: Path) -> None:
    report, _ = run(tmp_path / "report.json", "babble", pattern=NAMES[0])
    assert report.complete()


@pytest.mark.slow
def test_slow_start_is_not_hung(tmp_path: Path) -> None:
    """The worker takes longer for its first event than later events may take."""
    report, _ = run(tmp_path / "report.json", "slow-start", hang_seconds=4.0, pattern=NAMES[0], vectors=1)
    assert report.complete()


def test_restarted_worker_gets_the_seconds_that_are_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each worker takes 40 of 100 seconds and crashes: the third gets 20, and there is no fourth."""
    given: list[float | None] = []
    clock = [0.0]

    def watched(command: object, job: dict[str, Any], *limits: float) -> Iterator[dict[str, Any]]:
        given.append(job["seconds"])
        clock[0] += 40
        device = {"device": "x", "arch": "sm_90", "driver": "", "runtime": "", "compiler": "", "engine": ""}
        yield {"event": "device", **device, "run": {}}
        yield {"event": "plan", "instructions": ["x"]}
        yield {"event": "progress", "instruction": "x", **asdict(Progress())}
        raise WorkerStopped("crashed", "again")

    monkeypatch.setattr(campaign, "watched", watched)
    monkeypatch.setattr(campaign, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    run_campaign(Job(arch=None, pattern="*", vectors=1, seed=1, seconds=100.0), tmp_path / "r.json", lambda line: None)
    assert given == [100.0, 60.0, 20.0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "changes", "message"),
    [
        ("no-device", {}, "no usable CUDA device on this machine: driver too old$"),
        ("none", {"arch": "Ampere"}, "--arch says sm_80, but this machine's GPU, stand-in, not a device, is sm_90$"),
        ("none", {"pattern": "mma.m9*"}, r"no instruction of sm_90 fits the pattern 'mma\.m9\*'; `mmau list --arch sm_90`"),
    ],
    ids=["device", "architecture", "pattern"],
)
def test_request_that_nothing_here_fits_is_one_line(
    fault: str, changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(DeviceError, match=f"^{message}"):
        run(tmp_path / "report.json", fault, **changes)
    assert (tmp_path / "report.json").exists() == (fault == "none")


@pytest.mark.slow
def test_recordings_are_written_although_the_instruction_was_checked_before(copied: Path, tmp_path: Path) -> None:
    run(copied, pattern=NAMES[0], record=str(tmp_path))
    index = read_index(tmp_path)
    assert [entry["instruction"] for entry in index.values()] == [NAMES[0]]
    recording = read_listed(tmp_path, next(iter(index)))
    assert len(recording) >= MIN_ROWS
    assert recording.header.device == "stand-in, not a device"


@pytest.mark.parametrize("text", ["", "[]", '{"version": 1}', '{"version": 1, "seed": 1, "instructions": {"x": {"y": 1}}}'])
def test_report_that_is_none_is_refused_and_kept(text: str, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"report\.json is no conformance report: .*; name another file or remove it$"):
        run(path)
    assert path.read_text() == text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "seed", "message"),
    [
        ("", "", 2, "is a report of version 2 with seed 1, this run is version 2 with seed 2"),
        ('"driver": "none"', '"driver": "CUDA 13.0"', 1, "the report is of another device or software, "),
        (
            campaign_worker.sources(),
            "0" * 64,
            1,
            "the models or kernels have changed since this report was written, .*: name",
        ),
    ],
    ids=["seed", "device", "sources"],
)
def test_report_of_something_else_is_refused(old: str, new: str, seed: int, message: str, copied: Path) -> None:
    """Agreement of an earlier model says nothing about the present model."""
    copied.write_text(copied.read_text().replace(old, new) if old else copied.read_text())
    with pytest.raises(ValueError, match=message):
        run(copied, pattern=NAMES[0], seed=seed)


def test_line_of_an_instruction_says_that_corners_come_beside_what_was_asked_for() -> None:
    progress = Progress(vectors={"bits": 500, "ties": 41}, mismatches={"ties": 2}, seconds=1.25, status="done")
    assert line_of("mma", progress, 500) == "mma: 541 of at least 500 compared, 2 differ, 1.2 s, done"
