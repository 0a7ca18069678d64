"""The commit of the sources that run: of the clone, or of the clone that an installed package was built from."""

import re
import subprocess
from collections.abc import Sequence
from functools import cache
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


def origin() -> str:
    """The address of the repository that the clone of the running sources came from, as a browser opens it, without user and
    password; empty where there is no such clone or address."""
    try:
        is_own = Path(_git("rev-parse", "--show-toplevel")).resolve() == ROOT
        named = _git("remote", "get-url", "origin") if is_own else ""
    except (OSError, subprocess.SubprocessError):
        return ""
    found = re.fullmatch(
        r"(?:(?:https?|ssh|git)://(?:[^@/]*@)?|[^@/:]*@)([\w.-]+)(?::\d+(?=/))?[:/]+(.+?)(?:\.git)?/*", named
    )
    return f"https://{found[1]}/{found[2]}" if found else ""


def released() -> str:
    """The commit that a package was built from; `unknown` where its sources were no clone."""
    return RELEASED.read_text(encoding="ascii").strip() if RELEASED.is_file() else "unknown"


def _git(*arguments: str) -> str:
    result = run_tool(["git", "-C", str(ROOT), *arguments], timeout=GIT_SECONDS)
    result.check_returncode()
    return result.stdout.strip()
