"""The division of a call's time, and what a worker that fails, hangs or ends early does to the others; on short items."""

import sys
import time
from pathlib import Path
from typing import Any

import pytest

import golden
from hwtests.device import DeviceError
from studies.lent_minutes import run
from studies.lent_minutes.instructions import wanted
from studies.lent_minutes.items import Item
from studies.lent_minutes.records import Records
from studies.lent_minutes.run import first_open, is_bad, run_list, summary

WORKER = """
import os, sys, time
from golden.processes import Channel
channel = Channel()
given = channel.receive()
item = given["item"]
machine = {"device": os.environ.get("OTHER", "none"), "driver": "1"}
if item == "no device":
    channel.send("error", message="CuPy is not installed")
    sys.exit(2)
channel.send("machine", machine=machine, run={"item": item})
if item == "missing":
    channel.send("error", message="cuBLASLt was not found")
    sys.exit(2)
if item == "dead":
    sys.exit("no such library")
for unit, entry in given["units"].items():
    channel.send("unit", unit=unit, entry=entry | {"status": "running"})
    if unit == "hangs":
        time.sleep(600)
    if unit == "crashes":
        os.abort()
    if unit == "slow":
        for turn in range(1000):
            time.sleep(0.1)
            channel.send("unit", unit=unit, entry={"status": "running", "turn": entry.get("turn", 0) + turn})
            if time.monotonic() >= given["ends"]:
                sys.exit(0)
    channel.send("unit", unit=unit, entry={"status": "done", "left": given["ends"] - time.monotonic()})
"""


def item(name: str, share: float, *units: str) -> Item:
    return Item(name, share, lambda: units, None)  # type: ignore[arg-type]


def call(
    folder: Path, monkeypatch: pytest.MonkeyPatch, items: tuple[Item, ...], seconds: float, **options: Any
) -> tuple[Records, list[str]]:
    monkeypatch.setattr(run, "ITEMS", items)
    monkeypatch.setattr(run, "HANG_SECONDS", 3.0)
    shown: list[str] = []
    return run_list(folder, seconds, shown.append, worker=(sys.executable, "-c", WORKER), **options), shown


def statuses(records: Records) -> dict[str, str]:
    return {unit: entry["status"] for units in records.units.values() for unit, entry in units.items()}


@pytest.mark.slow
def test_item_without_an_end_is_cut_off_at_its_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its reports are there, it stays open, and the other has its own share; a second call goes on where it was."""
    items = (item("x", 1, "slow"), item("y", 1, "b"))
    started = time.monotonic()
    records, _ = call(tmp_path, monkeypatch, items, 11.0)
    assert time.monotonic() - started < 11.0
    assert statuses(records) == {"slow": "running", "b": "done"}
    turn = records.units["x"]["slow"]["turn"]
    records, _ = call(tmp_path, monkeypatch, items, 6.0)
    assert records.units["x"]["slow"]["turn"] > turn > 0
    assert len([run for run in records.runs if run["item"] == "y"]) == 1
    assert first_open(records) is items[0]


@pytest.mark.slow
@pytest.mark.attack("a unit that says nothing beyond its item's share, and is not yet taken to hang")
def test_unit_that_does_not_answer_is_cut_off_at_the_end_of_its_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stays open, and the other item has its time."""
    monkeypatch.setattr(run, "ITEMS", (item("x", 1, "hangs"), item("y", 1, "b")))
    shown: list[str] = []
    records = run_list(tmp_path, 17.0, shown.append, worker=(sys.executable, "-c", WORKER))
    assert statuses(records) == {"hangs": "running", "b": "done"}
    assert "x: hangs: still at work when its time was up, and cut off" in shown


@pytest.mark.slow
@pytest.mark.attack("an item whose worker hangs, crashes, never begins, or reports an error, before other items")
def test_what_goes_wrong_costs_nobody_else_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    items = (
        item("x", 1, "a", "hangs", "b", "crashes", "c"), item("dead", 1, "d"), item("missing", 1, "e"), item("z", 1, "f"),
    )  # fmt: skip
    records, shown = call(tmp_path, monkeypatch, items, 120.0)
    assert statuses(records) == {"a": "done", "hangs": "hung", "b": "done", "crashes": "crashed", "c": "done", "f": "done"}
    assert "x: hangs: hung: no output for 3 s" in shown
    assert "dead: not run: the worker crashed before its first unit: no such library" in shown
    assert "missing: not run: cuBLASLt was not found" in shown
    assert is_bad(records.units["x"]["hangs"])
    assert "x: 3 of 5 done" in summary(records)
    again, _ = call(tmp_path, monkeypatch, items[:1], 60.0)
    assert len(again.runs) == len(records.runs)
    again, _ = call(tmp_path, monkeypatch, items[:1], 60.0, retry=True)
    assert statuses(again)["crashes"] == "crashed"
    assert len(again.runs) == len(records.runs) + 2


def test_list_that_cannot_begin_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DeviceError, match=r"^CuPy is not installed$"):
        call(tmp_path, monkeypatch, (item("no device", 1, "a"), item("y", 1, "b")), 30.0)


@pytest.mark.parametrize("broken", ["missing", "dead"])
@pytest.mark.attack("an item that cannot begin, first of those that a later call of the list finds open")
def test_item_that_cannot_begin_costs_the_items_after_it_nothing(
    broken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call(tmp_path, monkeypatch, (item("x", 1, "a"),), 30.0)
    records, shown = call(tmp_path, monkeypatch, (item("x", 1, "a"), item(broken, 1, "d"), item("y", 1, "b")), 30.0)
    assert statuses(records) == {"a": "done", "b": "done"}
    assert f"{broken}: not run: " in "\n".join(shown)


def test_results_of_another_device_are_not_mixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call(tmp_path, monkeypatch, (item("x", 1, "a"),), 30.0)
    monkeypatch.setenv("OTHER", "another")
    with pytest.raises(DeviceError, match=r"^the results are of another device or software, .*: name another folder$"):
        call(tmp_path, monkeypatch, (item("y", 1, "b"),), 30.0)


@pytest.mark.parametrize("seconds", [3.0, float("nan")])
def test_too_few_seconds_are_refused(seconds: float, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^--seconds must be more than 3, got (3|nan)$"):
        run_list(tmp_path, seconds, lambda line: None)


def test_instructions_are_those_without_rows_of_our_own() -> None:
    """Sparse ones on floating point first, the largest N last; none that is recorded."""
    found = wanted()
    assert not any(i.evidence == "recorded" for i in found)
    later = [i.n == 256 or not i.sparse or i.d.name == "int32" for i in found]
    assert later == sorted(later)
    largest = [i.n == 256 for i in found]
    assert largest == sorted(largest)
    names = {i.name for i in found}
    integers = ("mma.m16n8k32.s32.u8.s8.s32", "mma.m16n8k64.s32.s4.u4.s32", "wgmma.m64n8k256.s32.b1.b1.and.popc")
    asked_for = [golden.instruction("sm_90", name) for name in integers]
    asked_for += [i for i in golden.sparse_instructions("sm_90") if not i.name.startswith("wgmma.")]
    assert {i.name for i in asked_for if i.evidence != "recorded"} <= names
    assert "mma.m16n8k32.s32.s8.u8.s32" not in names


@pytest.mark.attack("a results file whose last line was cut off in its middle")
def test_line_that_was_cut_off_is_passed_over_and_nothing_is_appended_to_it(tmp_path: Path) -> None:
    records = Records(tmp_path)
    records.add(item="x", unit="a", entry={"status": "done"})
    records.add(item="x", unit="b", entry={"status": "done"})
    path = tmp_path / "results-001.jsonl"
    path.write_bytes(path.read_bytes()[:-9])
    again = Records(tmp_path)
    assert statuses(again) == {"a": "done"}
    again.add(item="x", unit="b", entry={"status": "failed"})
    assert statuses(Records(tmp_path)) == {"a": "done", "b": "failed"}


def test_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "results-001.jsonl").write_text('{"item": "x", "unit": "a", "entry": 3}\n')
    with pytest.raises(ValueError, match=r"has a line that is no result of the list: .*; name another folder$"):
        Records(tmp_path)
