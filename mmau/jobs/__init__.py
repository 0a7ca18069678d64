"""Long-running work in tasks whose results are stored one by one: campaigns, mutants, sweeps.

A `Task` is data: what determines its result. `run` computes a work function for each of many tasks in worker processes and
stores every result in a `Store`, a folder, under a key made of that data. After any interruption (a signal, `kill -9`, a
full disk) the next run resumes with the missing tasks. A task that raises, crashes or times out is recorded as such, and the
others continue.
"""

from typing import TYPE_CHECKING

from golden.on_demand import on_demand

if TYPE_CHECKING:
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

__getattr__, __dir__ = on_demand(
    __name__,
    {
        "CRASHED": "task",
        "Cluster": "cluster",
        "DONE": "task",
        "Engine": "task",
        "FAILED": "task",
        "Outcome": "task",
        "Processes": "processes",
        "Record": "store",
        "Store": "store",
        "TIMED_OUT": "task",
        "Task": "task",
        "engine_for": "cluster",
        "program": "runs",
        "run": "runs",
    },
    __all__,
)
"""Recorded results are read without what starts processes."""
