"""The commit of the sources that run: of the clone, or of the clone that an installed package was built from."""

import subprocess
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

from golden.processes import run_tool

ROOT = Path(__file__).resolve().parents[1]

RELEASED = Path(__file__).with_name("commit.txt")
"""Path of a package's file with the commit it was built from, ending in `+` if it was built from changed files; a clone has
no such file."""

GIT_SECONDS = 60.0


@cache
def commit(folders: Sequence[str] = ()) -> str:
    """Return the commit of the running sources: with `+` if tracked files have changed since, `unknown` if it cannot be
    found out.

    An installed package returns the commit that it was built from. A repository that merely contains the package, such as a
    user's own project, is not asked.

    Args:
        folders: folders in which changes count; empty for all.
    """
    if RELEASED.is_file():
        return released()
    try:
        if Path(_git("rev-parse", "--show-toplevel")).resolve() != ROOT:
            return released()
        head, changed = _git("rev-parse", "HEAD"), _git("status", "--porcelain", "--untracked-files=no", *folders)
    except (OSError, subprocess.SubprocessError):
        return released()
    return head + ("+" if changed else "")


def issues() -> str:
    """The address to which reports go, which the project's owner has entered under `[project.urls]`; empty where there is
    none. The remote of a clone is no such address: it may be a fork, or a folder."""
    project = ROOT / "pyproject.toml"
    if project.is_file():
        urls = tomllib.loads(project.read_text(encoding="utf-8")).get("project", {}).get("urls", {})
    else:
        try:
            listed = metadata("mmau").get_all("Project-URL") or []
        except PackageNotFoundError:
            listed = []
        urls = dict(each.split(", ", 1) for each in listed)
    return str(urls.get("Issues", urls.get("Source", "")))


def released() -> str:
    """The commit that a package was built from; `unknown` where its sources were no clone."""
    return RELEASED.read_text(encoding="ascii").strip() if RELEASED.is_file() else "unknown"


def _git(*arguments: str) -> str:
    result = run_tool(["git", "-C", str(ROOT), *arguments], timeout=GIT_SECONDS)
    result.check_returncode()
    return result.stdout.strip()
