"""When a page of evidence was last written."""

import subprocess
from pathlib import Path

import pytest

from studies.site import last_written as module
from studies.site.last_written import dated, last_written


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository in the project's place, with one page."""
    root = tmp_path / "clone"
    page = root / "docs" / "evidence" / "deep" / "page.md"
    page.parent.mkdir(parents=True)
    page.write_text("# A page\n")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2026-11-03T12:00:00+0000")
    for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one"]):
        subprocess.run(["git", *words], cwd=root, check=True)
    monkeypatch.setattr(module, "ROOT", root)
    return root


def test_page_gets_its_day_and_commit(clone: Path) -> None:
    head = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=clone, capture_output=True, text=True, check=True)
    said = f"This page was last written on 3 November 2026, in commit {head.stdout.strip()}."
    assert last_written("docs/evidence/deep/page.md") == said
    overview = "[The overview](../README.md#the-other-pages) says which command writes which page."
    assert dated("# A page\n", "evidence/deep/page.md") == f"# A page\n\n---\n\n{said} {overview}\n"


@pytest.mark.attack("documentation")
def test_page_that_was_changed_since_says_so(clone: Path) -> None:
    (clone / "docs" / "evidence" / "deep" / "page.md").write_text("# Another page\n")
    assert last_written("docs/evidence/deep/page.md").endswith(", and was changed since.")


@pytest.mark.attack("documentation")
def test_day_that_is_not_known_is_not_said(clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that git does not follow; a clone without history, where all files would be as old as its last commit; none."""
    assert last_written("docs/evidence/new.md") == ""
    subprocess.run(["git", "clone", "-q", "--depth", "1", clone.as_uri(), str(tmp_path / "shallow")], check=True)
    for root in (tmp_path / "shallow", tmp_path):
        monkeypatch.setattr(module, "ROOT", root)
        assert last_written("docs/evidence/deep/page.md") == ""
        assert dated("# A page\n", "evidence/deep/page.md") == "# A page\n"
