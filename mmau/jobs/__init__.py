"""Long-running work in tasks whose results are stored one by one: campaigns, mutants, sweeps.

A `Task` is data: what determines its result. `run` computes a work function for each of many tasks in worker processes and
stores every result in a `Store`, a folder, under a key made of that data. After any interruption (a signal, `kill -9`, a
full disk) the next run resumes with the missing tasks. A task that raises, crashes or times out is recorded as such, and the
others continue.
"""

from mmau.jobs.cluster import Cluster, engine_for
from mmau.jobs.processes import Processes
from mmau.jobs.runs import program, run
from mmau.jobs.store import Record, Store
from mmau.jobs.task import CRASHED, DONE, FAILED, TIMED_OUT, Engine, Outcome, Task

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
