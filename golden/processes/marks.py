"""Marks in the environment of processes. Descendants inherit them, so they identify a child's descendants in any session."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

MARK = "MMAU_MARK"
"""The variable of the environment. A child's mark is its caller's mark followed by the child's name."""

LONGEST = 5.0
"""Seconds to wait for killed processes; only a process blocked in the kernel takes longer."""


def marked(name: str) -> Iterator[int]:
    """Processes of this machine, except this one, whose mark contains a name; none without /proc."""
    variable, wanted = f"{MARK}=".encode(), name.encode()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            environment = (entry / "environ").read_bytes().split(b"\0")
        except OSError:  # it has ended, or belongs to another user
            continue
        is_marked = any(word.startswith(variable) and wanted in word for word in environment)
        if is_marked and int(entry.name) != os.getpid():
            yield int(entry.name)


def kill_marked(name: str) -> int:
    """Kill the processes until none remain, and return how many there were."""
    killed: set[int] = set()
    until = time.monotonic() + LONGEST
    found = True
    while found and time.monotonic() < until:
        found = False
        for process in marked(name):  # each is killed as soon as it is found, before its number can be another's
            found = True
            killed.add(process)
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.002 if found else 0)
    return len(killed)
