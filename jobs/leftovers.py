"""Processes with a mark in their environment, which children inherit: a worker and all that it started, in any session."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

MARK = "MMAU_JOBS"
"""The variable of the environment."""

LONGEST = 5.0
"""Seconds that killed processes are waited for; only one that the kernel holds takes longer."""


def marked(prefix: str) -> Iterator[int]:
    """Processes of this machine, but for this one, whose mark begins so. Without /proc there are none."""
    wanted = f"\0{MARK}={prefix}".encode()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            environment = b"\0" + (entry / "environ").read_bytes()
        except OSError:  # it has ended, or is somebody else's
            continue
        if wanted in environment and int(entry.name) != os.getpid():
            yield int(entry.name)


def kill_marked(prefix: str) -> int:
    """Kill them until there are none; how many there were."""
    killed: set[int] = set()
    until = time.monotonic() + LONGEST
    while (found := set(marked(prefix))) and time.monotonic() < until:
        for process in found:
            try:
                os.kill(process, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue
        killed |= found
        time.sleep(0.002)
    return len(killed)
