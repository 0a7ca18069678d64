"""The command for strangers, on the stand-in device and on this machine's processor."""

import dataclasses
import json
import re
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from golden import commit
from golden.catalogue.recorded import disagreeing, rows_that_differ
from golden.recordings import recording, recording_index
from hwtests import record
from hwtests.conform import Job
from hwtests.cpu.host_processor import ARCHITECTURES, this_processor
from hwtests.record import FILE, ROWS, main, thinned
from tests.hwtests.model_recordings import PLAIN, made_by_the_model

STAND_IN = (sys.executable, "-m", "tests.hwtests.conform.stand_in")


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker whose device returns integers, of two instructions."""
    monkeypatch.setattr(record, "WORKER", (*STAND_IN, "none"))
    monkeypatch.setattr(record, "Job", lambda **keys: Job(**keys | {"pattern": "mma.m16n8k[48].f32.tf32.*"}))


def contents(folder: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(folder / FILE) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.slow
def test_one_file_says_who_recorded_what_on_which_part(
    stand_in: None, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record, "issues", lambda: "https://host.example/a/mmau/issues")
    assert main([str(tmp_path), "--who", "A. Volunteer"]) == 0
    printed = capsys.readouterr().out
    assert f"Please send {tmp_path / FILE}: attach it to https://host.example/a/mmau/issues. Its" in printed
    found = contents(tmp_path)
    names = ["sm_90.mma.m16n8k4.f32.tf32.tf32.f32.npz", "sm_90.mma.m16n8k8.f32.tf32.tf32.f32.npz"]
    assert list(found) == ["README.txt", *(f"recordings/{name}" for name in names), "recordings/index.json", "conform.json"]
    text = found["README.txt"].decode()
    assert text.startswith("Results of stand-in, not a device (sm_90, driver none, none, none), recorded by A. Volunteer")
    assert "published with MMAU\nunder Apache-2.0, with the name above." in text
    index = json.loads(found["recordings/index.json"])
    for name in names:
        (tmp_path / name).write_bytes(found[f"recordings/{name}"])
        kept = recording.read(tmp_path / name)
        assert len(kept) == ROWS == index[name]["rows"]
        assert (kept.header.who, kept.header.licence, kept.header.kind) == ("A. Volunteer", "Apache-2.0", "silicon")
    report = json.loads(found["conform.json"])
    assert report["complete"]
    assert main([str(tmp_path), "--who", "A. Volunteer"]) == 0
    assert len(json.loads(contents(tmp_path)["conform.json"])["runs"]) == 2
    assert {k: v for k, v in contents(tmp_path).items() if k != "conform.json"} == {
        k: v for k, v in found.items() if k != "conform.json"
    }


@pytest.mark.attack("a device that is wrong where c is negative")
@pytest.mark.slow
def test_rows_that_differ_are_sent_too(stand_in: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "WORKER", (*STAND_IN, "negative-c"))
    assert main([str(tmp_path)]) == 1
    found = contents(tmp_path)
    assert "differing/sm_90.mma.m16n8k8.f32.tf32.tf32.f32.npz" in found
    assert not json.loads(found["conform.json"])["agreed"]


@pytest.mark.parametrize("options", [["--seconds", "0"], ["--seconds", "nan"], ["--who", ""], []])
def test_what_cannot_be_recorded_is_one_line(
    options: list[str], stand_in: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Arguments that make no sense, and a machine without a device."""
    monkeypatch.setattr(record, "WORKER", (*STAND_IN, "no-device"))
    assert main([str(tmp_path), *options]) == 2
    of_arguments = r"--seconds must be more than 0 and --who a name, got \S+ and '.*'"
    message = of_arguments if options else "no usable CUDA device on this machine: driver too old"
    assert re.fullmatch(rf"hwtests\.record: {message}\n", capsys.readouterr().err)
    assert not (tmp_path / FILE).exists()


def test_thinned_rows_are_of_every_generator() -> None:
    """As many of each as there are, by place alone; the model reproduces them as before."""
    whole = made_by_the_model(*PLAIN, 4_000)
    found = thinned(whole, 300)
    assert len(found) == 300
    assert set(found.label.tolist()) == set(whole.label.tolist())
    assert rows_that_differ(found) == 0
    assert found.header.note == "300 of the 4,000 rows that were recorded and compared, the first of each generator"


@pytest.mark.attack("a recording whose kept rows are chosen by whether the model agrees")
def test_row_that_the_model_misses_stays() -> None:
    given = made_by_the_model(*PLAIN, 4_000)
    wrong = np.asarray(given.d).copy()
    wrong[::3] ^= 1
    kept, same = (thinned(dataclasses.replace(given, d=d), 600) for d in (wrong, np.asarray(given.d)))
    np.testing.assert_array_equal(kept.operands.a, same.operands.a)
    assert 100 < rows_that_differ(kept) == int((kept.d != same.d).sum())


def processor() -> str | None:
    """An architecture that this machine's processor has."""
    try:
        flags = this_processor().flags
    except ValueError:
        return None
    return next((arch for arch, flag in ARCHITECTURES.items() if flag in flags), None)


@pytest.mark.slow
@pytest.mark.skipif(processor() is None, reason="this machine's processor has neither AVX-512 nor AMX")
def test_this_machines_processor_is_recorded(tmp_path: Path) -> None:
    arch: Any = processor()
    assert main([str(tmp_path), "--arch", arch, "--seconds", "60"]) == 0
    with zipfile.ZipFile(tmp_path / FILE) as archive:
        archive.extractall(tmp_path / "sent")
    assert recording_index.read_index(tmp_path / "sent" / "recordings")
    assert disagreeing(tmp_path / "sent" / "recordings") == {}


@pytest.mark.parametrize(
    ("project", "address"),
    [
        ('[project.urls]\nHomepage = "https://host.example"\nSource = "https://host.example/o/r"', "https://host.example/o/r"),
        ('[project.urls]\nSource = "https://a.example/r"\nIssues = "https://a.example/r/issues"', "https://a.example/r/issues"),
        ('[project]\nname = "mmau"', ""),
    ],
)  # fmt: skip
def test_address_is_the_project_s_own_and_not_that_of_a_clone(
    project: str, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fork has the project's file too; where its clone came from is not asked."""
    (tmp_path / "pyproject.toml").write_text(project, encoding="utf-8")
    monkeypatch.setattr(commit, "ROOT", tmp_path)
    monkeypatch.setattr(commit, "_git", lambda *words: "git@host.example:fork/mmau.git")
    assert commit.issues() == address


@pytest.mark.slow
def test_without_an_address_the_last_line_names_the_project_and_no_fork(
    stand_in: None, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record, "issues", lambda: "")
    assert main([str(tmp_path)]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert "attach it to an issue of the project's own repository, not of a fork of it. Its README.txt" in last
    assert "://" not in last
