"""Provenance of results: digests of sources, and whether the native library is as old as they are."""

import os
from pathlib import Path

import pytest

from mmau.jobs import provenance


def test_digest_follows_every_source_of_the_engines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    names = {path.relative_to(provenance.ROOT).as_posix() for path in provenance.sources()}
    assert {
        "golden/steps.py", "golden/catalogue/sm_90.toml", "golden/stimulus/classes.py", "golden/native/CMakeLists.txt",
        "golden/native/include/mmau/dot.hpp", "golden/native/include/mmau.h", "golden/native/src/mmau.cpp",
        "golden/native/src/catalogue.inc",
    } <= names  # fmt: skip
    (tmp_path / "golden").mkdir()
    source = tmp_path / "golden" / "steps.py"
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    digests = []
    for text in ("F = 24\n", "F = 25\n", "F = 25\n"):
        source.write_text(text, encoding="utf-8")
        digests.append(provenance.digest_of_sources())
    assert digests[0] != digests[1] == digests[2]


def test_library_older_than_its_sources_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
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
