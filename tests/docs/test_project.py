"""What the project's files say of the project: one version, types of every package, one list of checks."""

import re
import tomllib

import pytest

from tests.docs.documents import PACKAGES, ROOT

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
VERSION = PYPROJECT["project"]["version"]


@pytest.mark.parametrize(
    ("file", "pattern"),
    [
        ("CITATION.cff", r"^version: (\S+)$"),
        ("golden/native/CMakeLists.txt", r"^project\(mmau VERSION (\S+) "),
        ("CHANGELOG.md", r"^## (\S+) \("),
    ],
)
def test_version_is_the_same_everywhere(file: str, pattern: str) -> None:
    """In the changelog, that of the newest section."""
    found = re.search(pattern, (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None
    assert found[1] == VERSION


def test_changelog_has_the_sections_of_keep_a_changelog() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^### (.*)$", text, re.MULTILINE)) <= {
        "Added", "Changed", "Deprecated", "Removed", "Fixed", "Security",
    }  # fmt: skip


def test_packages_are_all_that_are_there() -> None:
    assert {path.parent.name for path in ROOT.glob("*/__init__.py")} == {*PACKAGES, "tests"}


@pytest.mark.parametrize("package", PACKAGES)
def test_package_says_that_it_is_typed(package: str) -> None:
    assert (ROOT / package / "py.typed").is_file()
    assert package in PYPROJECT["tool"]["mypy"]["files"]


def test_tests_and_examples_are_type_checked() -> None:
    settings = PYPROJECT["tool"]["mypy"]
    assert {"tests", "examples"} <= set(settings["files"])
    assert settings["strict"]
    ignored = [override for override in settings["overrides"] if override.get("ignore_errors")]
    assert ignored == []


def test_workflow_runs_what_ci_runs() -> None:
    assert re.search(r"^ *- run: .*\.ci/run$", (ROOT / ".github/workflows/ci.yml").read_text(), re.MULTILINE)


def test_hooks_are_the_tools_of_make() -> None:
    """Before a commit the same programs run as in `make lint` and `make types`, from .venv."""
    entries = re.findall(r"^ *entry: \.venv/bin/(\w+ ?\w*)", (ROOT / ".pre-commit-config.yaml").read_text(), re.MULTILINE)
    makefile = (ROOT / "Makefile").read_text()
    assert [entry.strip() for entry in entries] == ["ruff format", "ruff check", "mypy"]
    assert all(f"$(BIN)/{entry.strip()}" in makefile for entry in entries)
