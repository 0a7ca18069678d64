"""Tests stand in folders that mirror the sources: every folder of sources has tests, every folder of tests has sources."""

from pathlib import Path

import pytest

from tests.docs.documents import PACKAGES, ROOT

WITHOUT_SOURCES = {
    "attack": "counts and draws the faults of all tests",
    "cosim/state": "designs whose faults are of state; they concern bench, runner and volume alike",
    "data": "vectors that other models computed",
    "example_project": "somebody else's repository, which a test copies",
    "example_project/verif": "somebody else's repository, which a test copies",
    "twin": "the second implementation of every rule, which golden is compared with",
    "freeze": "what stays as it is while the insides are built anew",
    "promises": "what stays as it is between versions: names, commands, files",
}
"""Folders of tests that test no single folder of sources, and why."""


def folders_of(root: Path, pattern: str) -> set[str]:
    """The folders that hold a file of this pattern."""
    return {path.parent.relative_to(root).as_posix() for path in root.rglob(pattern)}


def untested(root: Path, packages: tuple[str, ...]) -> list[str]:
    """Folders of sources, those with nothing but an `__init__.py` aside, whose folder of tests holds no test."""
    tested = folders_of(root / "tests", "test_*.py")
    sources = {package / path for package in map(Path, packages) for path in folders_of(root / package, "[!_]*.py")}
    return sorted(folder.as_posix() for folder in sources if folder.as_posix() not in tested)


def without_sources(root: Path, known: set[str]) -> list[str]:
    """Folders of tests that no folder of sources has the name of, beside those that are known."""
    folders = folders_of(root / "tests", "*.py") - {"."} - known
    return sorted(folder for folder in folders if not (root / folder).is_dir())


def test_every_folder_of_sources_has_tests() -> None:
    assert untested(ROOT, PACKAGES) == []


def test_every_folder_of_tests_has_sources() -> None:
    assert without_sources(ROOT, set(WITHOUT_SOURCES)) == []
    folders = {folder for folder in WITHOUT_SOURCES if (ROOT / "tests" / folder).is_dir() and not (ROOT / folder).is_dir()}
    assert folders == set(WITHOUT_SOURCES), "an exception is needed no more"


def project(root: Path, *files: str) -> Path:
    """A project of empty files."""
    for file in files:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).touch()
    return root


@pytest.mark.attack("a folder of sources without tests")
def test_folder_without_tests_is_noticed(tmp_path: Path) -> None:
    sources = ("golden/one.py", "golden/a/__init__.py", "golden/a/two.py", "golden/b/__init__.py", "golden/data/table.toml")
    tested = project(tmp_path / "tested", *sources, "tests/golden/test_one.py", "tests/golden/a/test_other.py")
    assert untested(tested, ("golden",)) == []
    helper = project(tmp_path / "helper", *sources, "tests/golden/test_one.py", "tests/golden/a/rows.py")
    assert untested(helper, ("golden",)) == ["golden/a"]
    above = project(tmp_path / "above", *sources, "tests/golden/a/test_two.py", "tests/test_golden.py")
    assert untested(above, ("golden",)) == ["golden"]


@pytest.mark.attack("a folder of tests that mirrors no sources")
def test_folder_without_sources_is_noticed(tmp_path: Path) -> None:
    project(tmp_path, "golden/a/one.py", "tests/golden/a/test_one.py", "tests/promises/test_old.py", "tests/test_mirror.py")
    assert without_sources(tmp_path, {"promises"}) == []
    assert without_sources(project(tmp_path, "tests/golden/old/test_two.py"), {"promises"}) == ["golden/old"]
    assert without_sources(tmp_path, {"golden/old"}) == ["promises"]
