"""The tree from which a release is built: the files of the commit, without other files of the working copy."""

import tarfile
from dataclasses import dataclass
from pathlib import Path

from golden.processes import run_tool
from studies.site.outside import ROOT


@dataclass(frozen=True)
class Tree:
    """Sources outside of any repository.

    Attributes:
        folder: the sources, with golden/commit.txt. commit: its 40 digits. epoch: its time (seconds since 1970).
    """

    folder: Path
    commit: str
    epoch: int


def checked_out() -> str:
    """The commit that is checked out.

    Raises:
        ValueError: files differ from it. subprocess.CalledProcessError: this is no repository.
    """
    if changed := _git("status", "--porcelain", "--untracked-files=no"):
        raise ValueError(
            f"a release is built from a commit, and {len(changed.splitlines())} files differ from it: commit them"
        )
    return _git("rev-parse", "HEAD")


def exported(commit: str, folder: Path) -> Tree:
    """Write a commit's files into an empty folder."""
    epoch = int(_git("log", "-1", "--format=%ct", commit))
    archive = folder.with_suffix(".tar")
    _git("archive", "--output", str(archive), commit)
    with tarfile.open(archive) as files:
        files.extractall(folder, filter="data")
    archive.unlink()
    (folder / "golden" / "commit.txt").write_text(commit + "\n", encoding="ascii")
    return Tree(folder, commit, epoch)


def _git(*arguments: str) -> str:
    result = run_tool(["git", *arguments], cwd=ROOT)
    result.check_returncode()
    return result.stdout.strip()
