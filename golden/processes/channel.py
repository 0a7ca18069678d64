"""The worker's side of a worker process: messages from its caller, events to it, and exit when the caller ends."""

import atexit
import json
import os
import queue
import threading
from typing import Any, NoReturn

from golden.processes.marks import MARK, kill_marked


class Channel:
    """The worker's end of a `Worker`: takes over this process's standard input and output.

    From then on standard input is empty, and all output of the process and its programs goes to standard error, the
    worker's log. When the caller ends, all descendants of this process are killed and it exits at once, even during work.
    """

    def __init__(self) -> None:
        self._messages, self._events = os.dup(0), os.dup(1)  # children do not inherit these
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._killing = threading.Lock()
        atexit.register(self._killing.acquire)  # this process exits only after its descendants are killed
        threading.Thread(target=self._read, daemon=True).start()

    def receive(self) -> dict[str, Any]:
        """Wait for the next message and return it."""
        message: dict[str, Any] = json.loads(self._lines.get())
        return message

    def send(self, event: str, **content: Any) -> None:
        """Send an event to the caller."""
        line = memoryview(json.dumps({"event": event} | content).encode() + b"\n")
        while line:
            line = line[os.write(self._events, line) :]

    def _read(self) -> NoReturn:
        """Queue every line as a message; end the process after the last."""
        rest = b""
        while piece := os.read(self._messages, 1 << 16):
            *whole, rest = (rest + piece).split(b"\n")
            for line in whole:
                self._lines.put(line)
        with self._killing:
            if MARK in os.environ:  # not started by hand
                kill_marked(os.environ[MARK])
            os._exit(0)
