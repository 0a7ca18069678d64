"""The error of a design that cannot be built or driven: the first cause, and the path of the log."""

import errno
import os
import re
import shutil
import tempfile
from pathlib import Path

from cosim.dut.tool_log import first_error, read_log

LEAST_FREE = 1 << 20
"""A file system with less free space than this counts as full (bytes): the file to be written was probably larger."""

NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
"""The error numbers of a full disk."""


class SimulationError(Exception):
    """A design cannot be built or driven; the message states the first cause and the path of the log."""


def simulation_error(what: str, log: Path, stays: bool) -> SimulationError:
    """Make the error, with its first cause from the log.

    Args:
        what: description of the failure.
        log: log of the compiler or the simulator; it need not exist.
        stays: whether the log's folder remains. If not, the log is copied to the folder for temporary files.
    """
    full = full_disk(log.parent)
    if full is not None:
        return SimulationError(f"{what}: {full}")
    if not log.is_file() or not log.stat().st_size:
        return SimulationError(f"{what}, and left no log")
    cause = first_error(read_log(log))
    return SimulationError(f"{what}: {cause}\nlog: {log if stays else copy_of(log)}")


def full_disk(folder: Path) -> str | None:
    """A message with the system's text for a full disk, by which campaigns recognise it; None where there is space."""
    free = shutil.disk_usage(folder).free
    return f"{os.strerror(errno.ENOSPC)}: the disk of {folder}" if free < LEAST_FREE else None


def copy_of(log: Path) -> Path:
    """Copy a log from a folder that will be removed, and return the path of the copy."""
    descriptor, name = tempfile.mkstemp(prefix="mmau-cosim-", suffix=".log")
    with os.fdopen(descriptor, "wb") as copy, log.open("rb") as stream:
        shutil.copyfileobj(stream, copy)
    return Path(name)


def place_in_log(log: str, pattern: str) -> str | None:
    """The first line of a log that matches the pattern, or None."""
    return next((line.strip(" -") for line in log.splitlines() if re.search(pattern, line)), None)
