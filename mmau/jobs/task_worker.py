"""The worker process, which `mmau.jobs.processes` starts with `COMMAND`: it executes tasks one by one."""

import faulthandler
import sys
from pathlib import Path
from typing import NoReturn

from golden.processes import Channel
from mmau.jobs.task import FAILED
from mmau.jobs.task_engines import carry_out, work_of

COMMAND = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from mmau.jobs.task_worker import main; main(sys.argv[2])"
)
"""Python code of a worker; its arguments are the module path and the name of the work function."""

READY, ENDED = "ready", "ended"
"""Events: the work function is loaded; a task has ended."""


def main(name: str) -> NoReturn:
    """Report that the work function is loaded, then execute tasks one by one."""
    channel = Channel()
    faulthandler.enable()
    work = work_of(name)
    channel.send(READY)
    while True:
        command = channel.receive()
        folder = Path(command["folder"])
        folder.mkdir()
        try:
            answer = carry_out(work, command["content"], folder)
        except SystemExit as error:
            answer = {"status": FAILED, "message": f"it asked to end the process with status {error.code}"}
        sys.stdout.flush()
        channel.send(ENDED, **answer)
