"""A Dask cluster of processes on this machine, each of which a test may kill."""

import os
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from tests.docs.documents import ROOT

QUIET = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "20s"}


class DaskProcesses:
    """A scheduler and workers.

    Attributes:
        address: of the scheduler. workers: those that were started.
    """

    def __init__(self, folder: Path, workers: int = 2) -> None:
        self._folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self._port}"
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", str(self._port))
        self._wait_until_it_answers()
        self.workers: list[subprocess.Popen[bytes]] = []
        for _ in range(workers):
            self.add_worker()

    def add_worker(self) -> None:
        where = ("--local-directory", str(self._folder))
        self.workers.append(self._start("worker", self.address, "--nthreads", "1", "--no-nanny", *where))

    def _wait_until_it_answers(self) -> None:
        until = time.monotonic() + 300
        while True:
            try:
                socket.create_connection(("127.0.0.1", self._port), 1.0).close()
                return
            except OSError:
                assert time.monotonic() < until, "the scheduler does not start"
                time.sleep(0.1)

    def stop(self) -> None:
        for process in (*self.workers, self.scheduler):
            with suppress(ProcessLookupError):
                process.kill()
            process.wait()

    def _start(self, *words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", *words, "--no-dashboard"]
        with (self._folder / "dask.log").open("ab") as log:
            return subprocess.Popen(command, cwd=ROOT, env=os.environ | QUIET, stdout=log, stderr=log)


def wait_until_written(path: Path, lines: int) -> list[str]:
    """The lines of a file, once there are so many."""
    until = time.monotonic() + 300
    while not path.exists() or path.read_text().count("\n") < lines:
        assert time.monotonic() < until, f"{path} does not come to {lines} lines"
        time.sleep(0.02)
    return path.read_text().splitlines()
