"""Child processes that never outlive their caller: programs run to their end, and workers that answer in lines of JSON.

All code that starts a process uses this package: `run_tool` runs a program, `Worker` is a process that handles one message
after another, and `Channel` is the other end, inside the worker. Every child has a new session and a mark in its environment
that its descendants inherit; ending the child kills all of them.
"""

from golden.processes.child import Child, end_with_parent, ending, kill_marked
from golden.processes.programs import Interrupted, in_parallel, run_tool, supervised
from golden.processes.worker import Channel, Ended, Worker

__all__ = [
    "Channel",
    "Child",
    "Ended",
    "Interrupted",
    "Worker",
    "end_with_parent",
    "ending",
    "in_parallel",
    "kill_marked",
    "run_tool",
    "supervised",
]
