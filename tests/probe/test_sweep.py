"""The sweep goes on where it ended, tries again what an older probe did not recover, and its page is that of its file."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from probe import sweep
from probe.sweep import KINDS, RECOVERED, left, main
from probe.sweep_page import expected, page
from tests.docs.documents import ROOT

STATE: dict[str, Any] = json.loads((ROOT / "docs/probing.json").read_text(encoding="utf-8"))


def test_the_page_says_what_the_file_holds() -> None:
    assert (ROOT / "docs/probing-sweep.md").read_text(encoding="utf-8") == page(STATE), (
        "run python -m probe.sweep_page docs/probing.json docs/probing-sweep.md"
    )


def test_the_file_holds_units_of_today_each_once() -> None:
    assert STATE["vectors"] >= 1_000_000
    for kind in KINDS:
        units = [entry["unit"] for entry in STATE["entries"][kind]]
        assert len(set(units)) == len(units)
        assert set(units) <= set(expected(kind))


def entry(unit: str, verdict: str, sources: str) -> dict[str, Any]:
    unlike = {} if verdict in RECOVERED else {"true": {"F": 3}, "found": "T-FDPA F=4", "missed": 2}
    made = {"unit": unit, "operation": "T-FDPA", "verdict": verdict, "asked": 300, "seconds": 1.0, "sources": sources}
    return made | unlike


def test_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "catalogue", tuple)
    entries = [entry("random 0", "same", "old"), entry("random 1", "wrong", "old"), entry("random 2", "wrong", "new")]
    state = {"entries": {"catalogue": [], "random": entries}}
    assert list(left(state, 4, "new")) == [("random", 1), ("random", 3)]


def test_the_page_of_a_whole_sweep_and_of_one_that_is_not() -> None:
    whole = {kind: [entry(unit, "same", "a") for unit in expected(kind)] for kind in KINDS}
    text = page({"vectors": 10**6, "entries": whole})
    assert "The sweep is whole." in text
    assert "| random parameters | 1,000 of 1,000 | 1000 | 0 | 0 | 0 |" in text
    whole["random"][5] = entry("random 5", "wrong", "b")
    del whole["catalogue"][0]
    text = page({"vectors": 10**6, "entries": whole})
    assert "The sweep is not whole: units left, to which `make probing` goes on: 1." in text
    assert "- random 5, wrong: T-FDPA with F = 3; found T-FDPA F=4, which misses 2" in text
    assert f"a: {len(whole['catalogue']) + 999}, b: 1." in text


@pytest.mark.long
def test_a_sweep_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "catalogue", tuple)
    output = tmp_path / "sweep.json"
    arguments = [str(output), "--vectors", "1000", "--processes", "1"]
    assert main([*arguments, "--units", "1"]) == 0
    first = json.loads(output.read_text())
    assert main([*arguments, "--units", "3"]) == 0
    second = json.loads(output.read_text())
    assert second["entries"]["random"][0] == first["entries"]["random"][0]
    assert [one["unit"] for one in second["entries"]["random"]] == ["random 0", "random 1", "random 2"]
    assert second["summary"]["random"]["units"] == 3


@pytest.mark.long
def test_processes_end_with_the_one_that_started_them(tmp_path: Path) -> None:
    output = tmp_path / "sweep.json"
    command = [sys.executable, "-m", "probe.sweep", str(output), "--processes", "1", "--vectors", "1000"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, cwd=ROOT) as process:
        assert waited(output.exists)  # so that it is at the second unit, or waits for it
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        working = [child for child in children if is_working(child)]
        process.kill()
    assert working
    assert waited(lambda: not any(map(is_working, working)))


def waited(ready: Any) -> Any:
    """What is ready within a minute."""
    ends = time.monotonic() + 60
    while not (found := ready()) and time.monotonic() < ends:
        time.sleep(0.2)
    return found


def is_working(child: str) -> bool:
    """Whether a process that computes is there."""
    try:
        return b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()
    except OSError:
        return False
