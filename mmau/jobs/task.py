"""Tasks, their keys and their outcomes."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from golden.text import canonical

DONE, FAILED, CRASHED, TIMED_OUT = STATUSES = ("done", "failed", "crashed", "timed out")
"""A task has a result; its work raised an exception; its process ended; it did not end in time."""


@dataclass(frozen=True)
class Task:
    """A piece of work, as data.

    Attributes:
        name: shown in messages; not part of the key.
        content: the argument of the work function; it determines the result.
        depends: other data that determine the result: digests of sources, versions of programs.

    Raises:
        ValueError: content or depends is no plain JSON.
    """

    name: str
    content: Mapping[str, Any]
    depends: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for key, value in (("content", self.content), ("depends", self.depends)):
            try:
                plain = json.loads(canonical(value))
            except (TypeError, ValueError) as error:
                raise ValueError(f"{key} of task {self.name} must be plain JSON: {error}") from error
            if not isinstance(plain, dict):
                raise ValueError(f"{key} of task {self.name} must be a table, got {value!r}")
            object.__setattr__(self, key, plain)

    @cached_property
    def key(self) -> str:
        """SHA-256 of content and depends, in hexadecimal."""
        return hashlib.sha256(canonical({"content": self.content, "depends": self.depends})).hexdigest()


@dataclass(frozen=True)
class Outcome:
    """The outcome of a task, as an engine returns it.

    Attributes:
        task: the task.
        status: one of `STATUSES`.
        seconds: its wall time.
        result: of the work function, JSON; None unless done.
        message: the reason why it is not done, one line; empty if it is done.
        log: the end of the output of the task and its programs on stdout and stderr.
        folder: of the files that it wrote, which may be moved away; None without files.
    """

    task: Task
    status: str
    seconds: float
    result: Any = None
    message: str = ""
    log: str = ""
    folder: Path | None = None
