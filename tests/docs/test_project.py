"""The project's files agree: one version, types of every package, one list of checks."""

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


def test_changelog_has_the_sections_of_keep_a_changelog() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^### (.*)$", text, re.MULTILINE)) <= {
        "Added", "Changed", "Deprecated", "Removed", "Fixed", "Security",
    }  # fmt: skip


def test_packages_are_all_that_are_there() -> None:
    assert {path.parent.name for path in ROOT.glob("*/__init__.py")} == {*PACKAGES, "tests"}


def test_wheel_holds_the_installed_packages() -> None:
    assert PYPROJECT["tool"]["scikit-build"]["wheel"]["packages"] == [*INSTALLED]


@pytest.mark.parametrize("package", INSTALLED)
def test_package_says_that_it_is_typed(package: str) -> None:
    assert (ROOT / package / "py.typed").is_file()


def test_everything_is_type_checked() -> None:
    settings = PYPROJECT["tool"]["mypy"]
    assert {*PACKAGES, "tests", "examples"} == set(settings["files"])
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


def test_make_help_lists_a_dozen_targets_and_help_all_every_one() -> None:
    """Every target with a recipe or a dependency that a person calls is explained once."""
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z][a-z0-9-]*):", makefile, re.MULTILINE)) - {"help", "tools"}
    listed = {
        name: re.findall(r"^  make (\S+) +\S.*$", subprocess.run(
            ["make", "-s", name], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout, re.MULTILINE)
        for name in ("help", "help-all")
    }  # fmt: skip
    assert sorted(listed["help-all"]) == sorted(targets)
    assert 10 <= len(listed["help"]) <= 16
    assert {"cosim", "test", "help-all"} <= set(listed["help"]) < set(listed["help-all"])


@pytest.mark.slow
def test_no_docstring_begins_with_what() -> None:
    """A docstring names the thing, or says what it does in a sentence with a verb."""
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for package in (*PACKAGES, "tests", "examples")
        for path in sorted((ROOT / package).rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.match(r'\s*r?"""What\b', line)
    ]
    assert found == []


def test_every_page_stands_in_the_index() -> None:
    """But pages of evidence/analysis, which have an index of their own."""
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")} - {"README.md"}
    assert len(pages) > 60
    assert [page for page in sorted(pages) if f"({page})" not in index and not page.startswith("evidence/analysis/")] == []
