"""The campaign program: it counts what it ran, finds a wrong engine and goes on, resumes, and refuses to mix versions."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import golden
from benchmarks import campaign_native, provenance
from benchmarks.campaign_native import ROWS_A_CHUNK, new_state, read_state, run
from golden.stimulus import CLASSES
from tests.golden.native_rows import needs_native
from tests.golden.rows import distinct_arithmetic

pytestmark = needs_native

MADE_WITH = {"sources": "1", "library": "2", "commit": "3", "isa": "portable"}


class ThisProcess:
    map = staticmethod(map)


@contextmanager
def this_process() -> Iterator[Any]:
    yield ThisProcess()


@pytest.fixture(autouse=True)
def one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks are computed here, two a batch, so that a test can break an engine."""
    monkeypatch.setattr(campaign_native, "worker_pool", this_process)
    monkeypatch.setattr(campaign_native, "CHUNKS_A_BATCH", 1)


def counted(state: dict[str, Any]) -> dict[str, Any]:
    """What does not depend on time."""
    return {key: value for key, value in state.items() if key not in ("started", "updated", "seconds")}


@pytest.mark.slow
def test_every_row_is_counted_once(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    run(path, new_state(MADE_WITH), 7 * ROWS_A_CHUNK - 1)
    state = json.loads(path.read_text(encoding="utf-8"))
    assert (state["complete"], state["chunks"], state["rows"], state["wanted"]) == (True, 7, *[7 * ROWS_A_CHUNK] * 2)
    by_class = state["rows_by_operation_and_class"].values()
    assert all(list(rows) == list(CLASSES) for rows in by_class)
    assert sum(sum(rows.values()) for rows in by_class) == state["rows"]
    assert sum(state["rows_by_arithmetic"].values()) == 4 * ROWS_A_CHUNK
    assert sum(state["random_units"].values()) == 3
    assert (state["rows_differing"], state["differences"]) == (0, [])


@pytest.mark.slow
def test_interrupted_run_ends_as_one_that_was_not(tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole.json", tmp_path / "parts.json"
    run(whole, new_state(MADE_WITH), 6 * ROWS_A_CHUNK)
    run(parts, new_state(MADE_WITH), 2 * ROWS_A_CHUNK)
    run(parts, read_state(parts, MADE_WITH | {"commit": "another"}), 6 * ROWS_A_CHUNK)
    found = [json.loads(path.read_text(encoding="utf-8")) for path in (whole, parts)]
    assert counted(found[0]) == counted(found[1])


def test_wrong_engine_is_recorded_with_its_row_and_the_rest_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = golden.Instruction.dot

    def dot(self: golden.Instruction, a: Any, b: Any, c: Any, scale_a: Any, scale_b: Any, *, engine: Any) -> Any:
        d = right(self, a, b, c, scale_a, scale_b, engine=engine)
        if engine == "native" and self == second:
            d[[70, 71]] ^= 1
        return d

    second = distinct_arithmetic()[1]
    monkeypatch.setattr(golden.Instruction, "dot", dot)
    path = tmp_path / "state.json"
    run(path, new_state(MADE_WITH), 5 * ROWS_A_CHUNK)
    state = json.loads(path.read_text(encoding="utf-8"))
    assert (state["complete"], state["chunks"], state["rows_differing"]) == (True, 5, 2)
    (difference,) = state["differences"]
    assert (difference["chunk"], difference["arithmetic"]) == (2, f"{second.arch} {second.name}")
    assert (difference["differing"], difference["rows"], difference["row"]) == (2, ROWS_A_CHUNK, 70)
    assert int(difference["native"], 16) ^ int(difference["reference"], 16) == 1
    a, b, c, *_ = difference["operands"]
    d = second.chain([int(code, 16) for code in a], [int(code, 16) for code in b], int(c, 16), (), ())
    assert d == int(difference["reference"], 16)


@pytest.mark.parametrize("key", ["sources", "library", "isa"])
def test_state_of_other_versions_is_refused(key: str, tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    run(path, new_state(MADE_WITH), ROWS_A_CHUNK)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=f"was made with {key} {MADE_WITH[key]}, now it is other: results of different"):
        read_state(path, MADE_WITH | {key: "other"})
    assert path.read_bytes() == before


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"made_with": {}, "seed": 0}', '{"made_with": 1, "seed": 0}'])
def test_file_that_is_no_state_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"is no state of a campaign"):
        read_state(path, MADE_WITH)


def test_digest_follows_every_source_of_the_engines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    names = {path.relative_to(provenance.ROOT).as_posix() for path in provenance.sources()}
    assert {
        "golden/steps.py", "golden/catalogue/sm_90.toml", "golden/stimulus/classes.py", "golden/native/CMakeLists.txt",
        "golden/native/include/mmau/dot.hpp", "golden/native/include/mmau.h", "golden/native/src/mmau.cpp",
    } <= names  # fmt: skip
    (tmp_path / "golden").mkdir()
    source = tmp_path / "golden" / "steps.py"
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    digests = []
    for text in ("F = 24\n", "F = 25\n", "F = 25\n"):
        source.write_text(text, encoding="utf-8")
        digests.append(provenance.digest_of_sources())
    assert digests[0] != digests[1] == digests[2]


def test_library_older_than_its_sources_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    header = tmp_path / "golden" / "native" / "include" / "dot.hpp"
    header.parent.mkdir(parents=True)
    header.touch()
    library = tmp_path / "libmmau.so"
    library.touch()
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    os.utime(header, (1000, 1000))
    os.utime(library, (1001, 1001))
    assert provenance.library_is_older_than(library) == []
    os.utime(header, (1002, 1002))
    assert provenance.library_is_older_than(library) == [header]


@pytest.mark.parametrize("words", [[], ["s.json", "0"], ["s.json", "-5"], ["s.json", "x"], ["s.json", "5", "6"]])
def test_wrong_arguments_are_status_2(words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(sys, "argv", ["campaign_native", *words])
    assert campaign_native.main() == 2
    assert capsys.readouterr().err.startswith("usage: ")


@pytest.mark.slow
@pytest.mark.usefixtures("default_signals")
@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)])
def test_signal_leaves_a_whole_state_and_no_process(number: signal.Signals, tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    program = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.campaign_native", path], cwd=provenance.ROOT, stdout=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    until = time.monotonic() + 120
    while not path.exists() and program.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    program.send_signal(number)
    output, _ = program.communicate(timeout=120)
    assert program.returncode == 128 + number, output
    state = json.loads(path.read_text(encoding="utf-8"))
    assert state["rows"] == state["chunks"] * ROWS_A_CHUNK > 0
    assert not state["complete"]
    assert "\r" not in output
    with pytest.raises(ProcessLookupError):
        os.killpg(program.pid, 0)
