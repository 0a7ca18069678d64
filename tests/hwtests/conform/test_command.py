"""`mmau conform`: its exit status and its one line where there is no GPU, and where the request is wrong."""

import json
import os
import re
from pathlib import Path

import pytest

from hwtests.conform import campaign
from mmau.cli import main
from tests.hwtests.conform.test_campaign import NAMES, stand_in

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(ROOT)
    return tmp_path / "report.json"


def run(*argv: object) -> int:
    return main.main(["conform", *map(str, argv)])


def on(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Campaigns of the command run on the stand-in with a fault."""
    monkeypatch.setattr(campaign.run_campaign, "__defaults__", (stand_in(fault), 60.0))


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "status"), [("none", 0), ("negative-c", 1)])
def test_status_says_whether_all_agreed(
    fault: str, status: int, report: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    on(fault, monkeypatch)
    assert run("--instr", NAMES[0], "--vectors", 10_000, "--report", report) == status
    captured = capsys.readouterr()
    assert captured.out.endswith("; seed 0, stand-in, not a device\n")
    assert json.loads(report.read_text())["agreed"] == (status == 0)
    assert "stand-in, not a device (sm_90)" in captured.err


@pytest.mark.slow
@pytest.mark.skipif(os.path.exists("/dev/nvidiactl"), reason="this machine has an NVIDIA driver")
def test_no_gpu_is_status_2_and_one_line(
    report: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(report.parent)  # a worker finds the packages from anywhere
    assert run("--report", report) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert re.fullmatch(
        r"mmau conform: (conformance needs CuPy|no usable CUDA device|no CUDA device was found).*\n", captured.err
    )
    assert not report.exists()


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("--vectors", 0), "--vectors must be at least 1 and --seed at least 0, got 0 and 0"),
        (
            ("--record", "no-such-folder"),
            "--record must name an existing folder, got no-such-folder; create it: mkdir -p no-such-folder",
        ),
        (("--arch", "sm_91"), r"architecture must be one of .*; got 'sm_91' \(did you mean 'sm_90'.*\)"),
    ],
)  # fmt: skip
def test_wrong_request_is_status_2(
    argv: tuple[object, ...], message: str, report: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*argv, "--report", report) == 2
    assert re.fullmatch(rf"mmau conform: {message}\n", capsys.readouterr().err)
