"""The standard error of a child process, read to its end within bounds: a design may print without end."""

import subprocess
import threading
from typing import Any

FIRST = 1 << 24
"""Characters from the beginning that are kept."""

LAST = 1 << 16
"""Characters from the end that are kept."""


class Messages:
    """Reads the standard error of a process in a thread, where it is captured; `communicate` then leaves it alone."""

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
        """The text, when the stream has ended, or None where it is not captured; a line stands for what is left out."""
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
