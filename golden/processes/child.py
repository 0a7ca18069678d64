"""A child process that can be killed with all its descendants, and the description of its exit status."""

import ctypes
import os
import secrets
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from golden.processes.marks import MARK, kill_marked

PR_SET_PDEATHSIG = 1
"""The option of Linux' prctl for the signal that a process gets when its parent ends."""


class Child:
    """A process in a new session, with a unique mark in its environment.

    Args:
        command: program and arguments.
        name: name of its mark; empty for a random one.
        env: its environment, None for that of this process.
        options: options of `subprocess.Popen`.

    Raises:
        OSError: the program cannot be started.
    """

    def __init__(self, command: Sequence[Any], name: str = "", env: Mapping[str, str] | None = None, **options: Any) -> None:
        self.mark = f"{os.environ.get(MARK, '')}{name or secrets.token_hex(8)}."
        environment = {**(os.environ if env is None else env), MARK: self.mark}
        self.process: subprocess.Popen[Any] = subprocess.Popen(command, env=environment, start_new_session=True, **options)

    def kill(self) -> None:
        """Kill the process and its descendants, and wait until the descendants are gone.

        They could otherwise still write to a folder that is being removed. The caller waits for the process itself.
        """
        if self.process.returncode is None:  # once it has been waited for, another process may have its number
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        kill_marked(self.mark)


def ending(program: str, status: int) -> str:
    """Describe the failure of a program; `status` is its exit status as in `subprocess`."""
    if status >= 0:
        return f"{program} exited with status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    why = {"SIGXFSZ": ", for a file grew beyond the limit (ulimit -f)", "SIGKILL": "; is there too little memory?"}
    return f"{program} was ended by {name}{why.get(name, '')}"


def end_with_parent(parent: int) -> None:
    """Make the kernel kill this process when its parent ends, even if the parent is killed."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        os.kill(parent, 0)
    except ProcessLookupError:  # it had already ended
        os._exit(1)
