"""Remains of a run that is killed outright, and of one in which a design of many cannot be run."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cosim
from cosim.regressions.coverage_job import main_job
from cosim.runner import run as runner
from golden import Unit
from mmau.cli import cosim_files, main
from tests.cosim.bench.test_scoreboard import E_UNIT, T_UNIT
from tests.cosim.runner.reports import failed, passed
from tests.cosim.runner.test_html_report import Reader
from tests.cosim.runner.test_report import read
from tests.mmau.cli.started import Started

DESIGNS = [Unit(name=name, operation=T_UNIT.operation) for name in ("first", "second", "third")]


NOT_BUILT = "verilator cannot build unit: x.v:1: %Error: no\nlog: /tmp/x.log"


def run_with(second: Callable[[], cosim.Report], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every design passes but the second, which ends so. Which were run is in the list."""
    asked: list[str] = []

    def run(design: Unit, *arguments: Any, **options: Any) -> cosim.Report:
        asked.append(design.name)
        return second() if design.name == "second" else passed()

    monkeypatch.setattr(runner, "run", run)
    return asked


def raising(error: Exception) -> Callable[[], cosim.Report]:
    def run() -> cosim.Report:
        raise error

    return run


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (cosim.SimulationError(NOT_BUILT), NOT_BUILT),
        (
            OSError(28, "No space left on device", "/tmp/mmau-cosim-x/unit.v"),
            "/tmp/mmau-cosim-x/unit.v: No space left on device",
        ),
    ],
    ids=["not built", "full disk"],
)
def test_design_that_cannot_be_run_stops_no_other(error: Exception, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The results of other designs are not lost, and a disk may have room again."""
    asked, done = run_with(raising(error), monkeypatch), list[cosim.Report]()
    with pytest.raises(cosim.CampaignError) as caught:
        cosim.run_many(DESIGNS, jobs=1, on_report=done.append)
    assert asked == ["first", "second", "third"]
    assert caught.value.reports == done == [passed(), passed()]
    assert caught.value.errors == {"second": said}
    assert str(caught.value) == f"second: {said}"


def test_command_shows_the_others_and_ends_with_status_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run_with(raising(cosim.SimulationError(NOT_BUILT)), monkeypatch)
    monkeypatch.setattr(cosim, "main_job", lambda: DESIGNS)
    junit = tmp_path / "j.xml"
    assert main.main(["cosim", "--junit", str(junit)]) == 2
    captured = capsys.readouterr()
    assert "2 of 2 units passed" in captured.out
    assert "mmau cosim: second: verilator cannot build unit: x.v:1: %Error: no" in captured.err
    root = read(junit.read_bytes())
    assert len(root.getElementsByTagName("testcase")) == 3
    assert len(root.getElementsByTagName("error")) == 1


@pytest.mark.slow
def test_fail_fast_ends_all(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = run_with(failed, monkeypatch)
    assert len(cosim.run_many(DESIGNS, jobs=1)) == 3
    asked.clear()
    assert cosim.run_many(DESIGNS, jobs=1, fail_fast=True) == [passed(), failed()]
    assert asked == ["first", "second"]


def test_report_that_cannot_be_written_does_not_cost_the_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def full(path: Path, content: bytes) -> None:
        raise OSError(28, "cannot be written: No space left on device", str(path))

    run_with(passed, monkeypatch)
    monkeypatch.setattr(cosim, "main_job", lambda: [T_UNIT, E_UNIT])
    monkeypatch.setattr(cosim_files, "write_atomically", full)
    assert main.main(["cosim", "--junit", str(tmp_path / "j.xml")]) == 2
    captured = capsys.readouterr()
    assert "2 of 2 units passed" in captured.out
    assert captured.err.splitlines()[-1] == f"mmau cosim: {tmp_path / 'j.xml'}: cannot be written: No space left on device"


def pid_of(run: Started, program: str) -> int:
    """The process that runs a program."""
    run.wait_for(program)
    return next(number for number, line in run.by_number().items() if line.startswith(program))


@pytest.mark.needs("icarus")
@pytest.mark.simulator
@pytest.mark.long
def test_killed_simulator_is_no_verdict_on_the_design(start: Callable[..., Started]) -> None:
    run = start("cosim", "--unit", "tiny.toml", "--sim", "icarus", "--vectors", "100000000")
    number = pid_of(run, "vvp -m")
    time.sleep(2)
    os.kill(number, signal.SIGKILL)
    out, err = run.process.communicate(timeout=120)
    assert (run.process.returncode, out) == (2, "")
    assert "mmau cosim: the simulation of unit broke off: vvp was ended by SIGKILL; is there too little memory?" in err
    assert run.processes() == []


@pytest.mark.needs("icarus")
@pytest.mark.simulator
@pytest.mark.long
def test_killed_campaign_leaves_what_was_done_and_no_simulator(start: Callable[..., Started]) -> None:
    run = start("cosim", "--sim", "icarus", "--vectors", "100", "--junit", "j.xml", "--html", "r.html")
    until = time.monotonic() + 120
    while not Path("r.html").exists():
        assert run.process.poll() is None, run.process.communicate()
        assert time.monotonic() < until
        time.sleep(0.02)
    run.wait_for("vvp -m")
    run.process.kill()
    run.process.communicate()
    suites = read(Path("j.xml").read_bytes())
    (unfinished,) = suites.getElementsByTagName("error")
    done = len(suites.getElementsByTagName("testcase")) - 1
    designs = len(main_job())
    assert unfinished.getAttribute("message") == f"{designs - done} designs are not done yet"
    assert 1 <= done < designs
    shown = Reader(Path("r.html").read_text()).text  # written after j.xml: the last design may be missing
    assert any(f"{number} of {designs} designs passed" in shown for number in (done - 1, done))
    until = time.monotonic() + 60
    while any("vvp" in line for line in run.processes()):
        assert time.monotonic() < until, run.processes()
        time.sleep(0.1)


@pytest.mark.needs("icarus")
@pytest.mark.simulator
def test_simulator_ends_with_its_parent(start: Callable[..., Started]) -> None:
    run = start("cosim", "--unit", "tiny.toml", "--sim", "icarus", "--vectors", "100000000")
    pid_of(run, "vvp -m")
    time.sleep(2)
    run.process.kill()
    run.process.communicate()
    until = time.monotonic() + 60  # on a busy machine the simulator may not have begun
    while run.processes():
        assert time.monotonic() < until, run.processes()
        time.sleep(0.05)
