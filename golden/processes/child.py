"""A child process that can be killed with all its descendants, its messages, and the description of its exit status.

A mark in the environment of a child, which its descendants inherit, identifies them in any session, also once their parents
have ended.
"""

import ctypes
import os
import secrets
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

MARK = "MMAU_MARK"
"""The variable of the environment. A child's mark is its caller's mark followed by the child's name."""

LONGEST = 5.0
"""Seconds to wait for killed processes; only a process blocked in the kernel takes longer."""

PR_SET_PDEATHSIG = 1
"""The option of Linux' prctl for the signal that a process gets when its parent ends."""

START_CODE = 23
"""Place of startcode (proc(5), field 26) among the fields of /proc/N/stat that follow the program's name."""

FIRST, LAST = 1 << 24, 1 << 16
"""Number of characters kept from the beginning and from the end of a child's standard error: a design may print
without end."""


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


def marked(name: str) -> Iterator[int]:
    """Processes of this machine, except this one, whose mark contains a name; none without /proc."""
    variable, wanted = f"{MARK}=".encode(), name.encode()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            environment = _environment(entry)
        except OSError:  # it has ended, or belongs to another user
            continue
        is_marked = any(word.startswith(variable) and wanted in word for word in environment)
        if is_marked and int(entry.name) != os.getpid():
            yield int(entry.name)


def _environment(process: Path) -> list[bytes]:
    """The variables of a process of /proc; one whose program is just being replaced has none until the new one starts."""
    until = time.monotonic() + LONGEST
    text = (process / "environ").read_bytes()
    while not text and time.monotonic() < until:
        has_started = _has_started(process)  # asked before the next look: it may start between the two
        text = (process / "environ").read_bytes()
        if has_started:
            break
        time.sleep(0.001)
    return text.split(b"\0")


def _has_started(process: Path) -> bool:
    """Whether the program of a process has its addresses: Linux enters them last in `execve`, after the environment.

    Raises:
        OSError: the process has no program: it has ended, or is one of the kernel's own.
    """
    (process / "exe").readlink()
    return _fields(process)[START_CODE] != "0"


def _has_ended(process: int) -> bool:
    try:
        return _fields(Path(f"/proc/{process}"))[0] in "ZX"
    except OSError:
        return True


def _fields(process: Path) -> list[str]:
    """The fields of a process' stat that follow the program's name, its state first."""
    return (process / "stat").read_text().rpartition(")")[2].split()


def kill_marked(name: str) -> int:
    """Kill all processes with the mark, wait until all of them have ended, and return how many there were."""
    killed: set[int] = set()
    until = time.monotonic() + LONGEST
    found = True
    while found and time.monotonic() < until:
        found = False
        for process in marked(name):  # each is killed as soon as it is found, before its number can be another's
            found = True
            killed.add(process)
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.002 if found else 0)
    # A process that ends gives up its environment first, and its files and its number later.
    while not all(map(_has_ended, killed)) and time.monotonic() < until:
        time.sleep(0.002)
    return len(killed)


class Messages:
    """Reads the standard error of a process in a thread, if it is captured; `communicate` then leaves it alone."""

    def __init__(self, process: subprocess.Popen[Any]) -> None:
        self._command = process.args
        self._stream, process.stderr = process.stderr, None
        self._first, self._last, self._left_out = "", "", 0
        self._thread = threading.Thread(target=self._read, daemon=True)
        if self._stream is not None:
            self._thread.start()

    def wait(self, timeout: float | None) -> None:
        """Wait until the stream has ended: the process may have descendants that hold it.

        Raises:
            subprocess.TimeoutExpired: it has not ended within `timeout` (seconds).
        """
        if self._stream is not None:
            self._thread.join(timeout)
            if self._thread.is_alive():
                raise subprocess.TimeoutExpired(self._command, timeout or 0)

    def text(self) -> str | None:
        """Wait for the end of the stream and return its text, or None if it is not captured. A line replaces what is left
        out."""
        if self._stream is None:
            return None
        left_out = f"\n[{self._left_out:,} characters left out]\n" if self._left_out else ""
        return f"{self._first}{left_out}{self._last}"

    def _read(self) -> None:
        assert self._stream is not None
        with self._stream as stream:
            self._first = stream.read(FIRST)
            while piece := stream.read(LAST):
                kept = (self._last + piece)[-LAST:]
                self._left_out += len(self._last) + len(piece) - len(kept)
                self._last = kept


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
