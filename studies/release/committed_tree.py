"""The tree from which a release is built: the files of the commit, without other files of the working copy."""

import gzip
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from golden.processes import run_tool
from studies.site.outside import ROOT


def write_archive(file: Path, epoch: int, members: Iterable[tuple[tarfile.TarInfo, IO[bytes] | None]]) -> None:
    """Write a .tar.gz in order of names, with one time for all members and without owners.

    Args:
        epoch: the time of all members (seconds since 1970). members: each member with its content; None for a folder.
    """
    with (
        file.open("wb") as raw,
        gzip.GzipFile(fileobj=raw, mode="wb", mtime=epoch, filename="") as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for member, content in sorted(members, key=lambda pair: pair[0].name):
            member.mtime, member.uid, member.gid, member.uname, member.gname, member.pax_headers = epoch, 0, 0, "", "", {}
            archive.addfile(member, content)


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
