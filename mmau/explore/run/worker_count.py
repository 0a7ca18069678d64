"""The number of workers for which this machine has cores and memory."""

import os
from pathlib import Path

from mmau.explore.space.space_points import Point

WORKER = 700 << 20
"""Bytes of a worker with what it starts, Yosys or a compiler, on a unit of a few products."""

PRODUCT = 24 << 20
"""Bytes that each product of a unit adds."""

MEMORY = Path("/proc/meminfo")
LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current"))
"""Of the control group, as of a container: what it may have, and has."""


def workers_for(points: list[Point], wanted: int | None = None) -> int:
    """One worker per core, or as many as wanted, but no more than fit into memory with the largest of the points.

    Raises:
        ValueError: fewer than one is wanted.
    """
    if wanted is not None and wanted < 1:
        raise ValueError(f"workers must be at least 1, got {wanted}")
    cores = len(os.sched_getaffinity(0)) if wanted is None else wanted
    free = available_bytes()
    return cores if free is None else max(1, min(cores, free // bytes_of(points)))


def bytes_of(points: list[Point]) -> int:
    """The memory of a worker on the largest of the points (bytes)."""
    lengths = [point.unit.operation.length for point in points if point.unit is not None]
    return WORKER + PRODUCT * max(lengths, default=1)


def available_bytes() -> int | None:
    """Memory that is free for programs; None where the system does not say."""
    found = []
    try:
        lines = dict(line.split(":", 1) for line in MEMORY.read_text(encoding="ascii").splitlines())
        found.append(int(lines["MemAvailable"].split()[0]) << 10)
    except (OSError, KeyError, ValueError):
        pass
    try:
        limit, used = (int(path.read_text(encoding="ascii")) for path in LIMITS)
        found.append(max(0, limit - used))
    except (OSError, ValueError):  # no limit is the word `max`
        pass
    return min(found, default=None)
