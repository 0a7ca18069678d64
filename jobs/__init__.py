"""Work that takes long, in tasks whose results are kept as they come: campaigns, mutants, sweeps.

A `Task` is data: what determines its result. `run` computes a work function for each of many tasks in worker processes and
keeps every result in a `Store`, a folder, under a key made of that data. Whatever ends a run, a signal, `kill -9` or a full
disk, the next one goes on with what is missing. A task that raises, crashes or does not end is counted as such, and the rest
goes on.
"""

from jobs.cluster import Cluster, engine_for
from jobs.engine import Engine
from jobs.processes import Processes
from jobs.program import program
from jobs.runs import run
from jobs.store import Record, Store
from jobs.task import CRASHED, DONE, FAILED, TIMED_OUT, Outcome, Task

__all__ = [
    "CRASHED",
    "DONE",
    "FAILED",
    "TIMED_OUT",
    "Cluster",
    "Engine",
    "Outcome",
    "Processes",
    "Record",
    "Store",
    "Task",
    "engine_for",
    "program",
    "run",
]
