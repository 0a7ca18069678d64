"""`mmau evidence`: rows are replayed, counted and told with their origin; what is damaged is refused by name."""

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import golden
from golden.recordings import recording_index
from golden.recordings.recording import Recording
from golden.recordings.recording_index import INDEX, write
from mmau.analysis import silicon_evidence
from mmau.cli.main import main
from tests.hwtests.model_recordings import PLAIN, SCALED, made_by_the_model
from tests.mmau.cli.wrong_request import wrong


def recorded(name: tuple[str, str], rows: int = 300, **changes: str) -> Recording:
    """As if somebody had recorded what the model gives."""
    made = made_by_the_model(*name, rows=rows)
    told: dict[str, Any] = {"device": "NVIDIA H100", "who": "somebody", "licence": "MIT", "source": "a/b", "commit": "1234"}
    return dataclasses.replace(made, header=dataclasses.replace(made.header, **told | changes))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of recordings in place of the project's; none that another model computed."""
    for module in (recording_index, silicon_evidence):
        monkeypatch.setattr(module, "FOLDER", tmp_path / "silicon")
        monkeypatch.setattr(module, "COMPUTED", tmp_path / "computed")
    (tmp_path / "silicon").mkdir()
    return tmp_path / "silicon"


def changed_row(recording: Recording, row: int) -> Recording:
    d = recording.d.copy()
    d[row] ^= 1
    return dataclasses.replace(recording, d=d)


REQUEST = ["evidence", "--arch", PLAIN[0], "--instr", PLAIN[1]]


def test_rows_are_told_with_their_origin_and_what_they_pin(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder, recorded(PLAIN))
    assert main(REQUEST) == 0
    out = capsys.readouterr().out
    first, second, header, row, *_ = out.splitlines()
    assert first == "sm_90 mma.m16n8k16.f32.f16.f16.f32: T-FDPA L=16 F=25 rho=RZ-FP32 e_zero=-133 truncation=RZ"
    assert second == "evidence: recorded, published; published: the authors of the model validated it on silicon"
    assert header.split()[:4] == ["rows", "reproduced", "kind", "device"]
    columns = ["300 of 300", "silicon", "NVIDIA H100", "somebody", "a/b @ 1234", "none; none; none", "MIT"]
    assert re.split(" {2,}", row) == [*columns, "NaN, infinity, subnormal, −0"]
    assert re.search(r"^F +24 for 25 +[1-9]\d* +0 +- +pinned$", out, re.MULTILINE)
    assert "the same for every operand: no term that is not zero lies below the floor" in out
    assert out.rstrip().endswith("are in the project's source tree alone, are not replayed")


@pytest.mark.slow
def test_json_holds_what_the_text_says(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder, recorded(PLAIN))
    assert main([*REQUEST, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["instructions"]
    assert (found["rows"], found["reproduced"], found["evidence"]) == (300, 300, ["recorded", "published"])
    (silicon,) = found["silicon"]
    assert (silicon["who"], silicon["licence"], silicon["reproduced"], silicon["commit"]) == ("somebody", "MIT", 300, "1234")
    by_change = {(each["key"], each["change"]): each for each in found["ablation"]}
    assert by_change["F", "24 for 25"]["status"] == "pinned"
    assert by_change["e_zero", "-134 for -133"]["status"] == "the same for every operand"
    assert found["unpinned"] == list(dict.fromkeys(e["key"] for e in found["ablation"] if e["status"] == "unpinned"))


@pytest.mark.attack("a recording, damaged, or an index that lies")
def test_one_row_that_the_model_does_not_reproduce_is_counted_and_ends_with_1(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, changed_row(recorded(PLAIN), 17))
    assert main(REQUEST) == 1
    assert "299 of 300" in capsys.readouterr().out
    assert main(["evidence", "--arch", PLAIN[0]]) == 1
    out = capsys.readouterr().out
    assert re.search(r"^sm_90 +mma\.m16n8k16\.f32\.f16\.f16\.f32 .* 299 of 300 ", out, re.MULTILINE)
    assert main(["evidence", "--arch", "sm_80"]) == 0


@pytest.mark.attack("a recording, damaged, or an index that lies")
def test_damaged_recording_is_refused_by_name_and_nothing_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One bit of the file, then a part of it, then none of it."""
    write(folder, recorded(SCALED))
    path = write(folder, recorded(PLAIN))
    data = path.read_bytes()
    for damaged in (data[:500] + bytes([data[500] ^ 1]) + data[501:], data[:-1]):
        path.write_bytes(damaged)
        assert re.fullmatch(rf"mmau evidence: {re.escape(str(path))} must have the SHA-256 .*\n?", wrong(capsys, *REQUEST))
    path.unlink()
    assert wrong(capsys, *REQUEST).strip() == f"mmau evidence: {path} is missing, but {INDEX} lists it"


@pytest.mark.attack("a recording, damaged, or an index that lies")
def test_index_with_an_instruction_that_does_not_exist_is_refused_by_name(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(folder, recorded(PLAIN))
    index = json.loads((folder / INDEX).read_text())
    entry = index.pop(path.name) | {"instruction": "mma.m16n8k17.f32.f16.f16.f32"}
    name = f"sm_90.{entry['instruction']}.npz"
    (folder / INDEX).write_text(json.dumps({name: entry}))
    message = wrong(capsys, "evidence", "--arch", "sm_70")
    assert message.startswith(f"mmau evidence: {folder / name} is of no instruction of the catalogue: ")
    (folder / INDEX).write_text("{")
    assert wrong(capsys, "list", "--arch", "sm_70").startswith(f"mmau list: {folder / INDEX} is no valid index: ")


def test_where_no_recordings_are_installed_it_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(REQUEST) == 2
    out = capsys.readouterr().out
    assert f"{folder} holds no recordings: no row of silicon can be replayed" in out
    assert "evidence: recorded, published" in out


@pytest.mark.slow
def test_list_counts_rows_of_the_index_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is replayed: the file may be gone."""
    write(folder, recorded(PLAIN)).unlink()
    write(folder, recorded(PLAIN, rows=20, kind="computed"), "model").unlink()
    assert main(["list", "--arch", "sm_90", "--json"]) == 0
    rows = {e["name"]: e["recorded_rows"] for e in json.loads(capsys.readouterr().out)["instructions"]}
    assert {name: count for name, count in rows.items() if count} == {PLAIN[1]: 300}


def test_computed_rows_are_apart_and_alike_instructions_are_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wgmma = ("sm_90", "wgmma.m64n8k16.f32.f16.f16")
    write(folder, recorded(wgmma))
    write(folder, recorded(PLAIN, kind="computed", device="a model"), "model")
    assert main([*REQUEST, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["instructions"]
    assert (found["rows"], found["ablation"], len(found["computed"])) == (0, [], 1)
    assert found["alike"] == [wgmma[1]]
    assert main(["evidence", "--instr", "wgmma.m64n256k16.f32.f16.f16"]) == 0
    assert f"no rows of its own; the same arithmetic as {wgmma[1]}" in capsys.readouterr().out


@pytest.mark.slow
def test_page_is_written_and_escapes_what_files_say(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, recorded(PLAIN, device="<b>H100</b>"))
    assert main([*REQUEST, "--html", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;H100&lt;/b&gt;" in page
    assert "300 of 300" in page
    assert "300 of 300" in capsys.readouterr().out
    assert main([*REQUEST, "--html", "-"]) == 0
    assert capsys.readouterr().out == page
    assert "give --html a file" in wrong(capsys, *REQUEST, "--html", "-", "--json")


@pytest.mark.slow
def test_project_reproduces_every_row_that_it_holds_and_names_the_sources(capsys: pytest.CaptureFixture[str]) -> None:
    """Of RDNA4, and what stands elsewhere of the RTX 5090."""
    assert main(["evidence", "--arch", "gfx1201"]) == 0
    out = capsys.readouterr().out
    assert "23,721 of 23,721" in out
    assert "bjacob/goc" in out
    assert main(["evidence", "--arch", "sm_120"]) == 0
    out = capsys.readouterr().out
    assert out.count("third-party, published  not held") == 8
    assert "cicuvc/nvidia-sass-document, tools/tensor_gpu_differential_report.json @ 1fe673fe" in out


def test_recorded_rows_of_nan_count_as_recorded(folder: Path) -> None:
    """A changed NaN code is a row that differs, where the operation fixes it."""
    sound = recorded(PLAIN)
    nan = np.flatnonzero(sound.d == 0x7FFFFFFF)
    assert nan.size
    write(folder, changed_row(sound, int(nan[0])))
    (found,) = silicon_evidence.evidence_of([golden.instruction(*PLAIN)])
    assert (found.reproduced, found.rows, found.is_reproduced) == (299, 300, False)
