"""When a page was last written, as the clone's history says."""

import subprocess
from datetime import date

from golden.processes import run_tool
from studies.site.outside import ROOT

OVERVIEW = "evidence/README.md"


def dated(markdown: str, path: str) -> str:
    """A page of evidence with a last line that says when it was written, and where its command is found.

    Args:
        path: path of the page's file under docs/.
    """
    when = last_written(f"docs/{path}")
    overview = "../" * (path.count("/") - 1) + "README.md#the-other-pages"
    from_what = "" if path == OVERVIEW else f" [The overview]({overview}) says which command writes which page."
    return f"{markdown.rstrip()}\n\n---\n\n{when}{from_what}\n" if when else markdown


def last_written(path: str) -> str:
    """A sentence; empty outside of a clone, and in one without its history, where every file is as old as the last commit.

    Args:
        path: the path of the file, from the project's folder.
    """
    try:
        said = _git("log", "-1", "--format=%cs %h", "--", path)
        if not said or _git("rev-parse", "--is-shallow-repository") != "false":
            return ""
        changed = _git("status", "--porcelain", "--", path)
    except (OSError, subprocess.SubprocessError):
        return ""
    day, commit = said.split()
    written = date.fromisoformat(day)
    since = ", and was changed since" if changed else ""
    return f"This page was last written on {written.day} {written:%B %Y}, in commit {commit}{since}."


def _git(*arguments: str) -> str:
    result = run_tool(["git", "-C", str(ROOT), *arguments])
    result.check_returncode()
    return result.stdout.strip()
