"""Removes the report files of an earlier run before a command does anything that can fail. So a run that ends in an error
never leaves the verdict of another run in place."""

import os
import stat
from collections.abc import Iterator, Sequence
from itertools import pairwise

OPTIONS = ("--junit", "--html", "--ucis", "--rtl-coverage")
"""Options that name a report. Files of answers and of resumable work have other ones, and stay."""

MARKS = (
    b'<testsuite name="mmau.cli.',
    b'<meta name="generator" content="mmau">',
    b'ucisVersion="1.0" writtenBy="mmau"',
    b"TN:mmau\n",
)
"""Text near the beginning of each kind of report that this project writes."""

BEGINNING = 4096
"""Number of bytes of a file that are searched for a mark."""


def remove_earlier(words: Sequence[str]) -> None:
    """Remove the reports of an earlier run at the paths that a command line names, whether or not it can be parsed.

    Files that this project has not written stay, and so does what cannot be read or removed: a later check names it.
    """
    if {"-h", "--help"} & {*words}:
        return
    for path in _named(words):
        try:
            if _is_report(path):
                os.unlink(os.path.realpath(path))
        except (OSError, ValueError):  # a name with a null byte
            continue


def _named(words: Sequence[str]) -> Iterator[str]:
    """The values of the options, also of those that are cut short or joined to theirs."""
    for word, following in pairwise([*words, ""]):
        name, equals, value = word.partition("=")
        if len(name) > 2 and any(option.startswith(name) for option in OPTIONS):
            yield value if equals else following


def _is_report(path: str) -> bool:
    """Whether a path is a regular file that can be replaced and begins as a report of this project does."""
    mode = os.stat(path).st_mode if path else 0
    if not stat.S_ISREG(mode) or not mode & 0o222:  # to root, every file is writable
        return False
    with open(path, "rb") as stream:
        beginning = stream.read(BEGINNING)
    return any(mark in beginning for mark in MARKS)
