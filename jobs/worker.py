"""The worker process, which `jobs.processes` starts with `COMMAND`. It reads tasks from its standard input.

Each line there is JSON, and so is each answer on what was its standard output; everything that the work function and its
programs write goes to standard error, the task's log. When the input ends, because the process at its other end is gone,
everything that the worker started is killed and it ends at once, in the middle of a task too.
"""

import faulthandler
import json
import os
import queue
import sys
import threading
from pathlib import Path
from typing import Any, NoReturn

from jobs.engine import carry_out, work_of
from jobs.leftovers import MARK, kill_marked
from jobs.task import FAILED

COMMAND = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from jobs.worker import main; main(sys.argv[2])"
"""Python code of a worker; its arguments are the module path and the name of the work function."""


def main(name: str) -> NoReturn:
    """Tell that the work function is there, then carry out task after task."""
    commands, answers = _separate_streams()
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(commands, lines), daemon=True).start()
    work = work_of(name)
    _answer(answers, {"ready": True})
    while True:
        command = json.loads(lines.get())
        folder = Path(command["folder"])
        folder.mkdir()
        try:
            answer = carry_out(work, command["content"], folder)
        except SystemExit as error:
            answer = {"status": FAILED, "message": f"it asked to end the process with status {error.code}"}
        sys.stdout.flush()
        _answer(answers, answer)


def _separate_streams() -> tuple[int, int]:
    """File descriptors of commands and answers, which no child inherits; stdin is empty then, stdout goes to the log."""
    commands, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    faulthandler.enable()
    return commands, answers


def _read(commands: int, lines: "queue.SimpleQueue[bytes]") -> NoReturn:
    """Hand on line after line, and end the process after the last."""
    rest = b""
    while piece := os.read(commands, 1 << 16):
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            lines.put(line)
    kill_marked(os.environ[MARK])
    os._exit(0)


def _answer(answers: int, answer: dict[str, Any]) -> None:
    content = memoryview(json.dumps(answer).encode() + b"\n")
    while content:
        content = content[os.write(answers, content) :]
