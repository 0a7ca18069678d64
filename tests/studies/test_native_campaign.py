"""The campaign program: it counts what it ran, finds a wrong engine and goes on, resumes, and refuses to mix versions."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import golden
from golden.stimulus import CLASSES
from mmau.jobs.provenance import ROOT
from studies import native_campaign
from studies.analysis.distinct_arithmetics import distinct_arithmetic
from studies.native_campaign import ROWS_A_CHUNK, run
from tests.golden.native.native_rows import needs_native
from tests.mmau.jobs.helpers import ThisProcess

pytestmark = needs_native

MADE_WITH = {"sources": "1", "library": "2", "commit": "3", "isa": "portable"}


@pytest.fixture(autouse=True)
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_campaign, "CHUNKS_A_TASK", 2)


def run_here(
    folder: Path, chunks: int, made_with: dict[str, str] = MADE_WITH, names: tuple[str, ...] = ()
) -> dict[str, Any]:
    """The outcome of so many chunks, computed in this process, so that a test can break an engine."""
    path = folder / "outcome.json"
    run(path, folder / "store", made_with, chunks * ROWS_A_CHUNK, ThisProcess(), names)
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def counted(outcome: dict[str, Any]) -> dict[str, Any]:
    """The parts that do not depend on time."""
    rows = {
        name: {key: value for key, value in row.items() if key not in ("made_with", "updated")}
        for name, row in outcome["operations"].items()
    }
    return outcome | {"operations": rows}


@pytest.mark.slow
def test_every_row_is_counted_once(tmp_path: Path) -> None:
    outcome = run_here(tmp_path, 7)
    assert (outcome["complete"], outcome["chunks"], outcome["not_done"]) == (True, 7, {})
    assert (outcome["rows"], outcome["wanted"]) == (7 * ROWS_A_CHUNK, 7 * ROWS_A_CHUNK)
    rows = outcome["operations"].values()
    assert all(list(row["rows_by_class"]) == list(CLASSES) for row in rows)
    assert sum(sum(row["rows_by_class"].values()) for row in rows) == outcome["rows"]
    assert sum(sum(row["rows_by_arithmetic"].values()) for row in rows) == 4 * ROWS_A_CHUNK
    assert sum(row["random_units"] for row in rows) == 3
    assert (outcome["rows_differing"], outcome["differences"]) == (0, [])


@pytest.mark.slow
def test_campaign_in_parts_ends_as_one_in_one_piece(tmp_path: Path) -> None:
    run_here(tmp_path / "parts", 2)
    store = tmp_path / "parts" / "store" / "results"
    before = {path: path.stat().st_mtime_ns for path in store.iterdir()}
    parts = run_here(tmp_path / "parts", 6, MADE_WITH | {"commit": "another"})
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert counted(parts) == counted(run_here(tmp_path / "whole", 6))


@pytest.mark.slow
@pytest.mark.parametrize("name", golden.OPERATIONS)
def test_random_units_are_drawn_of_every_operation(name: str) -> None:
    assert {native_campaign.random_unit(seed, (name,)).operation.name for seed in range(5)} == {name}


@pytest.mark.slow
def test_operations_are_added_to_an_outcome(tmp_path: Path) -> None:
    first = run_here(tmp_path, 1)
    (name,) = first["operations"]
    run_here(tmp_path, 3, MADE_WITH | {"commit": "4"}, ("IDPA",))
    both = run_here(tmp_path, 1, MADE_WITH | {"commit": "5"}, ("FTZ-FMA",))
    assert both["operations"][name] == first["operations"][name]
    assert {each: row["made_with"]["commit"] for each, row in both["operations"].items()} == {
        name: "3", "IDPA": "4", "FTZ-FMA": "5"
    }  # fmt: skip
    assert both["rows"] == both["wanted"] == 5 * ROWS_A_CHUNK == sum(row["rows"] for row in both["operations"].values())
    again = run_here(tmp_path, 2, names=("IDPA",))
    assert again["operations"]["IDPA"]["rows"] == 2 * ROWS_A_CHUNK
    assert again["operations"]["FTZ-FMA"] == both["operations"]["FTZ-FMA"]


@pytest.mark.parametrize(
    ("before", "rule"),
    [
        ({"complete": False, "rows_differing": 0, "operations": {}}, "operations are added to an outcome that is complete"),
        ({"complete": True, "rows_differing": 1, "operations": {}}, "operations are added to an outcome that is complete"),
        ([], "OUTCOME.json must hold the outcome of a campaign: "),
        ({"complete": True, "rows_differing": 0}, "OUTCOME.json must hold the outcome of a campaign: "),
    ],
)
def test_operations_are_not_added_to_what_is_no_whole_outcome(before: Any, rule: str, tmp_path: Path) -> None:
    (tmp_path / "outcome.json").write_text(json.dumps(before))
    with pytest.raises(ValueError, match=f"^{rule}"):
        run_here(tmp_path, 1, names=("IDPA",))


@pytest.mark.slow
@pytest.mark.parametrize("key", ["sources", "library", "isa"])
def test_results_of_other_versions_do_not_count(key: str, tmp_path: Path) -> None:
    def results() -> int:
        return sum(1 for _ in (tmp_path / "store" / "results").iterdir())

    run_here(tmp_path, 1)
    run_here(tmp_path, 1, MADE_WITH | {"commit": "another"})
    assert results() == 1
    run_here(tmp_path, 1, MADE_WITH | {key: "other"})
    assert results() == 2


@pytest.mark.slow
def test_chunks_that_cannot_be_compared_are_reported_and_the_others_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = native_campaign.run_chunk

    def run_chunk(chunk: int) -> native_campaign.Outcome:
        if chunk == 1:
            raise RuntimeError("no engine")
        return right(chunk)

    monkeypatch.setattr(native_campaign, "run_chunk", run_chunk)
    outcome = run_here(tmp_path, 3)
    assert (outcome["complete"], outcome["chunks"], outcome["wanted"]) == (False, 1, 3 * ROWS_A_CHUNK)
    assert outcome["not_done"] == {"chunks 0 to 1": "failed: RuntimeError: no engine"}
    monkeypatch.undo()
    assert run_here(tmp_path, 3)["complete"]


@pytest.mark.slow
def test_wrong_engine_is_recorded_with_its_row_and_the_rest_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = golden.Instruction.dot

    def dot(self: golden.Instruction, a: Any, b: Any, c: Any, scale_a: Any, scale_b: Any, *, engine: Any) -> Any:
        d = right(self, a, b, c, scale_a, scale_b, engine=engine)
        if engine == "native" and self == second:
            d[[70, 71]] ^= 1
        return d

    second = distinct_arithmetic()[1]
    monkeypatch.setattr(golden.Instruction, "dot", dot)
    outcome = run_here(tmp_path, 5)
    assert (outcome["complete"], outcome["chunks"], outcome["rows_differing"]) == (True, 5, 2)
    (difference,) = outcome["differences"]
    assert (difference["chunk"], difference["arithmetic"]) == (2, f"{second.arch} {second.name}")
    assert (difference["differing"], difference["rows"], difference["row"]) == (2, ROWS_A_CHUNK, 70)
    assert int(difference["native"], 16) ^ int(difference["reference"], 16) == 1
    a, b, c, *_ = difference["operands"]
    d = second.chain([int(code, 16) for code in a], [int(code, 16) for code in b], int(c, 16), (), ())
    assert d == int(difference["reference"], 16)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["s.json"],
        ["s.json", "s", "0"],
        ["s.json", "s", "-5"],
        ["s.json", "s", "x"],
        ["s.json", "s", "5", "6"],
        ["s.json", "s", "FMA"],
    ],
)
def test_wrong_arguments_are_status_2(words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(sys, "argv", ["campaign_native", *words])
    assert native_campaign.main() == 2
    assert capsys.readouterr().err.startswith("usage: ")


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.usefixtures("default_signals")
@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)])
def test_signal_keeps_what_is_done_and_leaves_no_process(number: signal.Signals, tmp_path: Path) -> None:
    outcome, store = tmp_path / "outcome.json", tmp_path / "store"
    program = subprocess.Popen(
        [sys.executable, "-m", "studies.native_campaign", outcome, store], cwd=ROOT, stderr=subprocess.PIPE,
        text=True, start_new_session=True,
    )  # fmt: skip
    until = time.monotonic() + 120
    while not list(store.glob("results/*.json")) and program.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    program.send_signal(number)
    _, told = program.communicate(timeout=120)
    assert program.returncode == 128 + number, told
    assert told.endswith(f"campaign: ended by {number.name}; finished tasks are stored, run it again to resume\n")
    assert not outcome.exists()
    with pytest.raises(ProcessLookupError):
        os.killpg(program.pid, 0)
