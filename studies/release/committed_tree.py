"""The tree that a release is built from: what the commit holds, nothing that merely lies in the clone."""

import io
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path

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
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder, filter="data")
    (folder / "golden" / "commit.txt").write_text(commit + "\n", encoding="ascii")
    return Tree(folder, commit, epoch)


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
