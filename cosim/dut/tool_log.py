"""The first error in the logs of compilers and simulators, and the exception for a design that Verilator cannot read."""

import re
from pathlib import Path

from golden.text import printable

MAX_LOG = 1 << 24
"""Bytes of a log that are read: its first error is near its beginning."""

_MARKED = re.compile(
    r"^%Error|\berror:|: syntax error|^ERROR\b|undefined reference|No space left|: Unable to |: Cannot |Unknown module type",
    re.IGNORECASE,
)
"""Marks of errors from Verilator, g++, Icarus, the linker and the file system."""


class ElaborationError(Exception):
    """Verilator cannot read the design; the message is Verilator's first error."""


def read_log(log: Path) -> str:
    """Read the text of a log, in which a design may have printed anything."""
    with log.open("rb") as stream:
        return printable(stream.read(MAX_LOG).decode("utf-8", errors="replace"))


def first_error(log: str) -> str:
    """The first error in a compiler's log with the lines that show its place; the last line where no error is marked."""
    lines = [line.rstrip() for line in log.splitlines() if line.strip()]
    exception = first_exception(log)
    if exception is not None:
        return exception
    for number, line in enumerate(lines):
        if _MARKED.search(line):
            shown = [line]
            for following in lines[number + 1 : number + 4]:
                if not following.startswith(" ") or following.lstrip().startswith("..."):  # "... See the manual at"
                    break
                shown.append(following)
            return "\n".join(shown)
    return lines[-1] if lines else "the log is empty"


def first_exception(log: str) -> str | None:
    """The last line of the first Python traceback, or None."""
    lines = log.splitlines()
    for number, line in enumerate(lines):
        start = line.find("Traceback (most recent call last):")
        if start >= 0:
            for following in lines[number + 1 :]:
                text = following[start:]
                if text and not text.startswith(" "):
                    return text.strip()
    return None
