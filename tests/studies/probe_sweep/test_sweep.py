"""The sweep goes on where it ended, tries again what an older probe did not recover, and its page is that of its file."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from golden.chain import ADD_C, CHAIN_ORDERS, ChainTable
from mmau.jobs import Outcome, Task
from mmau.jobs.task import Limits
from mmau.probe import loop
from mmau.probe.model import CHAINED
from studies.probe_sweep import __main__, random_units
from studies.probe_sweep.__main__ import KINDS, RECOVERED, left, main, sources
from studies.probe_sweep.probe_sweep_page import expected, page
from studies.probe_sweep.random_units import random_unit
from tests.docs.documents import ROOT

STATE: dict[str, Any] = json.loads((ROOT / "docs/evidence/probing.json").read_text(encoding="utf-8"))


def test_the_page_says_what_the_file_holds() -> None:
    assert (ROOT / "docs/evidence/probing-sweep.md").read_text(encoding="utf-8") == page(STATE), (
        "run python -m studies.probe_sweep.probe_sweep_page docs/evidence/probing.json docs/evidence/probing-sweep.md"
    )


def test_the_file_holds_units_of_today_each_once() -> None:
    assert STATE["vectors"] >= 1_000_000
    for kind in KINDS:
        units = [entry["unit"] for entry in STATE["entries"][kind]]
        assert len(set(units)) == len(units)
        assert set(units) <= set(expected(kind))


def strangers(entries: list[dict[str, Any]]) -> list[str]:
    """Entries of random units that are not those of the units that their numbers draw."""
    units = [(entry, random_unit(int(entry["unit"].split()[1]), entry["unit"]).operation) for entry in entries]
    return [
        entry["unit"]
        for entry, operation in units
        if entry["operation"] != operation.name or entry.get("true", operation.parameters()) != operation.parameters()
    ]


def test_the_entries_belong_to_the_units_that_are_drawn() -> None:
    assert len(STATE["entries"]["random"]) >= 1000
    assert strangers(STATE["entries"]["random"]) == []


@pytest.mark.attack("devices that a probe must not name")
def test_units_drawn_from_another_list_of_operations_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random_units, "EARLIER", random_units.EARLIER[::-1])
    assert len(strangers(STATE["entries"]["random"])) > 300


def entry(unit: str, verdict: str, sources: str) -> dict[str, Any]:
    unlike = {} if verdict in RECOVERED else {"true": {"F": 3}, "found": "T-FDPA F=4", "missed": 2}
    made = {"unit": unit, "operation": "T-FDPA", "verdict": verdict, "asked": 300, "seconds": 1.0, "sources": sources}
    return made | unlike


def test_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(__main__, "catalogue", tuple)
    entries = [entry("random 0", "same", "old"), entry("random 1", "wrong", "old"), entry("random 2", "wrong", "new")]
    state = {"entries": {"catalogue": [], "random": entries}}
    assert list(left(state, 4, "new", ("catalogue", "random"))) == [("random", 1), ("random", 3)]
    tables: dict[str, Any] = {
        "entries": {kind: [] for kind in KINDS} | {"tables": [entry(expected("tables")[0], "same", "old")]}
    }
    assert [number for _, number in left(tables, 1100, "new", ("tables",))] == list(range(1, len(expected("tables"))))


def test_the_page_of_a_whole_sweep_and_of_one_that_is_not() -> None:
    whole = {kind: [entry(unit, "same", "a") for unit in expected(kind)] for kind in KINDS}
    text = page({"vectors": 10**6, "entries": whole})
    assert "The sweep is whole." in text
    assert "| random parameters | 1,100 of 1,100 | 1100 | 0 | 0 | 0 |" in text
    whole["random"][5] = entry("random 5", "wrong", "b")
    del whole["catalogue"][0]
    text = page({"vectors": 10**6, "entries": whole})
    assert "The sweep is not whole: units left, to which `make probing` goes on: 1." in text
    assert "- random 5, wrong: T-FDPA with F = 3; found T-FDPA F=4, which misses 2" in text
    of_random_units, tables = 1200, len(whole["tables"])
    assert f"a: {len(whole['catalogue']) + of_random_units + tables - 1}, b: 1." in text


@pytest.mark.attack("a unit that took longer than the page's limit, and one that was not found")
def test_the_page_counts_the_tables_that_are_not_found_in_time() -> None:
    state: dict[str, Any] = {
        "vectors": 10**6,
        "entries": {"tables": [entry(unit, "same", "a") for unit in expected("tables")]},
    }
    (first, second, *_), count = state["entries"]["tables"], len(state["entries"]["tables"])
    assert f"under each table; 0 of {count} took more than 60 s of one core or were not found." in page(state)
    first["seconds"] = 60.1
    second |= {"verdict": "unexplained", "true": {"F": 3}, "found": "T-FDPA F=4", "missed": 2}
    text = page(state)
    assert f"under each table; 2 of {count} took more than 60 s of one core or were not found." in text
    assert f"| {first['unit']} | same | 300 | 60.1 |" in text


def test_there_is_a_unit_for_every_order_and_every_key_of_a_chain_that_the_probe_searches() -> None:
    units = [random_units.table_unit(number) for number in range(len(expected("tables")))]
    assert len({unit.name for unit in units}) == len(units)
    for kind in {unit.operation.name for unit in units}:
        tables = [unit.chain for unit in units if unit.operation.name == kind]
        assert {(table.order, table.add_c) for table in tables} >= set(product(CHAIN_ORDERS, ADD_C)) - {
            ("in-order", "first")
        }
        for key in CHAINED:
            assert any(getattr(table, key) != getattr(ChainTable(), key) for table in tables), key
        assert any(table.convert for table in tables)


def test_the_digest_is_of_the_sources_of_the_probe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A digest of no file at all would call every probe the same."""
    before = sources()
    changed = tmp_path / "loop.py"
    changed.write_text("another probe")
    monkeypatch.setattr(loop, "__file__", str(changed))
    assert sources() != before


def test_a_unit_that_cannot_be_probed_is_reported_and_the_others_are_probed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It has no entry, so that the next sweep tries it again."""

    class Crashing:
        def __init__(self, workers: int) -> None:
            assert workers == 3

        def outcomes(self, work: str, tasks: list[Task], limits: Limits, scratch: Path) -> Iterator[Outcome]:
            assert (work, limits) == ("studies.probe_sweep.__main__:entry_of", Limits(start=120.0))
            yield Outcome(tasks[0], "crashed", 1.0, message="its process was ended by SIGSEGV")
            made = entry(tasks[1].name, "same", "")
            yield Outcome(tasks[1], "done", 1.0, {key: value for key, value in made.items() if key != "sources"})

    monkeypatch.setattr(__main__, "catalogue", tuple)
    monkeypatch.setattr(__main__, "Processes", Crashing)
    output = tmp_path / "sweep.json"
    assert main([str(output), "--kind", "random", "--units", "2", "--processes", "3", "--minutes", "2"]) == 1
    assert "random 0 crashed: its process was ended by SIGSEGV\n" in capsys.readouterr().err
    (made,) = json.loads(output.read_text())["entries"]["random"]
    assert made == entry("random 1", "same", sources())


@pytest.mark.long
def test_a_sweep_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(__main__, "catalogue", tuple)
    output = tmp_path / "sweep.json"
    arguments = [str(output), "--kind", "random", "--vectors", "1000", "--processes", "1"]
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
    command = [sys.executable, "-m", "studies.probe_sweep", str(output), "--processes", "1", "--vectors", "1000"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, cwd=ROOT) as process:
        assert waited(output.exists)  # so that it is at the second unit, or waits for it
        threads = Path(f"/proc/{process.pid}/task").glob("*/children")
        children = [child for thread in threads for child in thread.read_text().split()]
        working = [child for child in children if is_working(child)]
        process.kill()
    assert working
    assert waited(lambda: not any(map(is_working, working)))


def waited(ready: Any) -> Any:
    """The results that are ready within a minute."""
    ends = time.monotonic() + 60
    while not (found := ready()) and time.monotonic() < ends:
        time.sleep(0.2)
    return found


def is_working(child: str) -> bool:
    """Whether a process that computes is there."""
    try:
        return b"mmau.jobs.processes" in Path(f"/proc/{child}/cmdline").read_bytes()
    except OSError:
        return False
