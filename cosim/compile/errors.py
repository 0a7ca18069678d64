"""What is said of a design that cannot be built or driven: the first cause, and where the log is."""

import errno
import os
import re
import shutil
import signal
import tempfile
from pathlib import Path

from cosim.dut.log import first_error, read_log

LEAST_FREE = 1 << 20
"""A file system with less than this left is called full (bytes): what was to be written was probably more."""

NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
"""The system's numbers of a full disk."""


class SimulationError(Exception):
    """A design cannot be built or driven; the message is the first cause, and where the log is."""


def simulation_error(what: str, log: Path, stays: bool) -> SimulationError:
    """The error, its first cause read from the log.

    Args:
        what: what failed.
        log: of the compiler or the simulator; it need not be there.
        stays: whether the log's folder stays. If not, the log is kept among the temporary files.
    """
    full = full_disk(log.parent)
    if full is not None:
        return SimulationError(f"{what}: {full}")
    if not log.is_file() or not log.stat().st_size:
        return SimulationError(f"{what}, and left no log")
    cause = first_error(read_log(log))
    return SimulationError(f"{what}: {cause}\nlog: {log if stays else kept(log)}")


def full_disk(folder: Path) -> str | None:
    """That there is no space left, in words, the system's among them: campaigns know them; None where there is."""
    free = shutil.disk_usage(folder).free
    return f"{os.strerror(errno.ENOSPC)}: the disk of {folder}" if free < LEAST_FREE else None


def kept(log: Path) -> Path:
    """A copy of a log, of a folder that is going to be removed."""
    descriptor, name = tempfile.mkstemp(prefix="mmau-cosim-", suffix=".log")
    with os.fdopen(descriptor, "wb") as copy, log.open("rb") as stream:
        shutil.copyfileobj(stream, copy)
    return Path(name)


def ending(program: str, status: int) -> str:
    """How a program ended that did not end well, in words; `status` as `subprocess` gives it."""
    if status >= 0:
        return f"{program} exited with status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    why = {"SIGXFSZ": ", for a file grew beyond the limit (ulimit -f)", "SIGKILL": "; is there too little memory?"}
    return f"{program} was ended by {name}{why.get(name, '')}"


def place_in_log(log: str, pattern: str) -> str | None:
    """The first line of a log that has the pattern, None where there is none."""
    return next((line.strip(" -") for line in log.splitlines() if re.search(pattern, line)), None)
