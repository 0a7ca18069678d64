"""Stores and sealed tables: whole after any end, damaged files set aside, one process at a time, nobody else's folder."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import mmau.jobs.store
from mmau.jobs import Outcome, Record, Store, Task, run
from mmau.jobs.provenance import sealed, unsealed
from tests.docs.documents import ROOT
from tests.mmau.jobs import works

TASKS = [Task(f"x = {x}", {"x": x}) for x in range(3)]


def filled(folder: Path) -> list[Path]:
    """A store of the squares; the files of its results."""
    with Store(folder, "squares") as store:
        for task in TASKS:
            store.keep(Outcome(task, "done", 1.0, task.content["x"] ** 2))
    return [folder / "results" / f"{task.key}.json" for task in TASKS]


def rerun(folder: Path) -> tuple[list[Any], list[str], list[str]]:
    """All results, the names of the tasks that ran again, and the damage, after a run."""
    new: list[Record] = []
    with Store(folder, "squares") as store:
        records = run(TASKS, works.square, store, workers=1, on_record=new.append)
        return [record.result for record in records], [record.task.name for record in new], store.damaged


@pytest.mark.slow
@pytest.mark.parametrize("step", [11, pytest.param(1, marks=pytest.mark.long)])
def test_store_is_whole_wherever_its_writer_is_killed(step: int, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.mmau.jobs.killed_writer", str(tmp_path), str(step)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    times = re.fullmatch(r"killed (\d+) times\n", done.stdout)
    assert times is not None
    assert int(times[1]) * step > 200


def another_task(path: Path) -> None:
    path.write_bytes((path.parent / f"{TASKS[0].key}.json").read_bytes())


def another_store(path: Path) -> None:
    other = path.parents[1].with_name("cubes")
    with Store(other, "cubes") as store:
        store.keep(Outcome(TASKS[1], "done", 1.0, 0))
    path.write_bytes((other / "results" / path.name).read_bytes())


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda path: path.write_bytes(b""), "Expecting value: line 1 column 1 (char 0)"),
        (lambda path: path.write_bytes(b"\x80"), "'utf-8' codec can't decode byte 0x80 in position 0: invalid start byte"),
        (lambda path: path.write_bytes(b"[]"), "list indices must be integers or slices, not str"),
        (lambda path: path.write_bytes(b"{}"), "'digest'"),
        (
            lambda path: path.write_bytes(b"[" * 100_000),
            "maximum recursion depth exceeded while decoding a JSON array from a unicode string",
        ),
        (
            lambda path: path.write_text(path.read_text().replace('"result": 1', '"result": 5')),
            "its digest does not match its content",
        ),
        (another_task, "its content is another task's"),
        (another_store, "it is of cubes, not of squares"),
        (a_folder, "[Errno 21] Is a directory"),
    ],
)
def test_damaged_result_is_set_aside_and_its_task_runs_again(
    spoil: Callable[[Path], object], why: str, tmp_path: Path
) -> None:
    folder = tmp_path / "store"
    damaged = filled(folder)[1]
    for number in range(2):
        spoil(damaged)
        results, again, (message,) = rerun(folder)
        assert (results, again) == ([0, 1, 4], ["x = 1"])
        assert message.startswith(f"{damaged} is damaged: {why}")
        aside = folder / "damaged" / f"{number}-{damaged.name}"
        assert message.endswith(f"; it is set aside as {aside}, and its task runs again")
        assert aside.exists()
    assert rerun(folder) == ([0, 1, 4], [], [])


def test_foreign_file_among_the_results_is_set_aside(tmp_path: Path) -> None:
    filled(tmp_path)
    foreign = tmp_path / "results" / "notes.txt"
    foreign.write_text("mine")
    results, again, (message,) = rerun(tmp_path)
    assert (results, again) == ([0, 1, 4], [])
    assert message.startswith(f"{foreign} is damaged: its name is no key of a task; it is set aside as ")
    assert (tmp_path / "damaged" / "0-notes.txt").read_text() == "mine"


@pytest.mark.slow
def test_changed_file_of_a_result_is_noticed(tmp_path: Path) -> None:
    task = Task("t", {"text": "a"})
    with Store(tmp_path, "files") as store:
        (record,) = run([task], works.write_files, store, workers=1)
        assert record.folder is not None
        (record.folder / "inner" / "wave.vcd").write_text("b")
        assert store.find(task) is None
        assert len(store.damaged) == 1
        (record,) = run([task], works.write_files, store, workers=1)
        assert record.folder is not None
        assert (record.folder / "inner" / "wave.vcd").read_text() == "a"


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}"])
def test_damaged_description_loses_nothing(content: bytes, tmp_path: Path) -> None:
    filled(tmp_path)
    (tmp_path / "store.json").write_bytes(content)
    results, again, damage = rerun(tmp_path)
    assert (results, again, len(damage)) == ([0, 1, 4], [], 1)
    assert json.loads((tmp_path / "store.json").read_text()) == {"what": "squares"}


def test_store_of_other_tasks_is_refused(tmp_path: Path) -> None:
    filled(tmp_path)
    with pytest.raises(ValueError, match=rf"^{tmp_path} holds results of squares, not of cubes: name another folder$"):
        Store(tmp_path, "cubes")
    assert rerun(tmp_path)[1] == []


def test_folder_that_is_no_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    text = f"{tmp_path} must be empty or a store of results, and has no store.json; name another folder"
    with pytest.raises(ValueError, match=f"^{text}$"):
        Store(tmp_path, "squares")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_store_is_open_in_one_process_at_a_time(tmp_path: Path) -> None:
    with Store(tmp_path, "squares"):
        text = f"{tmp_path} is in use by process {os.getpid()}: wait until it has ended, or name another folder"
        with pytest.raises(ValueError, match=f"^{text}$"):
            Store(tmp_path, "squares")
    Store(tmp_path, "squares").close()


def test_full_disk_while_keeping_is_one_message_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path)
    task = Task("new", {"x": 9})

    def full(path: Path, content: bytes, durable: bool = False) -> None:
        raise OSError(28, "cannot be written: No space left on device", str(path))

    with Store(tmp_path, "squares") as store:
        monkeypatch.setattr(mmau.jobs.store, "write_atomically", full)
        what = f"{tmp_path}/results/{task.key}.json: cannot be written: No space left on device"
        with pytest.raises(OSError, match=f"^{what}; finished tasks are stored: run this again to resume$"):
            store.keep(Outcome(task, "done", 1.0, 81))
        monkeypatch.undo()
    assert rerun(tmp_path) == ([0, 1, 4], [], [])


def test_value_that_is_stored_comes_back(tmp_path: Path) -> None:
    result = {"b": [1, 2.5, None, True, "é\n\ud800"], "a": 10**40}
    with Store(tmp_path, "values") as store:
        kept = store.keep(Outcome(TASKS[0], "done", 1.23456, result))
        found = store.find(TASKS[0])
    assert kept == found
    assert found is not None
    assert (found.result, found.seconds) == (result, 1.235)


def test_a_sealed_table_is_read_back() -> None:
    table = {"rows": [{"name": "×", "count": 1}, {}], "empty": [], "number": 1.5}
    assert unsealed(sealed(table)) == table
    assert len(sealed(table).splitlines()) == 9


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: "",
        lambda text: text[: len(text) // 2],
        lambda text: text.replace('"count": 1', '"count": 2'),
        lambda text: json.dumps({key: value for key, value in json.loads(text).items() if key != "digest"}),
        lambda text: json.dumps(json.loads(text) | {"more": True}),
        lambda text: "[]",
        lambda text: "[" * 100_000,
        lambda text: '{"digest": 1e999}',
        lambda text: '{"digest": "", "number": NaN}',
        lambda text: "\x00",
    ],
)
def test_a_table_that_was_changed_is_refused(spoil: object) -> None:
    text = spoil(sealed({"rows": [{"count": 1}]}))  # type: ignore[operator]
    with pytest.raises(ValueError, match=r"^it(s content does not match its digest| is no outcome)"):
        unsealed(text)
