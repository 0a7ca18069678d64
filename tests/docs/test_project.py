"""The project's files agree: one version, types of every package, every make target explained."""

import re
import subprocess
import tomllib

import pytest

from tests.docs.documents import INSTALLED, PACKAGES, ROOT

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
VERSION = PYPROJECT["project"]["version"]


@pytest.mark.parametrize(
    ("file", "pattern"),
    [
        ("CITATION.cff", r"^version: (\S+)$"),
        ("golden/native/CMakeLists.txt", r"^project\(mmau VERSION (\S+) "),
        ("CHANGELOG.md", r"^## (\d\S+) \("),
    ],
)
def test_version_is_the_same_everywhere(file: str, pattern: str) -> None:
    """In the changelog, that of the newest section."""
    found = re.search(pattern, (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None
    assert found[1] == VERSION


def test_every_package_is_installed_typed_and_checked() -> None:
    assert {path.parent.name for path in ROOT.glob("*/__init__.py")} == {*PACKAGES, "tests"}
    assert PYPROJECT["tool"]["scikit-build"]["wheel"]["packages"] == [*INSTALLED]
    assert [package for package in INSTALLED if not (ROOT / package / "py.typed").is_file()] == []
    settings = PYPROJECT["tool"]["mypy"]
    assert {*PACKAGES, "tests", "examples"} == set(settings["files"])
    assert settings["strict"]
    assert {*PYPROJECT["tool"]["importlinter"]["root_packages"]} == {*PACKAGES, "tests"}


def test_make_explains_every_target() -> None:
    targets = set(re.findall(r"^([a-z][a-z0-9-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE)) - {"help", "tools"}
    told = subprocess.run(["make", "-s", "help-all"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert sorted(re.findall(r"^  make (\S+) +\S.*$", told, re.MULTILINE)) == sorted(targets)
