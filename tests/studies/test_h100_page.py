"""The page of a GPU: it is what its facts give, and a difference does not pass quietly."""

import json
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest

from golden.recording_index import FOLDER as RECORDINGS
from golden.recording_index import read_index, read_listed
from golden.stimulus import CLASSES
from studies.h100_page import JSON, PAGE, among, beside, main, page

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "evidence"
FP8 = "mma.m16n8k32.f32.e4m3.e4m3.f32"


def test_page_is_that_of_its_facts() -> None:
    found = json.loads((FOLDER / JSON).read_text(encoding="utf-8"))
    written = (FOLDER / PAGE).read_text(encoding="utf-8")
    assert page(found) == written, "run make h100"
    for name in found:
        changed = deepcopy(found)
        del changed[name]
        with pytest.raises(KeyError):
            page(changed)


@pytest.mark.attack("one result that differs at volume, or in a recording, in the facts of the page")
@pytest.mark.parametrize("where", ["volume", "recordings"])
def test_result_that_differs_stands_on_the_page(where: str) -> None:
    found = json.loads((FOLDER / JSON).read_text(encoding="utf-8"))
    found[where][FP8]["differ"] = 1
    assert ": 1 differ.**" in page(found)
    assert "| **1** |" in page(found)


def test_page_is_written_from_the_facts_beside_it(tmp_path: Path) -> None:
    (tmp_path / JSON).write_bytes((FOLDER / JSON).read_bytes())
    main(tmp_path)
    assert (tmp_path / PAGE).read_bytes() == (FOLDER / PAGE).read_bytes()


@pytest.mark.slow
def test_kept_rows_are_those_that_the_page_says() -> None:
    """36 of each random generator, and at least 8,192 in all."""
    listed = {name: entry for name, entry in read_index(RECORDINGS).items() if name.startswith("h100/")}
    assert len(listed) == 50
    for name, entry in listed.items():
        if ".s32." in name:
            continue
        recording = read_listed(RECORDINGS, name)
        labels = np.bincount(recording.label, minlength=len(recording.header.names))
        of_random = [labels[number] for number, word in enumerate(recording.header.names) if word in CLASSES]
        assert of_random == [36] * len(CLASSES)
        assert entry["rows"] >= 8192


def test_key_beside_the_catalogues_is_named() -> None:
    """The probe found −132, and the catalogue has −133; what it cannot tell is no difference."""
    name, found = "mma.m16n8k8.f32.tf32.tf32.f32", {"operation": "T-FDPA", "keys": {"e_zero": ["-132", ""]}}
    assert list(beside(name, found)) == ["the catalogue has **e_zero -133**"]
    assert list(beside(name, found | {"keys": {"e_zero": ["-132", "-1024 … -130"]}})) == []
    assert next(iter(beside(FP8, found))) == "the catalogue has **converted T-FDPA**"


def test_values_alike() -> None:
    assert among("-21", "-1024 … 7")
    assert not among("8", "-1024 … 7")
    assert among("saturate", "by-mode, saturate")
    assert not among("mode", "by-mode, saturate")
