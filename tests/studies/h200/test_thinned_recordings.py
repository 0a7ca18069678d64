"""The rows of a job that are kept: every directed row, and the diagonals of integer tiles at the places they stood in."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import golden
from golden.recording import Recording
from golden.recording_index import FOLDER, read_index, read_listed, write
from golden.stimulus import CLASSES
from hwtests.nvidia.sparse_and_integer import INTEGER, MatrixInstruction, integer_dot
from studies.h200 import thinned_recordings
from studies.h200.thinned_recordings import RANDOM_ROWS, keep, name_in_catalogue, of_integers, thinned
from studies.sparse_and_integer import recorded_tiles
from studies.sparse_and_integer.__main__ import integer_operands
from studies.sparse_and_integer.recorded_tiles import RecordedTiles
from tests.hwtests.model_recordings import PLAIN, made_by_the_model

SATURATING = next(i for i in INTEGER if i.saturate and i.shape == (16, 8, 32))


def whole(rows: int = 4_000) -> Recording:
    return made_by_the_model(*PLAIN, rows)


def integer_tiles(instruction: MatrixInstruction) -> RecordedTiles:
    """As a device computes them."""
    tiles = integer_operands(instruction, 16, 0)
    a, b, *_ = (np.ascontiguousarray(array) for array in tiles.rows(np) if array is not None)
    device = {"device": "some device", "driver": "1", "runtime": "2", "compiler": "3"}
    return RecordedTiles(
        instruction=instruction, tiles=tiles, selection=np.zeros(16, np.uint8), d=integer_dot(instruction, a, b, tiles.c),
        device=device, machine_code={"IMMA": 1}, sha256="0",
    )  # fmt: skip


def rows_wrong(recording: Recording) -> int:
    return int((recording.dot() != recording.d).sum())


def test_every_directed_row_stays() -> None:
    given, found = whole(), thinned(whole())
    names = given.header.names
    for number, name in enumerate(names):
        had, has = (int((np.asarray(r.label) == number).sum()) for r in (given, found))
        assert has == (min(had, RANDOM_ROWS) if name in CLASSES else had), name
    assert found.header.note.startswith(f"{len(found):,} of the {len(given):,} rows that were recorded")
    assert rows_wrong(found) == 0


@pytest.mark.attack("a recording whose kept rows are chosen by whether the model agrees")
def test_row_that_the_model_misses_stays() -> None:
    given = whole()
    wrong = np.asarray(given.d).copy()
    wrong[np.asarray(given.label) == given.header.names.index("ties")] ^= 1
    assert rows_wrong(thinned(dataclasses.replace(given, d=wrong))) == rows_wrong(dataclasses.replace(given, d=wrong)) > 0


@pytest.mark.parametrize("instruction", INTEGER, ids=lambda i: i.name)
def test_diagonals_of_integer_tiles_are_rows_of_the_catalogue(instruction: MatrixInstruction) -> None:
    found = of_integers(integer_tiles(instruction), "2026-01-02")
    assert golden.instruction("sm_90", found.header.instruction).name == name_in_catalogue(instruction)
    assert len(found) == 16 * instruction.shape[0]
    assert rows_wrong(found) == 0


@pytest.mark.attack("integer rows whose result stands in another column of the tile")
def test_result_of_another_place_is_seen() -> None:
    tiles = integer_tiles(SATURATING)
    moved = dataclasses.replace(tiles, d=np.roll(tiles.d, 1, axis=2))
    assert rows_wrong(of_integers(moved, "2026-01-02")) > 200


def test_files_below_a_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of wgmma N = 8 alone, of tiles the dense ones."""
    monkeypatch.setattr(thinned_recordings, "RANDOM_ROWS", 1)
    job = tmp_path / "job"
    (job / "tiles").mkdir(parents=True)
    for name in (PLAIN[1], "wgmma.m64n8k8.f32.tf32.tf32", "wgmma.m64n256k8.f32.tf32.tf32"):
        (job / "recordings").mkdir(exist_ok=True)
        write(job / "recordings", made_by_the_model("sm_90", name, 300))
    recorded_tiles.write(job / "tiles", integer_tiles(SATURATING))
    into = tmp_path / "into"
    into.mkdir()
    assert keep(job, into, "h0") == 3
    assert sorted(entry["instruction"] for entry in read_index(into).values()) == sorted(
        [PLAIN[1], "wgmma.m64n8k8.f32.tf32.tf32", name_in_catalogue(SATURATING)]
    )


def test_nothing_recorded_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"must have recordings, it has none$"):
        keep(tmp_path, tmp_path, "h0")


@pytest.mark.slow
def test_kept_rows_of_the_h100_are_what_this_program_keeps() -> None:
    """Every generator's rows that the notes promise: 36 of each random one."""
    listed: dict[str, Any] = {name: e for name, e in read_index(FOLDER).items() if name.startswith("h100/")}
    assert len(listed) == 50
    for name, entry in listed.items():
        if ".s32." in name:
            continue
        recording = read_listed(FOLDER, name)
        labels = np.bincount(recording.label, minlength=len(recording.header.names))
        of_random = [labels[number] for number, word in enumerate(recording.header.names) if word in CLASSES]
        assert of_random == [RANDOM_ROWS] * len(CLASSES)
        assert entry["rows"] >= 8192
